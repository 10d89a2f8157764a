package lisp

// arrayType reports whether v is of the array type (head . args).
func (c *Call) arrayType(v Value, head *Symbol, args []Value) bool {
	if !c.typep(v, head) {
		return false
	}
	element, size := Optional(args, 0), Optional(args, 1)
	switch head.name {
	case "STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING", "SIMPLE-VECTOR", "BIT-VECTOR", "SIMPLE-BIT-VECTOR":
		element, size = nil, element
		fallthrough
	case "VECTOR":
		if size != nil && size != symStar {
			size = NewList(size)
		}
	}
	if element != nil && element != symStar && c.elementType(element) != c.arrayKind(v) {
		return false
	}
	if size == nil || size == symStar {
		return true
	}
	dimensions := c.dimensions(v)
	if rank, ok := size.(int64); ok {
		return int(rank) == len(dimensions)
	}
	sizes := c.Slice(size)
	if len(sizes) != len(dimensions) {
		return false
	}
	for i, n := range sizes {
		if n != symStar && n != Count(dimensions[i]) {
			return false
		}
	}
	return true
}

// arrayTypeOf is what type-of returns for an array.
func (c *Call) arrayTypeOf(v Value) Value {
	kind := c.arrayKind(v)
	var sizes []Value
	for _, d := range c.dimensions(v) {
		sizes = append(sizes, Count(d))
	}
	if isSimple(v) {
		switch {
		case len(sizes) == 1 && kind == generalElements:
			return NewList(CL("SIMPLE-VECTOR"), sizes[0])
		case len(sizes) == 1 && kind == bitElements:
			return NewList(CL("SIMPLE-BIT-VECTOR"), sizes[0])
		}
		return NewList(CL("SIMPLE-ARRAY"), kind.name, NewList(sizes...))
	}
	if len(sizes) == 1 && kind == bitElements {
		return NewList(CL("BIT-VECTOR"), sizes[0])
	}
	if len(sizes) == 1 {
		return NewList(symVector, kind.name, sizes[0])
	}
	return NewList(CL("ARRAY"), kind.name, NewList(sizes...))
}
