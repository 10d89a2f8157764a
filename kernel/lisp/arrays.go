package lisp

func isArray(v Value) bool {
	switch v.(type) {
	case *String, *Vector:
		return true
	}
	return false
}

// isSimple reports that an array has no fill pointer, cannot be adjusted in place and is
// not displaced.
func isSimple(v Value) bool {
	switch x := v.(type) {
	case *String:
		return x.capacity < 0 && x.header == nil
	case *Vector:
		return x.capacity < 0 && x.header == nil
	}
	return false
}

func hasFillPointer(v Value) bool {
	switch x := v.(type) {
	case *String:
		return x.capacity >= 0
	case *Vector:
		return x.capacity >= 0
	}
	return false
}

// aref is an element of an array in the order of storage, whatever the fill pointer.
func (c *Call) aref(v Value, i int) Value {
	switch x := v.(type) {
	case *String:
		if i < len(x.chars) {
			return Character(x.chars[i])
		}
		if i < x.capacity {
			return Character(x.all()[i])
		}
	case *Vector:
		if i < len(x.elements) {
			return x.elements[i]
		}
		if i < x.capacity {
			return x.all()[i]
		}
	default:
		c.TypeError(v, "ARRAY")
	}
	c.badSubscript(i, product(c.dimensions(v)), v)
	return nil
}

// setArrayElement is the setter of aref.
func (c *Call) setArrayElement(array Value, i int, v Value) {
	switch x := array.(type) {
	case *String:
		if chars := x.all(); i < len(chars) {
			chars[i] = rune(c.Character(v))
			return
		}
	case *Vector:
		if items := x.all(); i < len(items) {
			c.element(x.kind, v)
			items[i] = v
			return
		}
	default:
		c.TypeError(array, "ARRAY")
	}
	c.badSubscript(i, product(c.dimensions(array)), array)
}

// rowMajor turns subscripts into the index of an element.
func (c *Call) rowMajor(v Value, subscripts []Value) int {
	dimensions := c.dimensions(v)
	if len(subscripts) != len(dimensions) {
		c.Fail(SimpleError, "an array of rank %d needs as many subscripts, not %d", len(dimensions), len(subscripts))
	}
	index := 0
	for i, d := range dimensions {
		n := c.Index(subscripts[i])
		if n >= d {
			c.badSubscript(n, d, v)
		}
		index = index*d + n
	}
	return index
}

// dimensions are those of the allocated array, whatever its fill pointer.
func (c *Call) dimensions(v Value) []int {
	switch x := v.(type) {
	case *String:
		return []int{len(x.all())}
	case *Vector:
		if x.dimensions != nil {
			return x.dimensions
		}
		return []int{len(x.all())}
	}
	c.TypeError(v, "ARRAY")
	return nil
}

// arrayKind is the type of an array's elements.
func (c *Call) arrayKind(v Value) *elementType {
	switch x := v.(type) {
	case *String:
		return characterElements
	case *Vector:
		if x.kind != nil {
			return x.kind
		}
		return generalElements
	}
	c.TypeError(v, "ARRAY")
	return nil
}

