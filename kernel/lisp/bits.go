package lisp

import (
	"math/big"
)

// bitFunctions treat integers as bits.
func bitFunctions() []Builtin {
	fold := func(name, doc string, start int64, combine func(z, x, y *big.Int) *big.Int) Builtin {
		return Builtin{Name: name, LambdaList: "(&rest integers)", Doc: doc, Call: func(c *Call, args []Value) Value {
			result := big.NewInt(start)
			for _, arg := range args {
				_, x := c.operands(result, arg, conversionCost)
				result = combine(new(big.Int), result, x)
			}
			return normal(result)
		}}
	}
	return []Builtin{
		fold("logand", "The bitwise and.", -1, (*big.Int).And),
		fold("logior", "The bitwise or.", 0, (*big.Int).Or),
		fold("logxor", "The bitwise exclusive or.", 0, (*big.Int).Xor),
		{Name: "lognot", LambdaList: "(integer)", Doc: "The bitwise complement.", One: func(c *Call, a Value) Value { return normal(c.complement(a)) }},
		{Name: "logtest", LambdaList: "(a b)", Doc: "True if a bit is set in both.", Two: func(c *Call, a, b Value) Value {
			x, y := c.operands(a, b, sumCost)
			return Boolean(new(big.Int).And(x, y).Sign() != 0)
		}},
		{Name: "logbitp", LambdaList: "(index integer)", Doc: "True if the bit is set.", Two: func(c *Call, a, b Value) Value {
			n, i := c.Integer(b), c.amount(a)
			if n.Sign() < 0 {
				return Boolean(c.complement(b).Bit(i) == 0)
			}
			return Boolean(n.Bit(i) == 1)
		}},
		{Name: "logcount", LambdaList: "(integer)", Doc: "The number of one bits, zero bits if negative.", One: func(c *Call, a Value) Value {
			n := c.Integer(a)
			if n.Sign() < 0 {
				n = c.complement(a)
			}
			ones := 0
			for i := range n.BitLen() {
				ones += int(n.Bit(i))
			}
			c.Work(n.BitLen())
			return Count(ones)
		}},
		{Name: "integer-length", LambdaList: "(integer)", Doc: "The bits needed in two's complement.", One: func(c *Call, a Value) Value {
			n := c.Integer(a)
			if n.Sign() < 0 {
				n = c.complement(a)
			}
			return Count(n.BitLen())
		}},
		{Name: "ash", LambdaList: "(integer count)", Doc: "The integer shifted left, or right if negative.", Two: shift},
	}
}

// complement is the integer with all bits turned.
func (c *Call) complement(v Value) *big.Int {
	return new(big.Int).Not(c.operand(v, sumCost))
}

func shift(c *Call, a, b Value) Value {
	n := c.operand(a, sumCost)
	if far, ok := b.(*big.Int); ok { // shifts everything out, or needs more memory than there is
		b = Integer(int64(far.Sign()) << 62)
	}
	by := c.Fixnum(b)
	if by <= 0 {
		if -by > int64(n.BitLen()) {
			by = -int64(n.BitLen()) - 1
		}
		return normal(new(big.Int).Rsh(n, uint(-by)))
	}
	if n.Sign() == 0 {
		return Integer(0)
	}
	c.chargeBits(float64(by) + float64(n.BitLen()))
	return normal(new(big.Int).Lsh(n, uint(by)))
}

