package lisp

// aref is the element of a string or vector.
func (c *Call) aref(v Value, i int) Value {
	switch x := v.(type) {
	case *String:
		if i < len(x.chars) {
			return Character(x.chars[i])
		}
	case *Vector:
		if i < len(x.elements) {
			return x.elements[i]
		}
	default:
		c.typeError(v, "ARRAY")
	}
	c.badIndex(i, v)
	return nil
}

// rowMajor turns subscripts into the index of an element.
func (c *Call) rowMajor(v Value, subscripts []Value) int {
	dimensions := c.dimensions(v)
	if len(subscripts) != len(dimensions) {
		c.fail(programError, "an array of rank %d needs as many subscripts, not %d", len(dimensions), len(subscripts))
	}
	index := 0
	for i, d := range dimensions {
		n := c.index(subscripts[i])
		if n >= d {
			c.badIndex(n, v)
		}
		index = index*d + n
	}
	return index
}

// dimensions are those of the allocated array, whatever its fill pointer.
func (c *Call) dimensions(v Value) []int {
	switch x := v.(type) {
	case *String:
		return []int{max(len(x.chars), x.capacity)}
	case *Vector:
		if x.dimensions != nil {
			return x.dimensions
		}
		return []int{max(len(x.elements), x.capacity)}
	}
	c.typeError(v, "ARRAY")
	return nil
}

var (
	kwInitialContents = standardKeyword("INITIAL-CONTENTS")
	kwElementType     = standardKeyword("ELEMENT-TYPE")
	kwFillPointer     = standardKeyword("FILL-POINTER")
	kwAdjustable      = standardKeyword("ADJUSTABLE")
)

// arrayFunctions make and read arrays.
func arrayFunctions() []builtin {
	aref := func(c *Call, args []Value) Value {
		if len(args) == 2 {
			return c.aref(args[0], c.index(args[1]))
		}
		return c.aref(args[0], c.rowMajor(args[0], args[1:]))
	}
	one := func(name string) builtin {
		return builtin{name: name, list: "(array index)", doc: "The element at index.", two: func(c *Call, a, b Value) Value { return c.aref(a, c.index(b)) }}
	}
	return []builtin{
		{name: "make-array", list: "(dimensions &key element-type initial-element initial-contents adjustable fill-pointer)", doc: "A new array.", call: makeArray},
		{name: "vector", list: "(&rest objects)", doc: "A new vector.", call: func(c *Call, args []Value) Value {
			c.chargeMany(len(args), valueBytes)
			return newVector(append([]Value(nil), args...))
		}},
		{name: "aref", list: "(array &rest subscripts)", doc: "An element of an array.", two: func(c *Call, a, b Value) Value { return aref(c, []Value{a, b}) }, call: aref},
		one("svref"), one("row-major-aref"), one("char"), one("schar"), one("bit"),
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
				c.badIndex(i, a)
			}
			return count(d[i])
		}},
		{name: "array-rank", list: "(array)", doc: "The number of dimensions.", one: func(c *Call, a Value) Value { return count(len(c.dimensions(a))) }},
		{name: "array-total-size", list: "(array)", doc: "The number of elements.", one: func(c *Call, a Value) Value {
			total := 1
			for _, d := range c.dimensions(a) {
				total *= d
			}
			return count(total)
		}},
		{name: "array-row-major-index", list: "(array &rest subscripts)", doc: "The index of an element in the order of storage.", call: func(c *Call, args []Value) Value {
			return count(c.rowMajor(args[0], args[1:]))
		}},
		{name: "array-in-bounds-p", list: "(array &rest subscripts)", doc: "True if there is such an element.", call: func(c *Call, args []Value) Value {
			for i, d := range c.dimensions(args[0]) {
				if n, ok := optional(args, i+1).(int64); !ok || n < 0 || n >= int64(d) {
					return Nil
				}
			}
			return T
		}},
		{name: "fill-pointer", list: "(vector)", doc: "The number of elements in use.", one: func(c *Call, a Value) Value {
			if !hasFillPointer(a) {
				c.typeError(a, "VECTOR")
			}
			return count(c.length(a))
		}},
		{name: "array-has-fill-pointer-p", list: "(array)", doc: "True if the array has a fill pointer.", one: func(_ *Call, a Value) Value { return Boolean(hasFillPointer(a)) }},
		{name: "adjustable-array-p", list: "(array)", doc: "True if the array can grow.", one: func(_ *Call, a Value) Value { return Boolean(hasFillPointer(a)) }},
		{name: "vector-push", list: "(element vector)", doc: "Add an element if there is room; its index or nil.", two: func(c *Call, a, b Value) Value { return c.vectorPush(a, b, false) }},
		{name: "vector-push-extend", list: "(element vector &optional extension)", doc: "Add an element, growing the vector; its index.", call: func(c *Call, args []Value) Value {
			return c.vectorPush(args[0], args[1], true)
		}},
		{name: "vector-pop", list: "(vector)", doc: "Take the last element off.", one: func(c *Call, a Value) Value {
			n := c.length(a)
			if !hasFillPointer(a) || n == 0 {
				c.fail(simpleError, "there is nothing to pop off %s", c.shown(a))
			}
			v := c.aref(a, n-1)
			c.setFillPointer(a, n-1)
			return v
		}},
		{name: "adjust-array", list: "(array dimensions &key element-type initial-element initial-contents fill-pointer)", doc: "The vector with another size.", call: adjustArray},
	}
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

