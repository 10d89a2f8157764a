package lisp

import (
	"fmt"
	"slices"
)

// Elements returns the elements of a sequence. For a vector it is the vector's own
// storage, which the caller must not change unless it means to.
func (c *Call) Elements(v Value) []Value {
	switch x := v.(type) {
	case *String:
		items := MakeSlice[Value](c, len(x.chars))
		for i, r := range x.chars {
			items[i] = Character(r)
		}
		return items
	case *Vector:
		if x.dimensions == nil {
			c.Work(len(x.elements) / 8)
			return x.elements
		}
	case *Cons:
		return c.Slice(x)
	case *Symbol:
		if x == Nil {
			return nil
		}
	}
	c.TypeError(v, "SEQUENCE")
	return nil
}

// ownElements are the elements of a sequence in a slice of their own.
func (c *Call) ownElements(v Value) []Value {
	items := c.Elements(v)
	if _, ok := v.(*Vector); ok {
		return Clone(c, items)
	}
	return items
}

// Length is the number of elements of a sequence.
func (c *Call) Length(v Value) int {
	switch x := v.(type) {
	case *String:
		return len(x.chars)
	case *Vector:
		if x.dimensions == nil {
			return len(x.elements)
		}
	case *Cons, *Symbol:
		if !IsList(v) {
			break
		}
		n := 0
		for cell, ok := c.next(v); ok; cell, ok = c.next(cell.Cdr) {
			n++
		}
		return n
	}
	c.TypeError(v, "SEQUENCE")
	return 0
}

var symCharacter = CL("CHARACTER")

// sequenceFunctions make, measure and join sequences.
func sequenceFunctions() []Builtin {
	return []Builtin{
		{Name: "length", LambdaList: "(sequence)", Doc: "The number of elements.", One: func(c *Call, a Value) Value { return Count(c.Length(a)) }},
		{Name: "elt", LambdaList: "(sequence index)", Doc: "The element at index.", Two: elt},
		{Name: "subseq", LambdaList: "(sequence start &optional end)", Doc: "A copy of a part.", Named: func(c *Call, args Args) Value {
			return c.subsequence(args.Get("sequence"), args.Get("start"), args.Get("end"))
		}},
		{Name: "copy-seq", LambdaList: "(sequence)", Doc: "A copy.", One: func(c *Call, a Value) Value {
			return c.subsequence(a, nil, nil)
		}},
		{Name: "reverse", LambdaList: "(sequence)", Doc: "The elements in reverse order.", One: reverse},
		{Name: "nreverse", LambdaList: "(sequence)", Doc: "The elements in reverse order; the old sequence is used up.", One: nreverse},
		{Name: "concatenate", LambdaList: "(type &rest sequences)", Doc: "A new sequence of the elements of all.", Call: concatenate},
		{Name: "make-sequence", LambdaList: "(type size &key initial-element)", Doc: "A sequence of size elements.", Named: makeSequence},
		{Name: "coerce", LambdaList: "(object type)", Doc: "The object as another type.", Two: coerce},
		{Name: "fill", LambdaList: "(sequence item &key start end)", Doc: "Set all elements.", Named: fill},
		{Name: "replace", LambdaList: "(target source &key start1 end1 start2 end2)", Doc: "Copy elements into target.", Named: replaceElements},
	}
}

func elt(c *Call, a, b Value) Value {
	i := c.Index(b)
	if IsList(a) {
		if cell, ok := c.nthcdr(b, a).(*Cons); ok {
			return cell.Car
		}
		c.badIndex(i, a)
	}
	if !IsSequence(a) {
		c.TypeError(a, "SEQUENCE")
	}
	if i >= c.Length(a) {
		c.badIndex(i, a)
	}
	return c.aref(a, i)
}

func (c *Call) subsequence(sequence, start, end Value) Value {
	switch x := sequence.(type) {
	case *String:
		from, to := c.Bounds(start, end, len(x.chars))
		return c.CopyRunes(x.chars[from:to])
	case *Vector:
		items := c.Elements(x)
		from, to := c.Bounds(start, end, len(items))
		return c.vectorOfKind(x.kind, Clone(c, items[from:to]))
	}
	items := c.Elements(sequence)
	from, to := c.Bounds(start, end, len(items))
	return c.NewList(items[from:to])
}