// byteFunctions treat parts of integers: a byte specifier is a cons of size and position.
func byteFunctions() []Builtin {
	logical := func(name, doc string, combine func(a, b *big.Int) *big.Int) Builtin {
		return Builtin{Name: name, LambdaList: "(a b)", Doc: doc, Two: func(c *Call, a, b Value) Value {
			x, y := c.operands(a, b, conversionCost)
			return normal(combine(x, y))
		}}
	}
	not := func(n *big.Int) *big.Int { return new(big.Int).Not(n) }
	return []Builtin{
		{Name: "byte", LambdaList: "(size position)", Doc: "A specifier of size bits from position on.", Two: func(c *Call, a, b Value) Value {
			c.Index(a)
			c.Index(b)
			return c.Cons(a, b)
		}},
		{Name: "byte-size", LambdaList: "(byte)", Doc: "The size of a byte.", One: func(c *Call, a Value) Value { size, _ := c.byteSpecifier(a); return Count(size) }},
		{Name: "byte-position", LambdaList: "(byte)", Doc: "The position of a byte.", One: func(c *Call, a Value) Value { _, at := c.byteSpecifier(a); return Count(at) }},
		{Name: "ldb", LambdaList: "(byte integer)", Doc: "The bits of a byte, as a number.", Two: func(c *Call, a, b Value) Value {
			size, at := c.byteSpecifier(a)
			n := new(big.Int).Rsh(c.operand(b, sumCost), uint(at))
			return normal(n.And(n, c.mask(min(size, n.BitLen()+64*boolBit(n.Sign() < 0)+size*boolBit(n.Sign() < 0)))))
		}},
		{Name: "ldb-test", LambdaList: "(byte integer)", Doc: "True if a bit of the byte is set.", Two: func(c *Call, a, b Value) Value {
			size, at := c.byteSpecifier(a)
			n := new(big.Int).Rsh(c.operand(b, sumCost), uint(at))
			if n.Sign() < 0 && size > n.BitLen() {
				return T
			}
			return Boolean(n.And(n, c.mask(min(size, n.BitLen()+1))).Sign() != 0)
		}},
		{Name: "mask-field", LambdaList: "(byte integer)", Doc: "The integer with only the bits of the byte.", Two: func(c *Call, a, b Value) Value {
			size, at := c.byteSpecifier(a)
			n := c.Integer(b)
			mask := c.mask(at + size)
			return normal(mask.And(mask.Rsh(mask, uint(at)).Lsh(mask, uint(at)), n))
		}},
		{Name: "dpb", LambdaList: "(new byte integer)", Doc: "The integer with the byte replaced by the low bits of new.", Call: func(c *Call, args []Value) Value {
			size, at := c.byteSpecifier(args[1])
			part := c.mask(size)
			part.And(part, c.Integer(args[0]))
			return c.deposit(part.Lsh(part, uint(at)), size, at, c.Integer(args[2]))
		}},
		{Name: "deposit-field", LambdaList: "(new byte integer)", Doc: "The integer with the byte replaced by that of new.", Call: func(c *Call, args []Value) Value {
			size, at := c.byteSpecifier(args[1])
			field := c.mask(size)
			field.Lsh(field, uint(at))
			return c.deposit(field.And(field, c.Integer(args[0])), size, at, c.Integer(args[2]))
		}},
		logical("logandc1", "And with the complement of the first.", func(a, b *big.Int) *big.Int { return new(big.Int).And(not(a), b) }),
		logical("logandc2", "And with the complement of the second.", func(a, b *big.Int) *big.Int { return new(big.Int).And(a, not(b)) }),
		logical("logorc1", "Or with the complement of the first.", func(a, b *big.Int) *big.Int { return new(big.Int).Or(not(a), b) }),
		logical("logorc2", "Or with the complement of the second.", func(a, b *big.Int) *big.Int { return new(big.Int).Or(a, not(b)) }),
		logical("lognand", "The complement of and.", func(a, b *big.Int) *big.Int { return not(new(big.Int).And(a, b)) }),
		logical("lognor", "The complement of or.", func(a, b *big.Int) *big.Int { return not(new(big.Int).Or(a, b)) }),
		{Name: "logeqv", LambdaList: "(&rest integers)", Doc: "The complement of exclusive or.", Call: func(c *Call, args []Value) Value {
			result := big.NewInt(-1)
			for _, arg := range args {
				_, x := c.operands(result, arg, conversionCost)
				result = not(new(big.Int).Xor(result, x))
			}
			return normal(result)
		}},
		{Name: "boole", LambdaList: "(operation a b)", Doc: "One of the sixteen operations on bits.", Call: func(c *Call, args []Value) Value {
			operation := c.Index(args[0])
			if operation > 15 {
				c.TypeError(args[0], "(INTEGER 0 15)")
			}
			x, y := c.operands(args[1], args[2], conversionCost)
			return normal(boole(operation, x, y))
		}},
	}
}

func boolBit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// boole does the operation of a boole- constant.
func boole(operation int, a, b *big.Int) *big.Int {
	z := new(big.Int)
	switch operation {
	case 0:
		return z
	case 1:
		return z.SetInt64(-1)
	case 2:
		return z.Set(a)
	case 3:
		return z.Set(b)
	case 4:
		return z.Not(a)
	case 5:
		return z.Not(b)
	case 6:
		return z.And(a, b)
	case 7:
		return z.Or(a, b)
	case 8:
		return z.Xor(a, b)
	case 9:
		return z.Not(z.Xor(a, b))
	case 10:
		return z.Not(z.And(a, b))
	case 11:
		return z.Not(z.Or(a, b))
	case 12:
		return z.And(z.Not(a), b)
	case 13:
		return z.AndNot(a, b)
	case 14:
		return z.Or(z.Not(a), b)
	}
	return z.Or(a, z.Not(b))
}

func (c *Call) byteSpecifier(v Value) (size, at int) {
	cell, ok := v.(*Cons)
	if !ok {
		c.TypeError(v, "CONS")
	}
	return c.Index(cell.Car), c.Index(cell.Cdr)
}

// mask is size one bits, charged.
func (c *Call) mask(size int) *big.Int {
	c.ChargeMany(size/8+16, 2)
	one := big.NewInt(1)
	return one.Sub(one.Lsh(one, uint(size)), big.NewInt(1))
}

func (c *Call) deposit(field *big.Int, size, at int, n *big.Int) Value {
	c.ChargeMany((size+at)/8+16, 2)
	hole := c.mask(size)
	return normal(field.Or(field, new(big.Int).AndNot(n, hole.Lsh(hole, uint(at)))))
}
