package lisp

// bitArrayFunctions combine bit arrays bit by bit.
func bitArrayFunctions() []Builtin {
	var rows []Builtin
	for _, operation := range []struct {
		name string
		do   func(a, b int64) int64
	}{
		{"and", func(a, b int64) int64 { return a & b }}, {"ior", func(a, b int64) int64 { return a | b }},
		{"xor", func(a, b int64) int64 { return a ^ b }}, {"eqv", func(a, b int64) int64 { return 1 ^ a ^ b }},
		{"nand", func(a, b int64) int64 { return 1 ^ a&b }}, {"nor", func(a, b int64) int64 { return 1 ^ (a | b) }},
		{"andc1", func(a, b int64) int64 { return (1 ^ a) & b }}, {"andc2", func(a, b int64) int64 { return a & (1 ^ b) }},
		{"orc1", func(a, b int64) int64 { return (1 ^ a) | b }}, {"orc2", func(a, b int64) int64 { return a | (1 ^ b) }},
	} {
		rows = append(rows, Builtin{Name: "bit-" + operation.name, LambdaList: "(a b &optional target)", Doc: "Combine two bit arrays bit by bit.", Named: func(c *Call, args Args) Value {
			a, b := c.bitArray(args.Get("a")), c.bitArray(args.Get("b"))
			c.sameShape(a, b)
			result := c.bitTarget(a, args.Get("target"))
			x, y, z := a.all(), b.all(), result.all()
			for i := range z {
				z[i] = Integer(operation.do(x[i].(int64), y[i].(int64)))
			}
			return result
		}})
	}
	return append(rows, Builtin{Name: "bit-not", LambdaList: "(a &optional target)", Doc: "Turn all bits of a bit array.", Named: func(c *Call, args Args) Value {
		a := c.bitArray(args.Get("a"))
		result := c.bitTarget(a, args.Get("target"))
		x, z := a.all(), result.all()
		for i := range z {
			z[i] = Integer(1 ^ x[i].(int64))
		}
		return result
	}})
}

func (c *Call) bitArray(v Value) *Vector {
	x, ok := v.(*Vector)
	if !ok || x.kind != bitElements {
		c.TypeError(v, "(ARRAY BIT)")
	}
	return x
}

func (c *Call) sameShape(a, b *Vector) {
	x, y := c.dimensions(a), c.dimensions(b)
	same := len(x) == len(y)
	for i := range x {
		same = same && x[i] == y[i]
	}
	if !same {
		c.Fail(SimpleError, "%s and %s have different dimensions", c.Shown(a), c.Shown(b))
	}
}

// bitTarget is where the result goes: a new array, or for T the first argument, or the
// array given.
func (c *Call) bitTarget(a *Vector, target Value) *Vector {
	c.Work(len(a.all()))
	switch {
	case target == nil || target == Nil:
		return Allocate(c, Vector{elements: MakeSlice[Value](c, len(a.all())), dimensions: a.dimensions, capacity: -1, kind: bitElements})
	case target == T:
		return a
	}
	result := c.bitArray(target)
	c.sameShape(a, result)
	return result
}
