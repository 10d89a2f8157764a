package lisp

import "math/big"

// byteFunctions treat parts of integers: a byte specifier is a cons of size and position.
func byteFunctions() []builtin {
	logical := func(name, doc string, combine func(a, b *big.Int) *big.Int) builtin {
		return builtin{name: name, list: "(a b)", doc: doc, two: func(c *Call, a, b Value) Value {
			x, y := c.integer(a), c.integer(b)
			c.chargeArithmetic(a, b)
			return normal(combine(x, y))
		}}
	}
	not := func(n *big.Int) *big.Int { return new(big.Int).Not(n) }
	return []builtin{
		{name: "byte", list: "(size position)", doc: "A specifier of size bits from position on.", two: func(c *Call, a, b Value) Value {
			c.index(a)
			c.index(b)
			return c.cons(a, b)
		}},
		{name: "byte-size", list: "(byte)", doc: "The size of a byte.", one: func(c *Call, a Value) Value { size, _ := c.byteSpecifier(a); return count(size) }},
		{name: "byte-position", list: "(byte)", doc: "The position of a byte.", one: func(c *Call, a Value) Value { _, at := c.byteSpecifier(a); return count(at) }},
		{name: "ldb", list: "(byte integer)", doc: "The bits of a byte, as a number.", two: func(c *Call, a, b Value) Value {
			size, at := c.byteSpecifier(a)
			n := new(big.Int).Rsh(c.integer(b), uint(at))
			return normal(n.And(n, c.mask(min(size, n.BitLen()+64*boolBit(n.Sign() < 0)+size*boolBit(n.Sign() < 0)))))
		}},
		{name: "ldb-test", list: "(byte integer)", doc: "True if a bit of the byte is set.", two: func(c *Call, a, b Value) Value {
			size, at := c.byteSpecifier(a)
			n := new(big.Int).Rsh(c.integer(b), uint(at))
			if n.Sign() < 0 && size > n.BitLen() {
				return T
			}
			return Boolean(n.And(n, c.mask(min(size, n.BitLen()+1))).Sign() != 0)
		}},
		{name: "mask-field", list: "(byte integer)", doc: "The integer with only the bits of the byte.", two: func(c *Call, a, b Value) Value {
			size, at := c.byteSpecifier(a)
			n := c.integer(b)
			mask := c.mask(at + size)
			return normal(mask.And(mask.Rsh(mask, uint(at)).Lsh(mask, uint(at)), n))
		}},
		{name: "dpb", list: "(new byte integer)", doc: "The integer with the byte replaced by the low bits of new.", call: func(c *Call, args []Value) Value {
			size, at := c.byteSpecifier(args[1])
			part := c.mask(size)
			part.And(part, c.integer(args[0]))
			return c.deposit(part.Lsh(part, uint(at)), size, at, c.integer(args[2]))
		}},
		{name: "deposit-field", list: "(new byte integer)", doc: "The integer with the byte replaced by that of new.", call: func(c *Call, args []Value) Value {
			size, at := c.byteSpecifier(args[1])
			field := c.mask(size)
			field.Lsh(field, uint(at))
			return c.deposit(field.And(field, c.integer(args[0])), size, at, c.integer(args[2]))
		}},
		logical("logandc1", "And with the complement of the first.", func(a, b *big.Int) *big.Int { return new(big.Int).And(not(a), b) }),
		logical("logandc2", "And with the complement of the second.", func(a, b *big.Int) *big.Int { return new(big.Int).And(a, not(b)) }),
		logical("logorc1", "Or with the complement of the first.", func(a, b *big.Int) *big.Int { return new(big.Int).Or(not(a), b) }),
		logical("logorc2", "Or with the complement of the second.", func(a, b *big.Int) *big.Int { return new(big.Int).Or(a, not(b)) }),
		logical("lognand", "The complement of and.", func(a, b *big.Int) *big.Int { return not(new(big.Int).And(a, b)) }),
		logical("lognor", "The complement of or.", func(a, b *big.Int) *big.Int { return not(new(big.Int).Or(a, b)) }),
		{name: "logeqv", list: "(&rest integers)", doc: "The complement of exclusive or.", call: func(c *Call, args []Value) Value {
			result := big.NewInt(-1)
			for _, arg := range args {
				c.chargeArithmetic(result, arg)
				result = not(new(big.Int).Xor(result, c.integer(arg)))
			}
			return normal(result)
		}},
		{name: "boole", list: "(operation a b)", doc: "One of the sixteen operations on bits.", call: func(c *Call, args []Value) Value {
			operation := c.index(args[0])
			if operation > 15 {
				c.typeError(args[0], "(INTEGER 0 15)")
			}
			x, y := c.integer(args[1]), c.integer(args[2])
			c.chargeArithmetic(args[1], args[2])
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
		c.typeError(v, "CONS")
	}
	return c.index(cell.Car), c.index(cell.Cdr)
}

// mask is size one bits, charged.
func (c *Call) mask(size int) *big.Int {
	c.chargeMany(size/8+16, 2)
	one := big.NewInt(1)
	return one.Sub(one.Lsh(one, uint(size)), big.NewInt(1))
}

func (c *Call) deposit(field *big.Int, size, at int, n *big.Int) Value {
	c.chargeMany((size+at)/8+16, 2)
	hole := c.mask(size)
	return normal(field.Or(field, new(big.Int).AndNot(n, hole.Lsh(hole, uint(at)))))
}