func reverse(c *Call, a Value) Value {
	switch x := a.(type) {
	case *String:
		copied := c.CopyRunes(x.chars)
		slices.Reverse(copied.chars)
		return copied
	case *Vector:
		reversed := c.ownElements(x)
		slices.Reverse(reversed)
		return c.vectorOfKind(x.kind, reversed)
	}
	result := Value(Nil)
	if !IsList(a) {
		c.TypeError(a, "SEQUENCE")
	}
	for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
		result = c.Cons(cell.Car, result)
	}
	return result
}

// IsSequence reports whether a value is a list, a string or a vector.
func IsSequence(v Value) bool {
	switch x := v.(type) {
	case *String, *Cons:
		return true
	case *Vector:
		return x.dimensions == nil
	}
	return v == Nil
}

// nreverse turns the links of a list and the elements of a vector round.
func nreverse(c *Call, a Value) Value {
	switch x := a.(type) {
	case *String:
		c.Work(len(x.chars) / 4)
		slices.Reverse(x.chars)
		return x
	case *Vector:
		slices.Reverse(c.Elements(x))
		return x
	}
	if !IsList(a) {
		c.TypeError(a, "SEQUENCE")
	}
	c.Length(a) // a dotted list is an error before anything is changed
	result := Value(Nil)
	for cell, ok := c.next(a); ok; cell, ok = c.next(a) {
		a, cell.Cdr, result = cell.Cdr, result, cell
	}
	return result
}

// setElement is the setter of elt.
func (c *Call) setElement(sequence Value, i int, v Value) {
	switch x := sequence.(type) {
	case *String:
		if i < len(x.chars) {
			x.chars[i] = rune(c.Character(v))
			return
		}
	case *Vector:
		if x.dimensions == nil && i < len(x.elements) {
			c.element(x.kind, v)
			x.elements[i] = v
			return
		}
	case *Cons:
		if cell, ok := c.nthcdr(Count(i), x).(*Cons); ok {
			cell.Car = v
			return
		}
	default:
		c.TypeError(sequence, "SEQUENCE")
	}
	c.badIndex(i, sequence)
}

// badIndex signals that the sequence has no element i.
func (c *Call) badIndex(i int, sequence Value) {
	if IsList(sequence) {
		n := c.Length(sequence)
		c.outside(i, n, fmt.Sprintf("The index %d is too large for a list of length %d.", i, n))
	}
	c.badSubscript(i, c.Length(sequence), sequence)
}

// badSubscript signals that i is no subscript of an array's dimension of limit elements.
func (c *Call) badSubscript(i, limit int, array Value) {
	c.outside(i, limit, fmt.Sprintf("Invalid index %d for %s, should be a non-negative integer below %d.", i, c.Shown(c.typeOf(array)), limit))
}

func (c *Call) outside(i, limit int, message string) {
	kind := NewList(CL("INTEGER"), Count(0), NewList(Count(limit)))
	c.signalError(c.newCondition(TypeErrorClass, message, "DATUM", Count(i), "EXPECTED-TYPE", kind))
}

// store writes items into a sequence from index start on.
func (c *Call) store(sequence Value, start int, items []Value) {
	c.Work(len(items))
	if cell, ok := sequence.(*Cons); ok {
		tail := c.nthcdr(Count(start), cell)
		for _, item := range items {
			next, ok := tail.(*Cons)
			if !ok {
				return
			}
			next.Car, tail = item, next.Cdr
		}
		return
	}
	for i, item := range items {
		c.setElement(sequence, start+i, item)
	}
}

func fill(c *Call, args Args) Value {
	sequence, item := args.Get("sequence"), args.Get("item")
	from, to := c.Bounds(args.Get("start"), args.Get("end"), c.Length(sequence))
	c.Work(to - from)
	switch x := sequence.(type) {
	case *String:
		r := rune(c.Character(item))
		for i := from; i < to; i++ {
			x.chars[i] = r
		}
	case *Vector:
		c.element(x.kind, item)
		for i := from; i < to; i++ {
			x.elements[i] = item
		}
	default:
		tail := c.nthcdr(Count(from), sequence)
		for range to - from {
			cell := c.cell(tail)
			cell.Car, tail = item, cell.Cdr
		}
	}
	return sequence
}