func (c *Call) setFillPointer(v Value, n int) {
	switch x := v.(type) {
	case *String:
		if x.capacity >= n {
			x.chars = append(x.chars[:min(n, len(x.chars))], make([]rune, max(0, n-len(x.chars)))...)
			return
		}
	case *Vector:
		if x.capacity >= n {
			for len(x.elements) < n {
				x.elements = append(x.elements, Nil)
			}
			x.elements = x.elements[:n]
			return
		}
	}
	c.badIndex(n, v)
}

func (c *Call) vectorPush(element, vector Value, extend bool) Value {
	if !hasFillPointer(vector) {
		c.typeError(vector, "VECTOR")
	}
	n := c.length(vector)
	switch x := vector.(type) {
	case *String:
		if n >= x.capacity && !extend {
			return Nil
		}
		c.charge(2 * runeBytes)
		x.chars = append(x.chars, rune(c.character(element)))
		x.capacity = max(x.capacity, n+1)
	case *Vector:
		if n >= x.capacity && !extend {
			return Nil
		}
		c.charge(2 * valueBytes)
		x.elements = append(x.elements, element)
		x.capacity = max(x.capacity, n+1)
	}
	return count(n)
}

// maximumRank is ARRAY-RANK-LIMIT.
const maximumRank = 64

func makeArray(c *Call, args []Value) Value {
	k := c.keywords(args[1:], kwElementType, kwInitialElement, kwInitialContents, kwAdjustable, kwFillPointer)
	dimensions := []Value{args[0]}
	if isList(args[0]) {
		dimensions = c.slice(args[0])
	}
	if len(dimensions) > maximumRank {
		c.fail(simpleError, "an array cannot have more than %d dimensions", maximumRank)
	}
	total := 1
	var sizes []int
	for _, d := range dimensions {
		n := c.index(d)
		if n > 0 && total > 1<<40/n {
			c.charge(int(c.bytes) + 1)
		}
		total *= n
		sizes = append(sizes, n)
	}
	text := k[0] != nil && isCharacterType(k[0])
	items := c.arrayItems(total, sizes, k[1], k[2], text, k[0])
	if len(sizes) != 1 {
		return &Vector{elements: items, dimensions: sizes, capacity: -1}
	}
	capacity, used := -1, total
	if fill := k[4]; fill != nil && fill != Nil {
		capacity = total
		if fill != T {
			used = c.index(fill)
			if used > total {
				c.badIndex(used, Nil)
			}
		}
	}
	if text {
		s := c.stringOf(items)
		s.chars, s.capacity = s.chars[:used], capacity
		return s
	}
	v := newVector(items[:used])
	v.capacity = capacity
	return v
}

func isCharacterType(kind Value) bool {
	return kind == symCharacter || kind == symBaseChar || kind == standardSymbol("STANDARD-CHAR")
}

func (c *Call) arrayItems(total int, sizes []int, element, contents Value, text bool, kind Value) []Value {
	c.chargeMany(total, valueBytes)
	if contents != nil {
		var items []Value
		c.flatten(contents, sizes, &items)
		return items
	}
	if element == nil {
		element = Integer(0)
		if text {
			element = Character(0)
		}
	}
	items := make([]Value, total)
	for i := range items {
		items[i] = element
	}
	return items
}

func (c *Call) flatten(contents Value, sizes []int, items *[]Value) {
	if len(sizes) == 0 {
		*items = append(*items, contents)
		return
	}
	parts := c.elements(contents)
	if len(parts) != sizes[0] {
		c.fail(simpleError, "the initial contents have %d elements where %d are needed", len(parts), sizes[0])
	}
	for _, part := range parts {
		c.flatten(part, sizes[1:], items)
	}
}

func adjustArray(c *Call, args []Value) Value {
	k := c.keywords(args[2:], kwInitialElement, kwElementType, kwInitialContents, kwFillPointer)
	size := args[1]
	if cell, ok := size.(*Cons); ok && cell.Cdr == Nil {
		size = cell.Car
	}
	n := c.index(size)
	element := k[0]
	c.chargeMany(n, valueBytes)
	switch x := args[0].(type) {
	case *String:
		for len(x.chars) < n && x.capacity < 0 {
			x.chars = append(x.chars, 0)
		}
		x.chars = x.chars[:min(n, len(x.chars))]
		if x.capacity >= 0 {
			x.capacity = n
		}
	case *Vector:
		if element == nil {
			element = Integer(0)
		}
		for len(x.elements) < n && x.capacity < 0 {
			x.elements = append(x.elements, element)
		}
		x.elements = x.elements[:min(n, len(x.elements))]
		if x.capacity >= 0 {
			x.capacity = n
		}
	default:
		c.typeError(args[0], "ARRAY")
	}
	if k[3] != nil && k[3] != Nil && k[3] != T {
		c.setFillPointer(args[0], c.index(k[3]))
	}
	return args[0]
}
