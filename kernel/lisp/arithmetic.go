package lisp

import (
	"math"
	"math/big"
)

// numberFunctions are the basic arithmetic.
func numberFunctions() []Builtin {
	return []Builtin{
		{Name: "+", LambdaList: "(&rest numbers)", Doc: "The sum.", Two: (*Call).add, Call: func(c *Call, args []Value) Value {
			return c.fold(args, Integer(0), (*Call).add)
		}},
		{Name: "*", LambdaList: "(&rest numbers)", Doc: "The product.", Two: (*Call).multiply, Call: func(c *Call, args []Value) Value {
			return c.fold(args, Integer(1), (*Call).multiply)
		}},
		{Name: "-", LambdaList: "(number &rest more)", Doc: "The difference, or the negative.", Two: (*Call).subtract, Call: func(c *Call, args []Value) Value {
			if len(args) == 1 {
				return c.negate(args[0])
			}
			return c.fold(args[1:], args[0], (*Call).subtract)
		}},
		{Name: "/", LambdaList: "(number &rest more)", Doc: "The quotient, a ratio if it must be, or the reciprocal.", Two: (*Call).divide, Call: func(c *Call, args []Value) Value {
			if len(args) == 1 {
				return c.divide(Integer(1), args[0])
			}
			return c.fold(args[1:], args[0], (*Call).divide)
		}},
		{Name: "1+", LambdaList: "(number)", Doc: "One more.", One: func(c *Call, a Value) Value { return c.add(a, Integer(1)) }},
		{Name: "1-", LambdaList: "(number)", Doc: "One less.", One: func(c *Call, a Value) Value { return c.subtract(a, Integer(1)) }},
		{Name: "abs", LambdaList: "(number)", Doc: "The absolute value.", One: func(c *Call, a Value) Value {
			c.number(a)
			return c.absolute(a)
		}},
		{Name: "signum", LambdaList: "(number)", Doc: "-1, 0 or 1 in the type of the number.", One: signum},
		{Name: "max", LambdaList: "(number &rest more)", Doc: "The largest.", Call: func(c *Call, args []Value) Value { return c.extreme(args, 1) }},
		{Name: "min", LambdaList: "(number &rest more)", Doc: "The smallest.", Call: func(c *Call, args []Value) Value { return c.extreme(args, -1) }},
		{Name: "gcd", LambdaList: "(&rest integers)", Doc: "The greatest common divisor.", Call: func(c *Call, args []Value) Value {
			return c.fold(args, Integer(0), func(c *Call, a, b Value) Value {
				c.chargeArithmetic(a, b)
				x, y := c.Integer(a), c.Integer(b)
				c.Work(x.BitLen() / 64 * (y.BitLen() / 64))
				return normal(new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y)))
			})
		}},
		{Name: "lcm", LambdaList: "(&rest integers)", Doc: "The least common multiple.", Call: func(c *Call, args []Value) Value {
			return c.fold(args, Integer(1), func(c *Call, a, b Value) Value {
				x, y := c.Integer(a), c.Integer(b)
				if x.Sign() == 0 || y.Sign() == 0 {
					return Integer(0)
				}
				c.chargeArithmetic(a, b)
				c.Work(x.BitLen() / 64 * (y.BitLen() / 64))
				product := new(big.Int).Mul(x, y)
				product.Abs(product)
				return normal(product.Quo(product, new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))))
			})
		}},
		{Name: "numerator", LambdaList: "(rational)", Doc: "The numerator in lowest terms.", One: func(c *Call, a Value) Value {
			if r, ok := a.(*big.Rat); ok {
				return normal(new(big.Int).Set(r.Num()))
			}
			return normal(c.Integer(a))
		}},
		{Name: "denominator", LambdaList: "(rational)", Doc: "The denominator in lowest terms.", One: func(c *Call, a Value) Value {
			if r, ok := a.(*big.Rat); ok {
				return normal(new(big.Int).Set(r.Denom()))
			}
			c.Integer(a)
			return Integer(1)
		}},
	}
}

func (c *Call) fold(args []Value, start Value, combine func(*Call, Value, Value) Value) Value {
	result := start
	if len(args) == 1 && start == Integer(0) || len(args) == 1 && start == Integer(1) {
		c.number(args[0])
	}
	for _, arg := range args {
		result = combine(c, result, arg)
	}
	return result
}

// absolute is the distance from zero.
func (c *Call) absolute(a Value) Value {
	switch x := a.(type) {
	case float32:
		return float32(math.Abs(float64(x)))
	case float64:
		return math.Abs(x)
	case *Complex:
		return c.toFloat(math.Hypot(double(x.real), double(x.imaginary)), x.real)
	}
	if sign(a) < 0 {
		return c.negate(a)
	}
	return a
}

