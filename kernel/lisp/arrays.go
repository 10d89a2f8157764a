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
		c.typeError(v, "ARRAY")
	}
	c.badSubscript(i, product(c.dimensions(v)), v)
	return nil
}

// setArrayElement is the setter of aref.
func (c *Call) setArrayElement(array Value, i int, v Value) {
	switch x := array.(type) {
	case *String:
		if chars := x.all(); i < len(chars) {
			chars[i] = rune(c.character(v))
			return
		}
	case *Vector:
		if items := x.all(); i < len(items) {
			c.element(x.kind, v)
			items[i] = v
			return
		}
	default:
		c.typeError(array, "ARRAY")
	}
	c.badSubscript(i, product(c.dimensions(array)), array)
}

// rowMajor turns subscripts into the index of an element.
func (c *Call) rowMajor(v Value, subscripts []Value) int {
	dimensions := c.dimensions(v)
	if len(subscripts) != len(dimensions) {
		c.fail(simpleError, "an array of rank %d needs as many subscripts, not %d", len(dimensions), len(subscripts))
	}
	index := 0
	for i, d := range dimensions {
		n := c.index(subscripts[i])
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
	c.typeError(v, "ARRAY")
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
	c.typeError(v, "ARRAY")
	return nil
}

// arrayFunctions read arrays and say what they are.
func arrayFunctions() []builtin {
	read := func(name, list string, takes func(Value) bool, kind string) builtin {
		return builtin{name: name, list: list, doc: "An element of an array.", two: func(c *Call, a, b Value) Value {
			if !takes(a) {
				c.typeError(a, kind)
			}
			return c.aref(a, c.rowMajor(a, []Value{b}))
		}, call: func(c *Call, args []Value) Value {
			if !takes(args[0]) {
				c.typeError(args[0], kind)
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
	return []builtin{
		{name: "vector", list: "(&rest objects)", doc: "A new vector.", call: func(c *Call, args []Value) Value {
			c.chargeMany(len(args), valueBytes)
			return newVector(append([]Value(nil), args...))
		}},
		{name: "aref", list: "(array &rest subscripts)", doc: "An element of an array.", two: func(c *Call, a, b Value) Value {
			if v, ok := a.(*Vector); ok && v.dimensions != nil {
				return c.aref(a, c.rowMajor(a, []Value{b}))
			}
			return c.aref(a, c.index(b))
		}, call: func(c *Call, args []Value) Value { return c.aref(args[0], c.rowMajor(args[0], args[1:])) }},
		{name: "row-major-aref", list: "(array index)", doc: "The element at an index in the order of storage.", two: func(c *Call, a, b Value) Value { return c.aref(a, c.index(b)) }},
		read("svref", "(vector index)", simpleVector, "SIMPLE-VECTOR"),
		read("char", "(string index)", string1, "STRING"), read("schar", "(string index)", string1, "SIMPLE-STRING"),
		read("bit", "(array &rest subscripts)", bitArray, "BIT-VECTOR"), read("sbit", "(array &rest subscripts)", bitArray, "SIMPLE-BIT-VECTOR"),
		{name: "array-dimensions", list: "(array)", doc: "The dimensions as a list.", one: func(c *Call, a Value) Value {
			var items []Value
			for _, d := range c.dimensions(a) {
				items = append(items, count(d))
			}
			return c.newList(items)
		}},
		{name: "array-dimension", list: "(array axis)", doc: "One dimension.", two: func(c *Call, a, b Value) Value {
			d, i := c.dimensions(a), c.index(b)
			if i >= len(d) {
				c.fail(simpleError, "an array of rank %d has no axis %d", len(d), i)
			}
			return count(d[i])
		}},
		{name: "array-rank", list: "(array)", doc: "The number of dimensions.", one: func(c *Call, a Value) Value { return count(len(c.dimensions(a))) }},
		{name: "array-total-size", list: "(array)", doc: "The number of elements.", one: func(c *Call, a Value) Value {
			return count(product(c.dimensions(a)))
		}},
		{name: "array-row-major-index", list: "(array &rest subscripts)", doc: "The index of an element in the order of storage.", call: func(c *Call, args []Value) Value {
			return count(c.rowMajor(args[0], args[1:]))
		}},
		{name: "array-in-bounds-p", list: "(array &rest subscripts)", doc: "True if there is such an element.", call: inBounds},
		{name: "array-element-type", list: "(array)", doc: "The type that the elements must be of.", one: func(c *Call, a Value) Value { return c.arrayKind(a).name }},
		{name: "upgraded-array-element-type", list: "(type &optional environment)", doc: "The element type that an array made for a type has.", call: func(c *Call, args []Value) Value {
			return c.elementType(args[0]).name
		}},
		{name: "array-displacement", list: "(array)", doc: "The array that another is displaced to, and the offset.", many: true, call: func(c *Call, args []Value) Value {
			c.dimensions(args[0])
			if h := headerOf(args[0]); h != nil && h.target != nil {
				return c.values(h.target, count(h.offset))
			}
			return c.values(Nil, Integer(0))
		}},
		{name: "array-has-fill-pointer-p", list: "(array)", doc: "True if the array has a fill pointer.", one: func(c *Call, a Value) Value {
			c.dimensions(a)
			return Boolean(hasFillPointer(a))
		}},
		{name: "adjustable-array-p", list: "(array)", doc: "True if adjust-array changes the array itself.", one: func(c *Call, a Value) Value {
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
		c.fail(simpleError, "an array of rank %d needs as many subscripts, not %d", len(dimensions), len(args)-1)
	}
	for i, d := range dimensions {
		if n, ok := args[i+1].(int64); !ok || n < 0 || n >= int64(d) {
			return Nil
		}
	}
	return T
}
