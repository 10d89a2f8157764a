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
		c.ChargeMany(n, ValueBytes)
		items, used := make([]Value, n), len(x.elements)
		zero := c.arrayKind(x).zero
		for i := copy(items, x.all()); i < n; i++ {
			items[i] = zero
		}
		x.elements, x.capacity, x.header = items[:used], n, &arrayHeader{}
	}
}
