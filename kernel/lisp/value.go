package lisp

import (
	"math/big"
	"unicode/utf8"
)

// Value is any Lisp object: *Symbol, *Cons, int64, *big.Int (only outside the range of
// int64), *big.Rat (never an integer), float32, float64, *Complex, Character, *String, *Vector,
// *HashTable, *Function, *Instance, *Class, *Package, *Stream, *Pathname or
// an Object of a library. A Go nil is never a Value; the empty list is Nil.
type Value = any

// Character is a Lisp character: one Unicode code point.
type Character rune

// Cons is a pair. Conses made by the reader carry the position of their opening
// parenthesis; all others have line 0.
type Cons struct {
	Car, Cdr     Value
	line, column int32
	counted      uint32 // by the census of that number
}

// String is a mutable Lisp string. Its characters are code points.
type String struct {
	chars []rune
	// capacity is the allocated size of a string with a fill pointer, -1 without one;
	// chars are then the part in use of storage that is at least that large.
	capacity int
	// header is nil for a string that is neither adjustable nor displaced.
	header *arrayHeader
}

// NewString returns a Lisp string with the code points of text.
func NewString(text string) *String {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return StringOf([]rune(text))
		}
	}
	chars := make([]rune, len(text))
	for i := range chars {
		chars[i] = rune(text[i])
	}
	return StringOf(chars)
}

// StringOf is a Lisp string of characters, which it keeps. That of a call is charged: see [Call.StringOf].
func StringOf(chars []rune) *String { return &String{chars: chars, capacity: -1} }

// String returns the text as a Go string. It is for messages: [Call.GoText] charges for it.
func (s *String) String() string { return string(s.chars) }

// is compares with a short text.
func (s *String) is(text string) bool { return len(s.chars) == len(text) && string(s.chars) == text }

// all is the characters without regard to the fill pointer.
func (s *String) all() []rune { return s.chars[:max(len(s.chars), s.capacity)] }

// Vector is a Lisp array of any rank whose elements are Values, row-major.
type Vector struct {
	elements []Value
	// dimensions is nil for rank 1, where the length is len(elements).
	dimensions []int
	// capacity is the allocated size of a vector with a fill pointer, -1 without one;
	// elements are then the part in use of storage that is at least that large.
	capacity int
	// kind is nil when the elements can be anything.
	kind *elementType
	// header is nil for an array that is neither adjustable nor displaced.
	header *arrayHeader
}

// NewVector is a vector of elements, which it keeps. That of a call is charged: see [Call.NewVector].
func NewVector(elements []Value) *Vector { return &Vector{elements: elements, capacity: -1} }

// all is the elements without regard to the fill pointer.
func (v *Vector) all() []Value { return v.elements[:max(len(v.elements), v.capacity)] }

func (v *Vector) bits() bool { return v.kind == bitElements && v.dimensions == nil }

// arrayHeader is what only an array made adjustable or displaced has. A displaced array
// shares the storage that its target had when it was displaced.
type arrayHeader struct {
	target Value // nil if it is not displaced
	offset int
}

// The constants every Lisp form can name.
var (
	Nil = CL("NIL")
	T   = CL("T")
)

const (
	smallest = -1024
	largest  = 4095
)

// boxed holds the integers that occur most, so that arithmetic on them allocates nothing.
var boxed = func() (table [largest - smallest + 1]Value) {
	for i := range table {
		table[i] = int64(i + smallest)
	}
	return table
}()

// Integer returns n as a Value.
func Integer(n int64) Value {
	if n >= smallest && n <= largest {
		return boxed[n-smallest]
	}
	return n
}

// Count is a length as a Value.
func Count(n int) Value { return Integer(int64(n)) }

// Boolean returns T or Nil.
func Boolean(b bool) Value {
	if b {
		return T
	}
	return Nil
}

// NewList returns a fresh proper list of items.
func NewList(items ...Value) Value { return listStar(items, Nil) }

// listStar returns items consed onto tail.
func listStar(items []Value, tail Value) Value {
	for i := len(items) - 1; i >= 0; i-- {
		tail = &Cons{Car: items[i], Cdr: tail}
	}
	return tail
}

// Slice returns the elements of a proper list, and whether it is one. It reads at most
// limit conses, so that a circular list is reported as improper rather than followed
// for ever.
func Slice(list Value, limit int) ([]Value, bool) {
	n := 0
	for rest := list; n < limit; n++ {
		cell, ok := rest.(*Cons)
		if !ok {
			break
		}
		rest = cell.Cdr
	}
	items := make([]Value, n)
	for i := range items {
		cell := list.(*Cons)
		items[i], list = cell.Car, cell.Cdr
	}
	return items, list == Nil
}

func isTrue(v Value) bool { return v != Nil }

// eql is the identity of the standard: numbers and characters by type and value, all
// else by address.
func eql(a, b Value) bool {
	switch x := a.(type) {
	case int64, float32, Character:
		return sameNumber(a, b)
	case float64:
		return sameNumber(x, b)
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case *big.Rat:
		y, ok := b.(*big.Rat)
		return ok && x.Cmp(y) == 0
	case *Complex:
		y, ok := b.(*Complex)
		return ok && eql(x.real, y.real) && eql(x.imaginary, y.imaginary)
	}
	return a == b
}

// sameNumber compares immediate numbers; zeros of different sign differ and a NaN is
// itself, as EQL demands.
func sameNumber(a, b Value) bool {
	switch x := a.(type) {
	case float32:
		y, ok := b.(float32)
		return ok && float32Bits(x) == float32Bits(y)
	case float64:
		y, ok := b.(float64)
		return ok && float64Bits(x) == float64Bits(y)
	}
	return a == b
}
