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
			return c.NewVector(Clone(c, args))
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
		{Name: "upgraded-array-element-type", LambdaList: "(type &optional environment)", Doc: "The element type that an array made for a type has.", Named: func(c *Call, args Args) Value {
			return c.elementType(args.Get("type")).name
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

// maximumRank is below ARRAY-RANK-LIMIT.
const maximumRank = 64

// arrayMakers make arrays and change their size.
func arrayMakers() []Builtin {
	const keywords = "element-type initial-element initial-contents adjustable fill-pointer displaced-to displaced-index-offset)"
	return []Builtin{
		{Name: "make-array", LambdaList: "(dimensions &key " + keywords, Doc: "A new array.", Named: func(c *Call, args Args) Value {
			return c.arrayOptions(args, generalElements).make(c)
		}},
		{Name: "adjust-array", LambdaList: "(array dimensions &key " + keywords, Doc: "The array with other dimensions: itself if it is adjustable.", Named: adjustArray},
	}
}

// arrayOptions is what make-array and adjust-array are asked for.
type arrayOptions struct {
	sizes             []int
	total             int
	kind              *elementType
	element, contents Value // nil if not given
	adjustable        bool
	fill              Value // nil without a fill pointer
	target            Value // nil if not displaced
	offset            int
}

func (c *Call) arrayOptions(args Args, kind *elementType) *arrayOptions {
	o := &arrayOptions{kind: kind, element: args.Get("initial-element"), contents: args.Get("initial-contents"), adjustable: args.True("adjustable")}
	o.sizes, o.total = c.arraySizes(args.Get("dimensions"))
	if kind := args.Get("element-type"); kind != nil {
		o.kind = c.elementType(kind)
	}
	if o.element != nil && o.contents != nil {
		c.Fail(SimpleError, "an array cannot have both :initial-element and :initial-contents")
	}
	if fill := args.Get("fill-pointer"); Given(fill) {
		o.fill = fill
		if len(o.sizes) != 1 {
			c.Fail(SimpleError, "only vectors can have fill pointers")
		}
	}
	if target := args.Get("displaced-to"); Given(target) {
		o.target = target
		if offset := args.Get("displaced-index-offset"); offset != nil {
			o.offset = c.Index(offset)
		}
		if o.element != nil || o.contents != nil {
			c.Fail(SimpleError, "a displaced array cannot be given initial values")
		}
	}
	return o
}

func (c *Call) arraySizes(v Value) (sizes []int, total int) {
	dimensions := []Value{v}
	if IsList(v) {
		dimensions = c.Slice(v)
	}
	if len(dimensions) > maximumRank {
		c.Fail(SimpleError, "an array cannot have more than %d dimensions", maximumRank)
	}
	total = 1
	for _, d := range dimensions {
		n := c.Index(d)
		if n > 0 && total > 1<<40/n {
			c.chargeAll()
		}
		total *= n
		sizes = append(sizes, n)
	}
	if sizes == nil {
		sizes = []int{}
	}
	return sizes, total
}

// make makes the array.
func (o *arrayOptions) make(c *Call) Value {
	if o.target != nil {
		return o.displaced(c)
	}
	if o.kind == characterElements && len(o.sizes) == 1 {
		s := c.StringOf(o.characters(c))
		o.finishString(c, s)
		return s
	}
	v := c.NewVector(o.items(c))
	o.finishVector(c, v)
	return v
}

func (o *arrayOptions) header() *arrayHeader {
	if o.adjustable || o.target != nil {
		return &arrayHeader{target: o.target, offset: o.offset}
	}
	return nil
}

func (o *arrayOptions) finishString(c *Call, s *String) {
	s.header, s.capacity = o.header(), -1
	if o.fill != nil {
		s.capacity = o.total
		s.chars = s.chars[:o.used(c)]
	}
}

func (o *arrayOptions) finishVector(c *Call, v *Vector) {
	v.header, v.capacity, v.kind, v.dimensions = o.header(), -1, nil, nil
	if o.kind != generalElements {
		v.kind = o.kind
	}
	if len(o.sizes) != 1 {
		v.dimensions = o.sizes
	}
	if o.fill != nil {
		v.capacity = o.total
		v.elements = v.elements[:o.used(c)]
	}
}

// used is what the fill pointer is set to.
func (o *arrayOptions) used(c *Call) int {
	if o.fill == T {
		return o.total
	}
	n := c.Index(o.fill)
	if n > o.total {
		c.Fail(SimpleError, "a fill pointer of %d is beyond the %d elements", n, o.total)
	}
	return n
}

// displaced makes an array that shares its elements with another.
func (o *arrayOptions) displaced(c *Call) Value {
	kind := c.arrayKind(o.target)
	if size := product(c.dimensions(o.target)); o.offset > size || o.total > size-o.offset {
		c.Fail(SimpleError, "%d elements from %d on do not fit into an array of %d", o.total, o.offset, size)
	}
	if kind != o.kind {
		c.Fail(SimpleError, "an array of %s cannot be displaced to an array of %s", c.Shown(o.kind.name), c.Shown(kind.name))
	}
	end := o.offset + o.total
	switch x := o.target.(type) {
	case *String:
		if len(o.sizes) == 1 {
			s := &String{chars: x.all()[o.offset:end:end]}
			o.finishString(c, s)
			return s
		}
	case *Vector:
		if kind != characterElements || len(o.sizes) != 1 {
			v := Allocate(c, Vector{elements: x.all()[o.offset:end:end]})
			o.finishVector(c, v)
			return v
		}
	}
	c.Fail(SimpleError, "a string and an array of characters with another rank cannot share their elements")
	return nil
}

func (o *arrayOptions) characters(c *Call) []rune {
	if o.contents == nil {
		chars := MakeSlice[rune](c, o.total)
		if o.element != nil {
			r := rune(c.Character(o.element))
			for i := range chars {
				chars[i] = r
			}
		}
		return chars
	}
	items := o.items(c)
	chars := MakeSlice[rune](c, len(items))
	for i, item := range items {
		chars[i] = rune(c.Character(item))
	}
	return chars
}

func (o *arrayOptions) items(c *Call) []Value {
	items := MakeSlice[Value](c, o.total)[:0]
	if o.contents != nil {
		c.flatten(o.contents, o.sizes, &items)
		for _, item := range items {
			c.element(o.kind, item)
		}
		return items
	}
	element := o.element
	if element == nil {
		element = o.kind.zero
	}
	c.element(o.kind, element)
	for range o.total {
		items = append(items, element)
	}
	return items
}

// flatten collects nested contents in the order of storage.
func (c *Call) flatten(contents Value, sizes []int, items *[]Value) {
	if len(sizes) == 0 {
		*items = append(*items, contents)
		return
	}
	parts := c.Elements(contents)
	if len(parts) != sizes[0] {
		c.Fail(SimpleError, "the initial contents have %d elements where %d are needed", len(parts), sizes[0])
	}
	for _, part := range parts {
		c.flatten(part, sizes[1:], items)
	}
}

func adjustArray(c *Call, args Args) Value {
	array := args.Get("array")
	old, kind := c.dimensions(array), c.arrayKind(array)
	o := c.arrayOptions(args, kind)
	if len(old) != len(o.sizes) {
		c.Fail(SimpleError, "adjust-array cannot change the number of dimensions from %d to %d", len(old), len(o.sizes))
	}
	if o.kind != kind {
		c.Fail(SimpleError, "the elements of the array are of type %s", c.Shown(kind.name))
	}
	if o.fill != nil && !hasFillPointer(array) {
		c.growing(array)
	}
	if o.fill == nil && hasFillPointer(array) {
		if o.fill = Count(c.Length(array)); c.Length(array) > o.total {
			c.Fail(SimpleError, "the fill pointer %d is beyond the %d elements", c.Length(array), o.total)
		}
	}
	o.adjustable = !isSimple(array)
	made := o.make(c)
	if o.contents == nil && o.target == nil {
		c.copyCommon(made, array, o.sizes, old)
	}
	if isSimple(array) {
		return made
	}
	switch x := array.(type) {
	case *String:
		*x = *made.(*String)
	case *Vector:
		*x = *made.(*Vector)
	}
	return array
}

// copyCommon copies the elements whose subscripts both arrays have.
func (c *Call) copyCommon(to, from Value, sizes, old []int) {
	total := product(old)
	c.Work(total)
	if product(sizes) == 0 {
		return
	}
	subscripts := make([]int, len(old))
	for i := range total {
		target, inside := 0, true
		for j, n := range subscripts {
			target = target*sizes[j] + n
			inside = inside && n < sizes[j]
		}
		if inside {
			c.setArrayElement(to, target, c.aref(from, i))
		}
		for j := len(subscripts) - 1; j >= 0; j-- {
			if subscripts[j]++; subscripts[j] < old[j] {
				break
			}
			subscripts[j] = 0
		}
	}
}

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
