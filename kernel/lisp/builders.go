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
		items = reallocate(c, items, n)
	}
	return append(items, more...)
}

// reallocate copies items to an array with room for at least n.
func reallocate[T any](c *Call, items []T, n int) []T {
	grown := make([]T, len(items), c.chargeSlice(max(n, 2*cap(items), 4), sizeOf[T]()))
	copy(grown, items)
	return grown
}

// stackGrew accounts for what the stack of arguments has grown by. It is called wherever arguments are put
// on the stack. Where their evaluation can nest it is called before, so that each nested call charges
// what those around it have put there. The stack never shrinks.
func (c *Call) stackGrew() {
	if cap(c.stack) > int(c.room) {
		c.chargeStack()
	}
}

func (c *Call) chargeStack() {
	c.ChargeMany(cap(c.stack), ValueBytes)
	c.room = int32(cap(c.stack))
}

// MakeSlice is make for a call.
func MakeSlice[T any](c *Call, n int) []T { return make([]T, c.chargeSlice(n, sizeOf[T]())) }

// Clone copies items for a call.
func Clone[T any](c *Call, items []T) []T { return Concat(c, items) }

// Concat joins items in a new slice for a call.
func Concat[T any](c *Call, parts ...[]T) []T {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	joined := MakeSlice[T](c, n)[:0]
	for _, part := range parts {
		joined = append(joined, part...)
	}
	return joined
}

// Allocate makes an object for a call.
func Allocate[T any](c *Call, object T) *T {
	c.Charge(sizeOf[T]() + allocationBytes)
	return &object
}

// newFrame makes a frame that something may hold.
func (c *Call) newFrame(parent *frame, slots int) *frame {
	c.Charge(sizeOf[frame]() + max(slots, 2)*ValueBytes + allocationBytes)
	return newFrame(parent, slots)
}

// heavyFrame makes the frame of a function's call that is large or may be held by closures. Others
// are garbage when the function returns and are not charged; and so is a large one, but it takes time,
// and room while the function runs (see lambda.weight).
func (c *Call) heavyFrame(parent *frame, l *layout) *frame {
	if l.captured {
		return c.newFrame(parent, l.slots)
	}
	c.Work(l.slots / smallFrame)
	return newFrame(parent, l.slots)
}

// smallFrame is the number of slots that a frame has without further ado.
const smallFrame = 8

// frameOf makes a frame by which a function made here tells what it holds.
func (c *Call) frameOf(v Value) *frame {
	f := c.newFrame(nil, 1)
	f.slots[0] = v
	return f
}

// Insert puts an entry into a map for a call.
func Insert[K comparable, V any](c *Call, entries map[K]V, key K, v V) {
	if _, ok := entries[key]; !ok {
		c.Charge(EntryBytes)
	}
	entries[key] = v
}

// Intern is [Package.Intern] for a call.
func (c *Call) Intern(p *Package, name string, keep bool) (symbol *Symbol, made bool) {
	if symbol, made = p.Intern(name, keep); made {
		c.Charge(symbolBytes + len(name))
	}
	return symbol, made
}

// newSymbol makes a symbol that is in no package.
func (c *Call) newSymbol(name string) *Symbol {
	c.Charge(len(name))
	return Allocate(c, Symbol{name: name})
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
func (c *Call) NewList(items []Value) Value { return c.listStar(items, Nil) }

// listStar makes a list of items that ends with tail.
func (c *Call) listStar(items []Value, tail Value) Value {
	c.ChargeMany(len(items), ConsBytes)
	return listStar(items, tail)
}

// CopyRunes makes a string of a copy of characters.
func (c *Call) CopyRunes(chars []rune) *String { return c.StringOf(Clone(c, chars)) }

// StringOf makes a string of characters that are charged already; it keeps them.
func (c *Call) StringOf(chars []rune) *String {
	return Allocate(c, String{chars: chars, capacity: -1})
}

// Text makes a string of the code points of text.
func (c *Call) Text(text string) *String { return c.StringOf(c.codePoints(text)) }

// codePoints are those of a text, in a new slice.
func (c *Call) codePoints(text string) []rune {
	chars := MakeSlice[rune](c, utf8.RuneCountInString(text))[:0]
	for _, r := range text {
		chars = append(chars, r)
	}
	return chars
}

// GoText is characters as a Go string.
func (c *Call) GoText(chars []rune) string {
	n := 0
	for _, r := range chars {
		n += max(utf8.RuneLen(r), 1)
	}
	c.Work(len(chars) / 8)
	c.Charge(n + allocationBytes)
	return string(chars)
}

// StringBuilder collects the characters of a string, which are charged to a call.
type StringBuilder struct {
	call  *Call
	chars []rune
}

// NewStringBuilder returns an empty one.
func NewStringBuilder(c *Call) StringBuilder { return StringBuilder{call: c} }

// WriteRune adds a character.
func (b *StringBuilder) WriteRune(r rune) { b.chars = Append(b.call, b.chars, r) }

// WriteRunes adds characters, which it copies.
func (b *StringBuilder) WriteRunes(chars []rune) {
	b.call.Work(len(chars) / 8)
	b.chars = Append(b.call, b.chars, chars...)
}

// WriteString adds the code points of a text.
func (b *StringBuilder) WriteString(text string) { b.chars = appendText(b.call, b.chars, text) }

// appendText is Append for the code points of a text.
func appendText(c *Call, chars []rune, text string) []rune {
	if n := len(chars) + utf8.RuneCountInString(text); n > cap(chars) {
		chars = reallocate(c, chars, n)
	}
	for _, r := range text {
		chars = append(chars, r)
	}
	return chars
}

// Value is the string. The builder is not used afterwards.
func (b *StringBuilder) Value() *String { return b.call.StringOf(b.chars) }

// Text is what was collected, as a Go string.
func (b *StringBuilder) Text() string {
	return b.call.GoText(b.chars)
}

// NewVector makes a vector of elements that are charged already; it keeps them. The numbers that
// they may be set to take room of their own, which is charged here.
func (c *Call) NewVector(elements []Value) *Vector {
	c.Charge(len(elements) * numberBytes)
	return Allocate(c, Vector{elements: elements, capacity: -1})
}
