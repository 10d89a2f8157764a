package lisp

// fillPointerFunctions are about vectors that grow and shrink.
func fillPointerFunctions() []Builtin {
	return []Builtin{
		{Name: "fill-pointer", LambdaList: "(vector)", Doc: "The number of elements in use.", One: func(c *Call, a Value) Value {
			c.growing(a)
			return Count(c.Length(a))
		}},
		{Name: "vector-push", LambdaList: "(element vector)", Doc: "Add an element if there is room; its index or nil.", Two: func(c *Call, a, b Value) Value {
			if c.growing(b); c.Length(b) >= c.dimensions(b)[0] {
				return Nil
			}
			return c.vectorPush(a, b)
		}},
		{Name: "vector-push-extend", LambdaList: "(element vector &optional extension)", Doc: "Add an element, growing the vector; its index.", Named: func(c *Call, args Args) Value {
			extensionArg := args.Get("extension")
			vector := args.Get("vector")
			c.growing(vector)
			if n := c.Length(vector); n >= c.dimensions(vector)[0] {
				extension := max(1, n)
				if extensionArg != nil {
					if extension = c.Index(extensionArg); extension == 0 {
						c.TypeError(extensionArg, "(INTEGER 1)")
					}
				}
				c.grow(vector, n+extension)
			}
			return c.vectorPush(args.Get("element"), vector)
		}},
		{Name: "vector-pop", LambdaList: "(vector)", Doc: "Take the last element off.", One: func(c *Call, a Value) Value {
			c.growing(a)
			n := c.Length(a)
			if n == 0 {
				c.Fail(SimpleError, "there is nothing to pop off %s", c.Shown(a))
			}
			c.setFillPointer(a, n-1)
			return c.aref(a, n-1)
		}},
	}
}

// growing takes a vector with a fill pointer.
func (c *Call) growing(v Value) {
	if !hasFillPointer(v) {
		c.TypeError(v, "(AND VECTOR (SATISFIES ARRAY-HAS-FILL-POINTER-P))")
	}
}

func (c *Call) setFillPointer(v Value, n int) {
	c.growing(v)
	switch x := v.(type) {
	case *String:
		if n <= x.capacity {
			x.chars = x.chars[:n]
			return
		}
	case *Vector:
		if n <= x.capacity {
			x.elements = x.elements[:n]
			return
		}
	}
	c.badSubscript(n, product(c.dimensions(v))+1, v)
}

// vectorPush stores behind the last element in use; there is room.
func (c *Call) vectorPush(element, vector Value) Value {
	n := c.Length(vector)
	c.setArrayElement(vector, n, element)
	c.setFillPointer(vector, n+1)
	return Count(n)
}

// grow gives a vector with a fill pointer storage for n elements. It is then no longer
// displaced.
func (c *Call) grow(v Value, n int) {
	switch x := v.(type) {
	case *String:
		chars := MakeSlice[rune](c, n)
		used := len(x.chars)
		copy(chars, x.all())
		x.chars, x.capacity, x.header = chars[:used], n, &arrayHeader{}
	case *Vector:
		c.Charge(n * numberBytes)
		items, used := MakeSlice[Value](c, n), len(x.elements)
		zero := c.arrayKind(x).zero
		for i := copy(items, x.all()); i < n; i++ {
			items[i] = zero
		}
		x.elements, x.capacity, x.header = items[:used], n, &arrayHeader{}
	}
}

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
		made := c.vectorOfKind(bitElements, MakeSlice[Value](c, len(a.all())))
		made.dimensions = a.dimensions
		return made
	case target == T:
		return a
	}
	result := c.bitArray(target)
	c.sameShape(a, result)
	return result
}
