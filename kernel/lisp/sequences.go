package lisp

import (
	"fmt"
	"slices"
)

// elements returns the elements of a sequence. For a vector it is the vector's own
// storage, which the caller must not change unless it means to.
func (c *Call) elements(v Value) []Value {
	switch x := v.(type) {
	case *String:
		c.chargeMany(len(x.chars), valueBytes)
		items := make([]Value, len(x.chars))
		for i, r := range x.chars {
			items[i] = Character(r)
		}
		return items
	case *Vector:
		if x.dimensions == nil {
			c.work(len(x.elements) / 8)
			return x.elements
		}
	case *Cons:
		return c.slice(x)
	case *Symbol:
		if x == Nil {
			return nil
		}
	}
	c.typeError(v, "SEQUENCE")
	return nil
}

// length is the number of elements of a sequence.
func (c *Call) length(v Value) int {
	switch x := v.(type) {
	case *String:
		return len(x.chars)
	case *Vector:
		if x.dimensions == nil {
			return len(x.elements)
		}
	case *Cons, *Symbol:
		if !isList(v) {
			break
		}
		n := 0
		for cell, ok := c.next(v); ok; cell, ok = c.next(cell.Cdr) {
			n++
		}
		return n
	}
	c.typeError(v, "SEQUENCE")
	return 0
}

var symCharacter = standardSymbol("CHARACTER")

// sequenceFunctions make, measure and join sequences.
func sequenceFunctions() []builtin {
	return []builtin{
		{name: "length", list: "(sequence)", doc: "The number of elements.", one: func(c *Call, a Value) Value { return count(c.length(a)) }},
		{name: "elt", list: "(sequence index)", doc: "The element at index.", two: elt},
		{name: "subseq", list: "(sequence start &optional end)", doc: "A copy of a part.", named: func(c *Call, args Args) Value {
			return c.subsequence(args.Get("sequence"), args.Get("start"), args.Get("end"))
		}},
		{name: "copy-seq", list: "(sequence)", doc: "A copy.", one: func(c *Call, a Value) Value {
			return c.subsequence(a, nil, nil)
		}},
		{name: "reverse", list: "(sequence)", doc: "The elements in reverse order.", one: reverse},
		{name: "nreverse", list: "(sequence)", doc: "The elements in reverse order; the old sequence is used up.", one: nreverse},
		{name: "concatenate", list: "(type &rest sequences)", doc: "A new sequence of the elements of all.", call: concatenate},
		{name: "make-sequence", list: "(type size &key initial-element)", doc: "A sequence of size elements.", named: makeSequence},
		{name: "coerce", list: "(object type)", doc: "The object as another type.", two: coerce},
		{name: "fill", list: "(sequence item &key start end)", doc: "Set all elements.", named: fill},
		{name: "replace", list: "(target source &key start1 end1 start2 end2)", doc: "Copy elements into target.", named: replaceElements},
	}
}

func elt(c *Call, a, b Value) Value {
	i := c.index(b)
	if isList(a) {
		if cell, ok := c.nthcdr(b, a).(*Cons); ok {
			return cell.Car
		}
		c.badIndex(i, a)
	}
	if !isSequence(a) {
		c.typeError(a, "SEQUENCE")
	}
	if i >= c.length(a) {
		c.badIndex(i, a)
	}
	return c.aref(a, i)
}

func (c *Call) subsequence(sequence, start, end Value) Value {
	switch x := sequence.(type) {
	case *String:
		from, to := c.bounds(start, end, len(x.chars))
		return c.newString(append([]rune(nil), x.chars[from:to]...))
	case *Vector:
		items := c.elements(x)
		from, to := c.bounds(start, end, len(items))
		c.chargeMany(to-from, valueBytes)
		v := newVector(append([]Value(nil), items[from:to]...))
		v.kind = x.kind
		return v
	}
	items := c.elements(sequence)
	from, to := c.bounds(start, end, len(items))
	return c.newList(items[from:to])
}

