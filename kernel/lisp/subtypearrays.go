package lisp

import "slices"

// arrayType notes the elements and the dimensions that an array type asks for.
func (s *samples) arrayType(name string, args []Value) {
	switch name {
	case "VECTOR", "ARRAY", "SIMPLE-ARRAY":
		if len(args) == 0 {
			return
		}
		s.elements = append(s.elements, s.call.elementType(args[0]))
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	switch x := args[0].(type) {
	case int64:
		if x >= 0 && x <= 64 {
			s.shapes = append(s.shapes, []int{int(x)}, make([]int, min(x, 8)))
		}
	case *Symbol:
		if x == Nil {
			s.shapes = append(s.shapes, []int{})
		}
	case *Cons:
		dimensions := []int{}
		for _, d := range s.call.Slice(x) {
			n, ok := d.(int64)
			if !ok || n < 0 || n > 8 {
				n = 3
			}
			dimensions = append(dimensions, int(n))
		}
		if len(dimensions) <= 4 {
			s.shapes = append(s.shapes, dimensions)
		}
	}
}

// arrays are those of all shapes and elements mentioned, and of others.
func (s *samples) arrays() []Value {
	shapes := append([][]int{{5}, {5, 5}, {}}, s.shapes...)
	elements := []*elementType{generalElements, bitElements, characterElements}
	for _, e := range s.elements {
		if !slices.Contains(elements, e) {
			elements = append(elements, e)
		}
	}
	var all []Value
	for _, e := range elements {
		kind := e
		if e == generalElements {
			kind = nil
		}
		for _, shape := range shapes {
			size := 1
			for _, n := range shape {
				size *= n
			}
			s.call.ChargeMany(size+8, 2*ValueBytes)
			switch {
			case len(shape) == 1 && e == characterElements:
				all = append(all, StringOf(make([]rune, size)))
			case len(shape) == 1:
				all = append(all, &Vector{elements: make([]Value, size), kind: kind, capacity: -1})
			default:
				all = append(all, &Vector{elements: make([]Value, size), dimensions: shape, kind: kind, capacity: -1})
			}
		}
		if e != characterElements { // one that is not simple
			all = append(all, &Vector{elements: make([]Value, 1, 4), kind: kind, capacity: 4})
		}
	}
	return all
}