func (c *Call) negate(a Value) Value {
	switch x := a.(type) {
	case float32:
		return -x
	case float64:
		return -x
	}
	return c.subtract(Integer(0), a)
}

func signum(c *Call, a Value) Value {
	switch x := a.(type) {
	case float32:
		return float32(sign(x))
	case float64:
		return float64(sign(x))
	case *Complex:
		if isZero(a) {
			return a
		}
		return c.divide(a, c.absolute(a))
	}
	c.number(a)
	return Integer(int64(sign(a)))
}

func (c *Call) extreme(args []Value, direction int) Value {
	best := args[0]
	c.realNumber(best)
	for _, arg := range args[1:] {
		if c.compare(arg, best) == direction {
			best = arg
		}
	}
	return best
}

// numberPredicates compare and classify numbers.
func numberPredicates() []Builtin {
	return []Builtin{
		equality(),
		comparison("<", "True if each is less than the next.", func(order int) bool { return order < 0 }),
		comparison(">", "True if each is greater than the next.", func(order int) bool { return order > 0 }),
		comparison("<=", "True if none is greater than the next.", func(order int) bool { return order <= 0 }),
		comparison(">=", "True if none is less than the next.", func(order int) bool { return order >= 0 }),
		{Name: "/=", LambdaList: "(number &rest more)", Doc: "True if all are different.", Call: func(c *Call, args []Value) Value {
			c.number(args[0])
			c.Work(len(args) * len(args) / 2)
			for i := range args {
				for _, other := range args[i+1:] {
					if c.sameValue(args[i], other) {
						return Nil
					}
				}
			}
			return T
		}},
		{Name: "zerop", LambdaList: "(number)", Doc: "True for zero.", One: func(c *Call, a Value) Value {
			c.number(a)
			return Boolean(isZero(a))
		}},
		numberTest("plusp", "True for a positive number.", func(v Value) bool { return sign(v) > 0 }),
		numberTest("minusp", "True for a negative number.", func(v Value) bool { return sign(v) < 0 }),
		{Name: "evenp", LambdaList: "(integer)", Doc: "True for an even integer.", One: func(c *Call, a Value) Value {
			if n, ok := a.(int64); ok {
				return Boolean(n&1 == 0)
			}
			return Boolean(c.Integer(a).Bit(0) == 0)
		}},
		{Name: "oddp", LambdaList: "(integer)", Doc: "True for an odd integer.", One: func(c *Call, a Value) Value {
			if n, ok := a.(int64); ok {
				return Boolean(n&1 == 1)
			}
			return Boolean(c.Integer(a).Bit(0) == 1)
		}},
	}
}

func numberTest(name, doc string, test func(Value) bool) Builtin {
	return Builtin{Name: name, LambdaList: "(number)", Doc: doc, One: func(c *Call, a Value) Value {
		c.realNumber(a)
		return Boolean(test(a))
	}}
}

func comparison(name, doc string, test func(order int) bool) Builtin {
	pair := func(c *Call, a, b Value) Value {
		if x, ok := a.(int64); ok {
			if y, ok := b.(int64); ok {
				switch {
				case x < y:
					return Boolean(test(-1))
				case x > y:
					return Boolean(test(1))
				}
				return Boolean(test(0))
			}
		}
		return Boolean(test(c.compare(a, b)))
	}
	return Builtin{Name: name, LambdaList: "(number &rest more)", Doc: doc, Two: pair, Call: func(c *Call, args []Value) Value {
		c.realNumber(args[0])
		result := Value(T)
		for i := 1; i < len(args); i++ {
			if !test(c.compare(args[i-1], args[i])) {
				result = Nil
			}
		}
		return result
	}}
}

// equality is =, which compares complex numbers too.
func equality() Builtin {
	pair := func(c *Call, a, b Value) Value {
		if x, ok := a.(int64); ok {
			if y, ok := b.(int64); ok {
				return Boolean(x == y)
			}
		}
		return Boolean(c.sameValue(a, b))
	}
	return Builtin{Name: "=", LambdaList: "(number &rest more)", Doc: "True if all are equal.", Two: pair, Call: func(c *Call, args []Value) Value {
		c.number(args[0])
		result := Value(T)
		for i := 1; i < len(args); i++ {
			if !c.sameValue(args[i-1], args[i]) {
				result = Nil
			}
		}
		return result
	}}
}