func reverse(c *Call, a Value) Value {
	switch x := a.(type) {
	case *String:
		chars := c.newString(make([]rune, len(x.chars)))
		for i, r := range x.chars {
			chars.chars[len(x.chars)-1-i] = r
		}
		return chars
	case *Vector:
		items := c.elements(x)
		c.chargeMany(len(items), valueBytes)
		reversed := make([]Value, len(items))
		for i, v := range items {
			reversed[len(items)-1-i] = v
		}
		return &Vector{elements: reversed, capacity: -1, kind: x.kind}
	}
	result := Value(Nil)
	if !isList(a) {
		c.typeError(a, "SEQUENCE")
	}
	for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
		result = c.cons(cell.Car, result)
	}
	return result
}

func isSequence(v Value) bool {
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
		c.work(len(x.chars) / 4)
		slices.Reverse(x.chars)
		return x
	case *Vector:
		slices.Reverse(c.elements(x))
		return x
	}
	if !isList(a) {
		c.typeError(a, "SEQUENCE")
	}
	c.length(a) // a dotted list is an error before anything is changed
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
			x.chars[i] = rune(c.character(v))
			return
		}
	case *Vector:
		if x.dimensions == nil && i < len(x.elements) {
			c.element(x.kind, v)
			x.elements[i] = v
			return
		}
	case *Cons:
		if cell, ok := c.nthcdr(count(i), x).(*Cons); ok {
			cell.Car = v
			return
		}
	default:
		c.typeError(sequence, "SEQUENCE")
	}
	c.badIndex(i, sequence)
}

// badIndex signals that the sequence has no element i.
func (c *Call) badIndex(i int, sequence Value) {
	if isList(sequence) {
		n := c.length(sequence)
		c.outside(i, n, fmt.Sprintf("The index %d is too large for a list of length %d.", i, n))
	}
	c.badSubscript(i, c.length(sequence), sequence)
}

// badSubscript signals that i is no subscript of an array's dimension of limit elements.
func (c *Call) badSubscript(i, limit int, array Value) {
	c.outside(i, limit, fmt.Sprintf("Invalid index %d for %s, should be a non-negative integer below %d.", i, c.shown(c.typeOf(array)), limit))
}

func (c *Call) outside(i, limit int, message string) {
	kind := NewList(standardSymbol("INTEGER"), count(0), NewList(count(limit)))
	c.signalError(c.newCondition(typeErrorClass, message, "DATUM", count(i), "EXPECTED-TYPE", kind))
}

// store writes items into a sequence from index start on.
func (c *Call) store(sequence Value, start int, items []Value) {
	c.work(len(items))
	if cell, ok := sequence.(*Cons); ok {
		tail := c.nthcdr(count(start), cell)
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
	from, to := c.bounds(args.Get("start"), args.Get("end"), c.length(sequence))
	c.work(to - from)
	switch x := sequence.(type) {
	case *String:
		r := rune(c.character(item))
		for i := from; i < to; i++ {
			x.chars[i] = r
		}
	case *Vector:
		c.element(x.kind, item)
		for i := from; i < to; i++ {
			x.elements[i] = item
		}
	default:
		tail := c.nthcdr(count(from), sequence)
		for range to - from {
			cell := c.cell(tail)
			cell.Car, tail = item, cell.Cdr
		}
	}
	return sequence
}

func replaceElements(c *Call, args Args) Value {
	target, sourceArg := args.Get("target"), args.Get("source")

	from1, to1 := c.bounds(args.Get("start1"), args.Get("end1"), c.length(target))
	from2, to2 := c.bounds(args.Get("start2"), args.Get("end2"), c.length(sourceArg))
	n := min(to1-from1, to2-from2)
	x, text := target.(*String)
	if y, both := sourceArg.(*String); text && both {
		c.work(n / 4)
		copy(x.chars[from1:from1+n], y.chars[from2:from2+n])
		return x
	}
	source := c.elements(sourceArg)
	c.chargeMany(n, valueBytes)
	c.store(target, from1, append([]Value(nil), source[from2:from2+n]...))
	return target
}
