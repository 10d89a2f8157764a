package lisp

import (
	"math"
	"math/big"
	"math/cmplx"
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
				x, y := c.operands(a, b, divisorCost)
				return normal(new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y)))
			})
		}},
		{Name: "lcm", LambdaList: "(&rest integers)", Doc: "The least common multiple.", Call: func(c *Call, args []Value) Value {
			return c.fold(args, Integer(1), func(c *Call, a, b Value) Value {
				x, y := c.operands(a, b, divisorCost)
				if x.Sign() == 0 || y.Sign() == 0 {
					return Integer(0)
				}
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
		return c.toFloat(math.Hypot(c.double(x.real), c.double(x.imaginary)), x.real)
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

// rounding is how a quotient becomes an integer.
type rounding int

const (
	floorRounding rounding = iota
	ceilingRounding
	truncateRounding
	roundRounding
)

// roundingFunctions divide to integers.
func roundingFunctions() []Builtin {
	row := func(name, doc string, how rounding, float bool) Builtin {
		return Builtin{Name: name, LambdaList: "(number &optional divisor)", Doc: doc, Many: true, Named: func(c *Call, args Args) Value {
			number, divisorArg := args.Get("number"), args.Get("divisor")
			divisor := Value(Integer(1))
			if divisorArg != nil {
				divisor = divisorArg
			}
			q, r := c.quotient(number, divisor, how)
			if float {
				like := number
				if _, isDouble := divisor.(float64); isDouble {
					like = divisor
				}
				q = c.toFloat(q, like)
			}
			return c.Values(q, r)
		}}
	}
	return []Builtin{
		row("floor", "The quotient rounded down, and the remainder.", floorRounding, false),
		row("ceiling", "The quotient rounded up, and the remainder.", ceilingRounding, false),
		row("truncate", "The quotient rounded towards zero, and the remainder.", truncateRounding, false),
		row("round", "The quotient rounded to the nearest, halves to even, and the remainder.", roundRounding, false),
		row("ffloor", "Like floor, the quotient as a float.", floorRounding, true),
		row("fceiling", "Like ceiling, the quotient as a float.", ceilingRounding, true),
		row("ftruncate", "Like truncate, the quotient as a float.", truncateRounding, true),
		row("fround", "Like round, the quotient as a float.", roundRounding, true),
		{Name: "mod", LambdaList: "(number divisor)", Doc: "The remainder with the sign of the divisor.", Two: func(c *Call, a, b Value) Value {
			if x, ok := a.(int64); ok {
				if y, ok := b.(int64); ok && y > 0 {
					m := x % y
					if m < 0 {
						m += y
					}
					return Integer(m)
				}
			}
			_, r := c.quotient(a, b, floorRounding)
			return r
		}},
		{Name: "rem", LambdaList: "(number divisor)", Doc: "The remainder with the sign of the number.", Two: func(c *Call, a, b Value) Value {
			_, r := c.quotient(a, b, truncateRounding)
			return r
		}},
	}
}

// quotient returns the integer quotient and a - b*quotient.
func (c *Call) quotient(a, b Value, how rounding) (q, r Value) {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok && y != 0 && x != math.MinInt64 && y != math.MinInt64 {
			n := roundedQuotient(x, y, how)
			return Integer(n), Integer(x - n*y)
		}
	}
	k := max(c.realNumber(a), c.realNumber(b))
	if sign(b) == 0 {
		c.divisionByZero(CL("TRUNCATE"), a, b)
	}
	if k >= singleKind {
		return c.floatQuotient(a, b, how, k == singleKind)
	}
	if k == ratioKind {
		c.chargeExact(a, b, ratioCost)
		ratio := new(big.Rat).Quo(c.rational(a), c.rational(b))
		q = normal(roundedDivision(ratio.Num(), ratio.Denom(), how))
	} else {
		x, y := c.operands(a, b, quotientCost)
		if y.Sign() < 0 {
			x, y = new(big.Int).Neg(x), new(big.Int).Neg(y)
		}
		q = normal(roundedDivision(x, y, how))
	}
	return q, c.subtract(a, c.multiply(q, b))
}

// roundedQuotient divides small integers; neither is the least one.
func roundedQuotient(x, y int64, how rounding) int64 {
	q, r := x/y, x%y
	if r == 0 {
		return q
	}
	away := int64(1) // from zero
	if x < 0 != (y < 0) {
		away = -1
	}
	switch how {
	case floorRounding:
		if away < 0 {
			q--
		}
	case ceilingRounding:
		if away > 0 {
			q++
		}
	case roundRounding:
		r, size := max(r, -r), max(y, -y)
		if rest := size - r; r > rest || r == rest && q%2 != 0 {
			q += away
		}
	}
	return q
}

// roundedDivision divides by a positive integer.
func roundedDivision(x, y *big.Int, how rounding) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	if r.Sign() == 0 {
		return q
	}
	one := big.NewInt(1)
	switch how {
	case floorRounding:
		if r.Sign() < 0 {
			q.Sub(q, one)
		}
	case ceilingRounding:
		if r.Sign() > 0 {
			q.Add(q, one)
		}
	case roundRounding:
		twice := new(big.Int).Abs(new(big.Int).Lsh(r, 1))
		half := twice.Cmp(y)
		if half > 0 || half == 0 && q.Bit(0) == 1 {
			if r.Sign() > 0 {
				q.Add(q, one)
			} else {
				q.Sub(q, one)
			}
		}
	}
	return q
}

func (c *Call) floatQuotient(a, b Value, how rounding, single bool) (q, r Value) {
	x, y := c.double(a), c.double(b)
	z := x / y
	if math.IsInf(z, 0) || math.IsNaN(z) {
		c.overflow([]Value{a, b})
	}
	switch how {
	case floorRounding:
		z = math.Floor(z)
	case ceilingRounding:
		z = math.Ceil(z)
	case truncateRounding:
		z = math.Trunc(z)
	default:
		z = math.RoundToEven(z)
	}
	n, _ := new(big.Float).SetFloat64(z).Int(nil)
	return normal(n), c.finite(x-z*y, single, a, b)
}

// toFloat converts v to the float type of like, single if that is no float.
func (c *Call) toFloat(v, like Value) Value {
	_, isDouble := like.(float64)
	return c.finite(c.double(v), !isDouble, v)
}

// floatFunctions are what yields or takes floats.
func floatFunctions() []Builtin {
	return []Builtin{
		analytic("sin", "The sine.", sine, cmplx.Sin), analytic("cos", "The cosine.", cosine, cmplx.Cos), analytic("tan", "The tangent.", tangent, cmplx.Tan),
		analytic("asin", "The arc sine.", math.Asin, arcSine), analytic("acos", "The arc cosine.", math.Acos, arcCosine),
		analytic("sinh", "The hyperbolic sine.", math.Sinh, cmplx.Sinh), analytic("cosh", "The hyperbolic cosine.", math.Cosh, cmplx.Cosh), analytic("tanh", "The hyperbolic tangent.", math.Tanh, cmplx.Tanh),
		analytic("asinh", "The inverse hyperbolic sine.", math.Asinh, cmplx.Asinh), analytic("acosh", "The inverse hyperbolic cosine.", math.Acosh, cmplx.Acosh),
		analytic("atanh", "The inverse hyperbolic tangent.", math.Atanh, hyperbolicArcTangent),
		analytic("exp", "e to the power of the number.", math.Exp, cmplx.Exp),
		analytic("sqrt", "The square root, complex for a negative number.", math.Sqrt, cmplx.Sqrt),
		{Name: "isqrt", LambdaList: "(natural)", Doc: "The integer square root.", One: func(c *Call, a Value) Value {
			n := c.operand(a, rootCost)
			if n.Sign() < 0 {
				c.TypeError(a, "UNSIGNED-BYTE")
			}
			return normal(new(big.Int).Sqrt(n))
		}},
		{Name: "log", LambdaList: "(number &optional base)", Doc: "The logarithm, natural without a base.", Named: func(c *Call, args Args) Value {
			return logarithm(c, args.Get("number"), args.Get("base"))
		}},
		{Name: "atan", LambdaList: "(y &optional x)", Doc: "The arc tangent of y/x.", Named: func(c *Call, args Args) Value {
			y, x := args.Get("y"), args.Get("x")
			c.number(y)
			if x == nil {
				if _, isComplex := y.(*Complex); isComplex {
					return c.fromComplex(cmplx.Atan(c.complexValue(y)), y)
				}
				return c.toFloat(math.Atan(c.double(y)), y)
			}
			c.realNumber(y)
			c.realNumber(x)
			return c.toFloat(math.Atan2(c.double(y), c.double(x)), c.add(y, x))
		}},
		{Name: "expt", LambdaList: "(base power)", Doc: "Base to the power.", Two: power},
		{Name: "float", LambdaList: "(number &optional like)", Doc: "The number as a float, of the type of like.", Named: func(c *Call, args Args) Value {
			number, like := args.Get("number"), args.Get("like")
			k := c.realNumber(number)
			if like == nil && k >= singleKind {
				return number
			}
			return c.toFloat(number, like)
		}},
		{Name: "rational", LambdaList: "(number)", Doc: "Exactly the number as a rational.", One: func(c *Call, a Value) Value {
			c.realNumber(a)
			return normalRatio(c.rational(a))
		}},
		{Name: "rationalize", LambdaList: "(number)", Doc: "The simplest rational that is the same float.", One: rationalize},
	}
}

// rationalize returns the simplest ratio between the numbers half way to the neighbours of a float.
func rationalize(c *Call, a Value) Value {
	k := c.realNumber(a)
	if k < singleKind {
		return a
	}
	x := c.rational(a)
	if x == nil {
		c.Fail(arithmeticError, "%s is not finite", c.Shown(a))
	}
	if x.IsInt() {
		return normalRatio(x)
	}
	c.chargeExact(x, x, ratioCost)
	negative := x.Sign() < 0
	mantissaBits, least := 53, -1074
	if k == singleKind {
		mantissaBits, least = 24, -149
	}
	_, exponent := math.Frexp(c.double(a))
	unit := max(exponent-mantissaBits, least)
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(1-unit)))
	x = new(big.Rat).Abs(x)
	simple := simplestBetween(c, new(big.Rat).Sub(x, half), new(big.Rat).Add(x, half))
	if negative {
		simple.Neg(simple)
	}
	return normalRatio(simple)
}

// simplestBetween walks the continued fraction to the ratio with the least denominator from low to below
// high.
func simplestBetween(c *Call, low, high *big.Rat) *big.Rat {
	p0, q0, p1, q1 := big.NewInt(0), big.NewInt(1), big.NewInt(1), big.NewInt(0)
	step := func(n *big.Int) {
		p0, p1 = p1, new(big.Int).Add(new(big.Int).Mul(n, p1), p0)
		q0, q1 = q1, new(big.Int).Add(new(big.Int).Mul(n, q1), q0)
	}
	for {
		c.chargeExact(low, high, ratioCost)
		up := roundedDivision(low.Num(), low.Denom(), ceilingRounding)
		if new(big.Rat).SetInt(up).Cmp(high) < 0 {
			step(up)
			return new(big.Rat).SetFrac(p1, q1)
		}
		n := new(big.Int).Sub(up, big.NewInt(1))
		step(n)
		whole := new(big.Rat).SetInt(n)
		low, high = new(big.Rat).Inv(new(big.Rat).Sub(high, whole)), new(big.Rat).Inv(new(big.Rat).Sub(low, whole))
	}
}
