package lisp

import (
	"math/big"
)

// These methods take a builtin's argument as the Go type it needs, or signal TYPE-ERROR.

func (c *Call) TypeError(v Value, expected string) {
	kind := Value(Nil)
	if symbol, ok := standardTable[expected]; ok {
		kind = symbol
	}
	c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" is not of type "+expected+".",
		"DATUM", v, "EXPECTED-TYPE", kind))
}

// Shown prints a value for a message.
func (c *Call) Shown(v Value) string { return Sketch(v, formLength) }

// Index takes a non-negative integer that fits an int.
func (c *Call) Index(v Value) int {
	n, ok := v.(int64)
	if !ok || n < 0 || n > 1<<53 {
		c.TypeError(v, "UNSIGNED-BYTE")
	}
	return int(n)
}

// amount takes a non-negative integer of any size; what is more than can be counted is
// the most that can.
func (c *Call) amount(v Value) int {
	if n, ok := v.(*big.Int); ok && n.Sign() > 0 {
		return 1 << 53
	}
	if n, ok := v.(int64); ok && n > 1<<53 {
		return 1 << 53
	}
	return c.Index(v)
}

// Given reports that a keyword argument is there and true.
func Given(v Value) bool { return v != nil && v != Nil }

// Fixnum takes an integer that fits 64 bits.
func (c *Call) Fixnum(v Value) int64 {
	n, ok := v.(int64)
	if !ok {
		c.TypeError(v, "INTEGER")
	}
	return n
}

// Integer takes an integer of any size.
func (c *Call) Integer(v Value) *big.Int {
	switch x := v.(type) {
	case int64:
		return big.NewInt(x)
	case *big.Int:
		return x
	}
	c.TypeError(v, "INTEGER")
	return nil
}

func (c *Call) TakeSymbol(v Value) *Symbol {
	symbol, ok := v.(*Symbol)
	if !ok {
		c.TypeError(v, "SYMBOL")
	}
	return symbol
}

func (c *Call) Character(v Value) Character {
	ch, ok := v.(Character)
	if !ok {
		c.TypeError(v, "CHARACTER")
	}
	return ch
}

func (c *Call) TakeString(v Value) *String {
	s, ok := v.(*String)
	if !ok {
		c.TypeError(v, "STRING")
	}
	return s
}

func (c *Call) cell(v Value) *Cons {
	cell, ok := v.(*Cons)
	if !ok {
		c.TypeError(v, "CONS")
	}
	return cell
}

func (c *Call) HashTable(v Value) *HashTable {
	h, ok := v.(*HashTable)
	if !ok {
		c.TypeError(v, "HASH-TABLE")
	}
	return h
}

// Chars takes a string designator: a string, a symbol or a character. The result must
// not be changed.
func (c *Call) Chars(v Value) []rune {
	switch x := v.(type) {
	case *String:
		return x.chars
	case *Symbol:
		return []rune(x.name)
	case Character:
		return []rune{rune(x)}
	}
	c.TypeError(v, "STRING")
	return nil
}

// Name takes a string designator as a Go string.
func (c *Call) Name(v Value) string {
	if symbol, ok := v.(*Symbol); ok {
		return symbol.name
	}
	return string(c.Chars(v))
}

// next takes the next cell of a list, or reports its end; a dotted list is an error.
func (c *Call) next(list Value) (*Cons, bool) {
	switch x := list.(type) {
	case *Cons:
		c.Step()
		return x, true
	case *Symbol:
		if x == Nil {
			return nil, false
		}
	}
	c.TypeError(list, "LIST")
	return nil, false
}

// Slice takes a proper list as a fresh slice. A circular list ends at a limit.
func (c *Call) Slice(list Value) []Value {
	var items []Value
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		items = Append(c, items, cell.Car)
	}
	return items
}

// Bounds takes :start and :end values for a sequence of n elements.
func (c *Call) Bounds(start, end Value, n int) (from, to int) {
	to = n
	if start != nil {
		from = c.Index(start)
	}
	if end != nil && end != Nil {
		to = c.Index(end)
	}
	if from > to || to > n {
		c.signalError(c.newCondition(TypeErrorClass,
			"The bounding indices "+Sketch(Integer(int64(from)), 20)+" and "+Sketch(Integer(int64(to)), 20)+
				" are bad for a sequence of length "+Sketch(Count(n), 20)+".", "DATUM", NewList(Count(from), Count(to)), "EXPECTED-TYPE", Nil))
	}
	return from, to
}

// Optional returns the i-th argument, nil if there are fewer.
func Optional(args []Value, i int) Value {
	if i < len(args) {
		return args[i]
	}
	return nil
}

// OrNil is a keyword argument, nil of Lisp if it was not given.
func OrNil(v Value) Value {
	if v == nil {
		return Nil
	}
	return v
}
