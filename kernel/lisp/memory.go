package lisp

import (
	"unicode/utf8"
	"unsafe"
)

// What a call allocates is charged to it here, where slices grow and objects are made, by what
// Go really allocates. So the limit of bytes bounds what the call can have in use, garbage
// included. An array that grows is charged each time it is made anew.

// Append is append for what a call collects.
func Append[T any](c *Call, items []T, more ...T) []T {
	if n := len(items) + len(more); n > cap(items) {
		grown := make([]T, len(items), c.chargeSlice(max(n, 2*cap(items), 4), sizeOf[T]()))
		copy(grown, items)
		items = grown
	}
	return append(items, more...)
}

// MakeSlice is make for a call.
func MakeSlice[T any](c *Call, n int) []T { return make([]T, c.chargeSlice(n, sizeOf[T]())) }

// CloneSlice copies items for a call.
func CloneSlice[T any](c *Call, items []T) []T {
	own := MakeSlice[T](c, len(items))
	copy(own, items)
	return own
}

// Allocate makes an object for a call.
func Allocate[T any](c *Call, object T) *T {
	c.Charge(sizeOf[T]() + allocationBytes)
	return &object
}

// newFrame makes a frame that is not of a function's call.
func (c *Call) newFrame(parent *frame, slots int) *frame {
	c.Charge(sizeOf[frame]() + max(slots, 2)*ValueBytes + allocationBytes)
	return newFrame(parent, slots)
}

func sizeOf[T any]() int {
	var none T
	return int(unsafe.Sizeof(none))
}

// allocationBytes is what an object takes beside its parts, as sizes are rounded.
const allocationBytes = 8

// chargeSlice accounts for an array of n elements, and returns n.
func (c *Call) chargeSlice(n, size int) int {
	c.ChargeMany(n, size)
	c.Charge(allocationBytes)
	return n
}

// ListBuilder grows a list at its end. The zero one is for lists that belong to no call, or
// are charged otherwise.
type ListBuilder struct {
	call  *Call
	first Value
	last  *Cons
}

// NewListBuilder returns an empty one whose conses are charged to a call.
func NewListBuilder(c *Call) ListBuilder { return ListBuilder{call: c} }

// Add adds an element.
func (b *ListBuilder) Add(v Value) {
	if b.call != nil {
		b.call.Charge(ConsBytes)
	}
	cell := &Cons{Car: v, Cdr: Nil}
	if b.last == nil {
		b.first = cell
	} else {
		b.last.Cdr = cell
	}
	b.last = cell
}

// List returns the list.
func (b *ListBuilder) List() Value { return b.listStar(Nil) }

// listStar ends the list with tail.
func (b *ListBuilder) listStar(tail Value) Value {
	if b.last == nil {
		return tail
	}
	b.last.Cdr = tail
	return b.first
}

// Cons makes a pair.
func (c *Call) Cons(car, cdr Value) *Cons {
	c.Charge(ConsBytes)
	return &Cons{Car: car, Cdr: cdr}
}

// NewList makes a list of items.
func (c *Call) NewList(items []Value) Value {
	c.ChargeMany(len(items), ConsBytes)
	return listStar(items, Nil)
}

// NewString makes a string of new characters, which it charges and keeps.
func (c *Call) NewString(chars []rune) *String {
	c.chargeSlice(len(chars), RuneBytes)
	return c.StringOf(chars)
}

// StringOf makes a string of characters that are charged already; it keeps them.
func (c *Call) StringOf(chars []rune) *String {
	return Allocate(c, String{chars: chars, capacity: -1})
}

// Text makes a string of the code points of text.
func (c *Call) Text(text string) *String {
	chars := MakeSlice[rune](c, utf8.RuneCountInString(text))[:0]
	for _, r := range text {
		chars = append(chars, r)
	}
	return c.StringOf(chars)
}

// NewVector makes a vector of elements that are charged already; it keeps them.
func (c *Call) NewVector(elements []Value) *Vector {
	return Allocate(c, Vector{elements: elements, capacity: -1})
}
