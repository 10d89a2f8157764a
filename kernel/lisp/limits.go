package lisp

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"
	"unsafe"
)

// Limits bound one call. A zero field means its default.
type Limits struct {
	// Steps is the number of function calls, loop rounds and elements a builtin
	// touches. Default 200 million.
	Steps int64
	// Bytes is the sum of all allocations, freed or not. Default 256 MiB.
	Bytes int64
	// Depth is the number of nested forms being evaluated, the bodies of active
	// functions included. Default and most 300,000, for which the Go stack stays
	// below 256 MiB.
	Depth int
	// Output is the number of characters written to streams and printed into
	// strings. Default 8 Mi.
	Output int64
	// Duration is wall time, without the time spent in functions that wait.
	// Default 10 s.
	Duration time.Duration
	// Retained is the number of bytes that a note's variables may hold between calls.
	// It is looked at now and then only. Default 256 MiB.
	Retained int64
}

const maximumDepth = 300_000

func (l Limits) withDefaults() Limits {
	if l.Steps <= 0 {
		l.Steps = 200_000_000
	}
	if l.Bytes <= 0 {
		l.Bytes = 256 << 20
	}
	if l.Depth <= 0 || l.Depth > maximumDepth {
		l.Depth = maximumDepth
	}
	if l.Output <= 0 {
		l.Output = 8 << 20
	}
	if l.Duration <= 0 {
		l.Duration = 10 * time.Second
	}
	if l.Retained <= 0 {
		l.Retained = 256 << 20
	}
	return l
}

// What objects cost, in bytes, roughly as Go allocates them.
const (
	ConsBytes   = 48
	ValueBytes  = 16
	RuneBytes   = 4
	ObjectBytes = 128
	EntryBytes  = 96
	// indexBytes is what a key takes in the index of a hash table, which grows by copying.
	indexBytes = 80
	ratioBytes = 160
)

// budget is what is left of a call's limits.
type budget struct {
	limits   Limits
	steps    int64
	fuel     int // steps until the context is polled
	output   int64
	deadline time.Time
	// bytes are granted and not used yet, ungranted is what can still be granted.
	bytes, ungranted int64
	// depth is how deep the call is nested, deepest how deep it may be until it asks for more.
	depth, deepest int
	// loan is what was taken of the shared memory, nil where the call shares none.
	loan *loan
}

// pollEvery is the number of steps between two looks at the context and the clock.
const pollEvery = 1024

// newBudget is what a call has. All its bytes are granted at once where it shares no memory.
func newBudget(limits Limits, l *loan) budget {
	limits = limits.withDefaults()
	b := budget{
		limits: limits, steps: limits.Steps, fuel: pollEvery, bytes: limits.Bytes, output: limits.Output,
		deadline: time.Now().Add(limits.Duration), deepest: limits.Depth, loan: l,
	}
	if l != nil {
		b.bytes, b.ungranted, b.deepest = 0, limits.Bytes, min(loanLevels, limits.Depth)
	}
	return b
}

// Step accounts for one unit of work.
func (c *Call) Step() {
	c.fuel--
	if c.fuel < 0 {
		c.poll()
	}
}

// Work accounts for n units of work before they are done.
func (c *Call) Work(n int) {
	if n < 0 {
		n = 0
	}
	if n > c.fuel {
		c.steps -= int64(n)
		if c.steps < 0 {
			c.abort(stepsCondition, fmt.Sprintf("the limit of %d steps is exceeded", c.limits.Steps))
		}
		c.poll()
		return
	}
	c.fuel -= n
}

func (c *Call) poll() {
	c.steps -= int64(pollEvery - max(c.fuel, 0))
	c.fuel = pollEvery
	if c.steps < 0 {
		c.abort(stepsCondition, fmt.Sprintf("the limit of %d steps is exceeded", c.limits.Steps))
	}
	if err := c.ctx.Err(); err != nil {
		c.cancelled(err)
	}
	if time.Now().After(c.deadline) {
		c.abort(timeCondition, fmt.Sprintf("the limit of %v is exceeded", c.limits.Duration))
	}
}

func (c *Call) cancelled(err error) {
	if err == context.DeadlineExceeded {
		c.abortWith(timeCondition, "the time the caller allowed is over", err)
	}
	c.abortWith(cancelCondition, "cancelled", err)
}

// Charge accounts for n bytes before they are allocated.
func (c *Call) Charge(n int) {
	if uint64(n) > uint64(c.bytes) { // or n is negative
		c.chargeMore(int64(n))
	}
	c.bytes -= int64(n)
}

// chargeMore gets the bytes that are wanted, or ends the call.
func (c *Call) chargeMore(n int64) {
	if failed := c.grant(n); failed != nil {
		c.end(failed)
	}
}

// chargeAll ends the call: what it wants is more than it has left.
func (c *Call) chargeAll() { c.chargeMore(c.left() + 1) }

// ChargeMany accounts for n objects of the given size; it is safe for absurd n.
func (c *Call) ChargeMany(n, size int) {
	if n < 0 || int64(n) > c.left()/int64(size) {
		c.chargeAll()
	}
	c.Work(n / 8)
	c.Charge(n * size)
}

// ChargeOutput accounts for n characters before they are written. Where they are collected
// charges their bytes.
func (c *Call) ChargeOutput(n int) {
	if n < 0 || int64(n) > c.output {
		c.abort(outputCondition, fmt.Sprintf("the limit of %d characters of output is exceeded", c.limits.Output))
	}
	c.output -= int64(n)
	c.Work(n / 8)
}

// Descend enters n levels of nesting; the caller leaves them by ascend.
func (c *Call) Descend(n int) {
	c.depth += n
	if c.depth > c.deepest {
		c.deepen()
	}
}

// Ascend leaves n levels of nesting.
func (c *Call) Ascend(n int) { c.depth -= n }

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

// cloneSlice copies items for a call.
func cloneSlice[T any](c *Call, items []T) []T {
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

// frameOf makes a frame by which a function made here tells what it holds.
func (c *Call) frameOf(v Value) *frame {
	f := c.newFrame(nil, 1)
	f.slots[0] = v
	return f
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

// CopyRunes makes a string of a copy of characters.
func (c *Call) CopyRunes(chars []rune) *String { return c.StringOf(cloneSlice(c, chars)) }

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
func (b *StringBuilder) WriteString(text string) {
	for _, r := range text {
		b.WriteRune(r)
	}
}

// Value is the string. The builder is not used afterwards.
func (b *StringBuilder) Value() *String { return b.call.StringOf(b.chars) }

// Text is what was collected, as a Go string.
func (b *StringBuilder) Text() string {
	b.call.chargeSlice(len(b.chars), RuneBytes)
	return string(b.chars)
}

// NewVector makes a vector of elements that are charged already; it keeps them.
func (c *Call) NewVector(elements []Value) *Vector {
	return Allocate(c, Vector{elements: elements, capacity: -1})
}