func replaceElements(c *Call, args Args) Value {
	target, sourceArg := args.Get("target"), args.Get("source")
	from1, to1 := c.Bounds(args.Get("start1"), args.Get("end1"), c.Length(target))
	from2, to2 := c.Bounds(args.Get("start2"), args.Get("end2"), c.Length(sourceArg))
	n := min(to1-from1, to2-from2)
	x, text := target.(*String)
	if y, both := sourceArg.(*String); text && both {
		c.Work(n / 4)
		copy(x.chars[from1:from1+n], y.chars[from2:from2+n])
		return x
	}
	source := c.ownElements(sourceArg)
	c.store(target, from1, source[from2:from2+n])
	return target
}

// sequenceType is what a type specifier for make-sequence, map, merge, coerce and
// concatenate asks for.
type sequenceType struct {
	name Value
	// kind is the type of a vector's elements; nil for a list.
	kind *elementType
	// least and most bound the length; most is -1 without a bound.
	least, most int
}

func (c *Call) sequenceType(kind Value) sequenceType {
	c.Descend(4)
	defer c.Ascend(4)
	if class, ok := kind.(*Class); ok {
		kind = class.name
	}
	t := sequenceType{name: kind, most: -1}
	head, args := kind, []Value(nil)
	if cell, ok := kind.(*Cons); ok {
		head, args = cell.Car, c.Slice(cell.Cdr)
	}
	symbol, ok := head.(*Symbol)
	if !ok {
		c.notSequenceType(kind)
	}
	switch symbol.name {
	case "LIST":
		return t
	case "CONS":
		t.least = 1
		return t
	case "NULL":
		t.most = 0
		return t
	case "VECTOR", "ARRAY", "SIMPLE-ARRAY":
		t.kind = c.elementType(Optional(args, 0))
		return c.sized(t, Optional(args, 1))
	case "SIMPLE-VECTOR":
		t.kind = generalElements
		return c.sized(t, Optional(args, 0))
	case "BIT-VECTOR", "SIMPLE-BIT-VECTOR":
		t.kind = bitElements
		return c.sized(t, Optional(args, 0))
	case "STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING":
		t.kind = characterElements
		return c.sized(t, Optional(args, 0))
	case "AND":
		for _, arg := range args {
			if cell, ok := arg.(*Cons); !ok || cell.Car != symNot {
				return c.sequenceType(arg)
			}
		}
	}
	if expansion, ok := c.expandType(kind); ok {
		return c.sequenceType(expansion)
	}
	c.notSequenceType(kind)
	return t
}

func (c *Call) notSequenceType(kind Value) {
	c.signalError(c.newCondition(TypeErrorClass, c.Shown(kind)+" is not a type of sequences", "DATUM", kind, "EXPECTED-TYPE", CL("SEQUENCE")))
}

// sized reads the dimension of a vector type: a length, (LENGTH), a rank of one or a star.
func (c *Call) sized(t sequenceType, size Value) sequenceType {
	if cell, ok := size.(*Cons); ok {
		if cell.Cdr != Nil {
			c.notSequenceType(t.name)
		}
		size = cell.Car
	} else if cell, ok := t.name.(*Cons); ok && size != nil && size != symStar && cell.Car != symVector && len(c.Slice(cell)) == 3 {
		if size != Integer(1) { // a rank, not a length
			c.notSequenceType(t.name)
		}
		return t
	}
	if size != nil && size != symStar {
		t.least = c.Index(size)
		t.most = t.least
	}
	return t
}

// check complains when a sequence of n elements cannot be of the type.
func (c *Call) checkLength(t sequenceType, n int) {
	if n < t.least || t.most >= 0 && n > t.most {
		c.signalError(c.newCondition(TypeErrorClass, "a sequence of "+Sketch(Count(n), 20)+" elements is not of type "+c.Shown(t.name), "DATUM", Count(n), "EXPECTED-TYPE", Nil))
	}
}

