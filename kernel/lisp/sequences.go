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
		return c.NewString(append([]rune(nil), x.chars[from:to]...))
	case *Vector:
		items := c.Elements(x)
		from, to := c.Bounds(start, end, len(items))
		c.ChargeMany(to-from, ValueBytes)
		v := c.NewVector(append([]Value(nil), items[from:to]...))
		v.kind = x.kind
		return v
	}
	items := c.Elements(sequence)
	from, to := c.Bounds(start, end, len(items))
	return c.NewList(items[from:to])
}

func reverse(c *Call, a Value) Value {
	switch x := a.(type) {
	case *String:
		chars := c.NewString(make([]rune, len(x.chars)))
		for i, r := range x.chars {
			chars.chars[len(x.chars)-1-i] = r
		}
		return chars
	case *Vector:
		items := c.Elements(x)
		reversed := MakeSlice[Value](c, len(items))
		for i, v := range items {
			reversed[len(items)-1-i] = v
		}
		return Allocate(c, Vector{elements: reversed, capacity: -1, kind: x.kind})
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
	source := c.Elements(sourceArg)
	c.ChargeMany(n, ValueBytes)
	c.store(target, from1, append([]Value(nil), source[from2:from2+n]...))
	return target
}
