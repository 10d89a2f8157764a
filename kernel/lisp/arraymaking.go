package lisp

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
			c.Charge(int(c.bytes) + 1)
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
		s := &String{chars: o.characters(c), capacity: -1}
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
	c.ChargeMany(o.total, RuneBytes)
	if o.contents == nil {
		chars := make([]rune, o.total)
		if o.element != nil {
			r := rune(c.Character(o.element))
			for i := range chars {
				chars[i] = r
			}
		}
		return chars
	}
	var chars []rune
	for _, item := range o.items(c) {
		chars = append(chars, rune(c.Character(item)))
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