// makeSequence makes a sequence of items, which it may keep.
func (c *Call) makeSequence(t sequenceType, items []Value) Value {
	c.checkLength(t, len(items))
	if t.kind == nil {
		return c.NewList(items)
	}
	return c.vectorOf(t.kind, items)
}

// vectorOf makes a vector or string of items, which it may keep.
func (c *Call) vectorOf(kind *elementType, items []Value) Value {
	if kind == characterElements {
		return c.stringOf(items)
	}
	if kind == generalElements {
		return c.NewVector(items)
	}
	for _, item := range items {
		c.element(kind, item)
	}
	return c.vectorOfKind(kind, items)
}

// vectorOfKind makes a vector of elements of a type, which are charged already; it keeps them.
func (c *Call) vectorOfKind(kind *elementType, items []Value) *Vector {
	v := c.NewVector(items)
	v.kind = kind
	return v
}

// like makes a sequence of the same type as v. It may keep items.
func (c *Call) like(v Value, items []Value) Value {
	if IsList(v) {
		return c.NewList(items)
	}
	return c.vectorOf(c.arrayKind(v), items)
}

// stringOf makes a string of characters.
func (c *Call) stringOf(items []Value) *String {
	chars := MakeSlice[rune](c, len(items))
	for i, item := range items {
		chars[i] = rune(c.Character(item))
	}
	return c.StringOf(chars)
}

func concatenate(c *Call, args []Value) Value {
	t := c.sequenceType(args[0])
	if t.kind == characterElements {
		total := 0
		for _, arg := range args[1:] {
			total += c.Length(arg)
		}
		c.checkLength(t, total)
		chars := MakeSlice[rune](c, total)[:0]
		for _, arg := range args[1:] {
			if s, ok := arg.(*String); ok {
				chars = append(chars, s.chars...)
				continue
			}
			for _, item := range c.Elements(arg) {
				chars = append(chars, rune(c.Character(item)))
			}
		}
		return c.StringOf(chars)
	}
	var items []Value
	for _, arg := range args[1:] {
		part := c.Elements(arg)
		items = Append(c, items, part...)
	}
	return c.makeSequence(t, items)
}

func makeSequence(c *Call, args Args) Value {
	t, n := c.sequenceType(args.Get("type")), c.Index(args.Get("size"))
	c.checkLength(t, n)
	element := args.Get("initial-element")
	if element == nil {
		element = Nil
		if t.kind != nil {
			element = t.kind.zero
		}
	}
	items := MakeSlice[Value](c, n)
	for i := range items {
		items[i] = element
	}
	return c.makeSequence(t, items)
}

func coerce(c *Call, a, b Value) Value {
	if symbol, ok := b.(*Symbol); ok {
		switch symbol.name {
		case "CHARACTER":
			return c.designatedCharacter(a)
		case "FLOAT":
			if c.realNumber(a) >= singleKind {
				return a
			}
			return c.toFloat(a, Nil)
		case "SINGLE-FLOAT", "SHORT-FLOAT":
			c.realNumber(a)
			return c.toFloat(a, float32(0))
		case "DOUBLE-FLOAT", "LONG-FLOAT":
			c.realNumber(a)
			return c.toFloat(a, float64(0))
		case "COMPLEX":
			c.number(a)
			return c.complexOfType(a, symStar)
		case "FUNCTION":
			return c.Function(a)
		case "T":
			return a
		}
	}
	if c.typep(a, b) {
		return a
	}
	if cell, ok := b.(*Cons); ok && cell.Car == symComplex && kindOf(a) != notNumber {
		return c.complexOfType(a, Optional(c.Slice(cell.Cdr), 0))
	}
	if !IsSequence(a) {
		c.signalError(c.newCondition(TypeErrorClass, c.Shown(a)+" can't be converted to type "+c.Shown(b)+".", "DATUM", a, "EXPECTED-TYPE", b))
	}
	t := c.sequenceType(b)
	return c.makeSequence(t, c.ownElements(a))
}