// arrayFunctions read arrays and say what they are.
func arrayFunctions() []Builtin {
	read := func(name, list string, takes func(Value) bool, kind string) Builtin {
		return Builtin{Name: name, LambdaList: list, Doc: "An element of an array.", Two: func(c *Call, a, b Value) Value {
			if !takes(a) {
				c.TypeError(a, kind)
			}
			return c.aref(a, c.rowMajor(a, []Value{b}))
		}, Call: func(c *Call, args []Value) Value {
			if !takes(args[0]) {
				c.TypeError(args[0], kind)
			}
			return c.aref(args[0], c.rowMajor(args[0], args[1:]))
		}}
	}
	string1 := func(v Value) bool { _, ok := v.(*String); return ok }
	bitArray := func(v Value) bool { x, ok := v.(*Vector); return ok && x.kind == bitElements }
	simpleVector := func(v Value) bool {
		x, ok := v.(*Vector)
		return ok && x.dimensions == nil && x.kind == nil && isSimple(x)
	}
	return []Builtin{
		{Name: "vector", LambdaList: "(&rest objects)", Doc: "A new vector.", Call: func(c *Call, args []Value) Value {
			return c.NewVector(CloneSlice(c, args))
		}},
		{Name: "aref", LambdaList: "(array &rest subscripts)", Doc: "An element of an array.", Two: func(c *Call, a, b Value) Value {
			if v, ok := a.(*Vector); ok && v.dimensions != nil {
				return c.aref(a, c.rowMajor(a, []Value{b}))
			}
			return c.aref(a, c.Index(b))
		}, Call: func(c *Call, args []Value) Value { return c.aref(args[0], c.rowMajor(args[0], args[1:])) }},
		{Name: "row-major-aref", LambdaList: "(array index)", Doc: "The element at an index in the order of storage.", Two: func(c *Call, a, b Value) Value { return c.aref(a, c.Index(b)) }},
		read("svref", "(vector index)", simpleVector, "SIMPLE-VECTOR"),
		read("char", "(string index)", string1, "STRING"), read("schar", "(string index)", string1, "SIMPLE-STRING"),
		read("bit", "(array &rest subscripts)", bitArray, "BIT-VECTOR"), read("sbit", "(array &rest subscripts)", bitArray, "SIMPLE-BIT-VECTOR"),
		{Name: "array-dimensions", LambdaList: "(array)", Doc: "The dimensions as a list.", One: func(c *Call, a Value) Value {
			var items []Value
			for _, d := range c.dimensions(a) {
				items = append(items, Count(d))
			}
			return c.NewList(items)
		}},
		{Name: "array-dimension", LambdaList: "(array axis)", Doc: "One dimension.", Two: func(c *Call, a, b Value) Value {
			d, i := c.dimensions(a), c.Index(b)
			if i >= len(d) {
				c.Fail(SimpleError, "an array of rank %d has no axis %d", len(d), i)
			}
			return Count(d[i])
		}},
		{Name: "array-rank", LambdaList: "(array)", Doc: "The number of dimensions.", One: func(c *Call, a Value) Value { return Count(len(c.dimensions(a))) }},
		{Name: "array-total-size", LambdaList: "(array)", Doc: "The number of elements.", One: func(c *Call, a Value) Value {
			return Count(product(c.dimensions(a)))
		}},
		{Name: "array-row-major-index", LambdaList: "(array &rest subscripts)", Doc: "The index of an element in the order of storage.", Call: func(c *Call, args []Value) Value {
			return Count(c.rowMajor(args[0], args[1:]))
		}},
		{Name: "array-in-bounds-p", LambdaList: "(array &rest subscripts)", Doc: "True if there is such an element.", Call: inBounds},
		{Name: "array-element-type", LambdaList: "(array)", Doc: "The type that the elements must be of.", One: func(c *Call, a Value) Value { return c.arrayKind(a).name }},
		{Name: "upgraded-array-element-type", LambdaList: "(type &optional environment)", Doc: "The element type that an array made for a type has.", Call: func(c *Call, args []Value) Value {
			return c.elementType(args[0]).name
		}},
		{Name: "array-displacement", LambdaList: "(array)", Doc: "The array that another is displaced to, and the offset.", Many: true, Call: func(c *Call, args []Value) Value {
			c.dimensions(args[0])
			if h := headerOf(args[0]); h != nil && h.target != nil {
				return c.Values(h.target, Count(h.offset))
			}
			return c.Values(Nil, Integer(0))
		}},
		{Name: "array-has-fill-pointer-p", LambdaList: "(array)", Doc: "True if the array has a fill pointer.", One: func(c *Call, a Value) Value {
			c.dimensions(a)
			return Boolean(hasFillPointer(a))
		}},
		{Name: "adjustable-array-p", LambdaList: "(array)", Doc: "True if adjust-array changes the array itself.", One: func(c *Call, a Value) Value {
			c.dimensions(a)
			return Boolean(!isSimple(a))
		}},
	}
}

func product(dimensions []int) int {
	total := 1
	for _, d := range dimensions {
		total *= d
	}
	return total
}

func headerOf(v Value) *arrayHeader {
	switch x := v.(type) {
	case *String:
		return x.header
	case *Vector:
		return x.header
	}
	return nil
}

func inBounds(c *Call, args []Value) Value {
	dimensions := c.dimensions(args[0])
	if len(args)-1 != len(dimensions) {
		c.Fail(SimpleError, "an array of rank %d needs as many subscripts, not %d", len(dimensions), len(args)-1)
	}
	for i, d := range dimensions {
		if n, ok := args[i+1].(int64); !ok || n < 0 || n >= int64(d) {
			return Nil
		}
	}
	return T
}
