package lisp

import (
	"math/big"
)

// These methods take a builtin's argument as the Go type it needs, or signal TYPE-ERROR.

func (c *Call) typeError(v Value, expected string) {
	kind := Value(Nil)
	if symbol, ok := standardTable[expected]; ok {
		kind = symbol
	}
	c.signalError(c.newCondition(typeErrorClass, "The value "+c.shown(v)+" is not of type "+expected+".",
		"DATUM", v, "EXPECTED-TYPE", kind))
}

// shown prints a value for a message.
func (c *Call) shown(v Value) string { return sketch(v, formLength) }

// index takes a non-negative integer that fits an int.
func (c *Call) index(v Value) int {
	n, ok := v.(int64)
	if !ok || n < 0 || n > 1<<53 {
		c.typeError(v, "UNSIGNED-BYTE")
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
	return c.index(v)
}

// given reports that a keyword argument is there and true.
func given(v Value) bool { return v != nil && v != Nil }

// fixnum takes an integer that fits 64 bits.
func (c *Call) fixnum(v Value) int64 {
	n, ok := v.(int64)
	if !ok {
		c.typeError(v, "INTEGER")
	}
	return n
}

// integer takes an integer of any size.
func (c *Call) integer(v Value) *big.Int {
	switch x := v.(type) {
	case int64:
		return big.NewInt(x)
	case *big.Int:
		return x
	}
	c.typeError(v, "INTEGER")
	return nil
}

func (c *Call) symbol(v Value) *Symbol {
	symbol, ok := v.(*Symbol)
	if !ok {
		c.typeError(v, "SYMBOL")
	}
	return symbol
}

func (c *Call) character(v Value) Character {
	ch, ok := v.(Character)
	if !ok {
		c.typeError(v, "CHARACTER")
	}
	return ch
}

func (c *Call) str(v Value) *String {
	s, ok := v.(*String)
	if !ok {
		c.typeError(v, "STRING")
	}
	return s
}

func (c *Call) cell(v Value) *Cons {
	cell, ok := v.(*Cons)
	if !ok {
		c.typeError(v, "CONS")
	}
	return cell
}

func (c *Call) hashTable(v Value) *HashTable {
	h, ok := v.(*HashTable)
	if !ok {
		c.typeError(v, "HASH-TABLE")
	}
	return h
}

// chars takes a string designator: a string, a symbol or a character. The result must
// not be changed.
func (c *Call) chars(v Value) []rune {
	switch x := v.(type) {
	case *String:
		return x.chars
	case *Symbol:
		return []rune(x.name)
	case Character:
		return []rune{rune(x)}
	}
	c.typeError(v, "STRING")
	return nil
}

// name takes a string designator as a Go string.
func (c *Call) name(v Value) string {
	if symbol, ok := v.(*Symbol); ok {
		return symbol.name
	}
	return string(c.chars(v))
}

// next takes the next cell of a list, or reports its end; a dotted list is an error.
func (c *Call) next(list Value) (*Cons, bool) {
	switch x := list.(type) {
	case *Cons:
		c.step()
		return x, true
	case *Symbol:
		if x == Nil {
			return nil, false
		}
	}
	c.typeError(list, "LIST")
	return nil, false
}

// slice takes a proper list as a fresh slice. A circular list ends at a limit.
func (c *Call) slice(list Value) []Value {
	var items []Value
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		c.charge(valueBytes)
		items = append(items, cell.Car)
	}
	return items
}

// bounds takes :start and :end values for a sequence of n elements.
func (c *Call) bounds(start, end Value, n int) (from, to int) {
	to = n
	if start != nil {
		from = c.index(start)
	}
	if end != nil && end != Nil {
		to = c.index(end)
	}
	if from > to || to > n {
		c.signalError(c.newCondition(typeErrorClass,
			"The bounding indices "+sketch(Integer(int64(from)), 20)+" and "+sketch(Integer(int64(to)), 20)+
				" are bad for a sequence of length "+sketch(count(n), 20)+".", "DATUM", NewList(count(from), count(to)), "EXPECTED-TYPE", Nil))
	}
	return from, to
}

// optional returns the i-th argument, nil if there are fewer.
func optional(args []Value, i int) Value {
	if i < len(args) {
		return args[i]
	}
	return nil
}
