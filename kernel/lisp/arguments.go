package lisp

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strings"
)

// parameters is the lambda list of a builtin, read once from the text in its row.
type parameters struct {
	// names are the required, optional and keyword parameters, in the order of the list.
	names []string
	// required and positional are the number of required parameters, and of these and
	// the optional ones.
	required, positional int
	// keys are the keywords of the names from positional on.
	keys []*Symbol
	// rest says that there is a &rest or &body parameter, open that any keyword is allowed.
	rest, open bool
}

// least and most are the numbers of arguments allowed; most is -1 when there is no limit.
func (p *parameters) least() int { return p.required }

func (p *parameters) most() int {
	if p.rest || p.open || len(p.keys) > 0 {
		return -1
	}
	return p.positional
}

// parseParameters reads a lambda list given as text. A parameter may be a list, of which
// the first name counts.
func parseParameters(list string) (*parameters, error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(list), "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("the lambda list %q is not in parentheses", list)
	}
	p, section, depth, named := &parameters{}, "", 0, false
	for inner = strings.TrimSpace(inner); inner != ""; inner = strings.TrimLeft(inner, " ") {
		word := parameterWord(inner)
		inner = inner[len(word):]
		switch {
		case word == "(":
			if depth++; depth == 1 {
				named = false
			}
		case word == ")":
			if depth--; depth < 0 {
				return nil, fmt.Errorf("the lambda list %q is not balanced", list)
			}
			if depth == 0 && !named { // a pattern of nothing
				p.add(section, "")
			}
		case depth > 0:
			if !named {
				p.add(section, word)
			}
			named = true
		case word[0] == '&':
			section = word
			p.rest = p.rest || word == "&rest" || word == "&body"
			p.open = p.open || word == "&allow-other-keys"
		default:
			p.add(section, word)
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("the lambda list %q is not balanced", list)
	}
	return p, nil
}

func (p *parameters) add(section, name string) {
	switch section {
	case "":
		p.required++
		p.positional++
	case "&optional":
		p.positional++
	case "&key":
		p.keys = append(p.keys, Keyword(strings.ToUpper(name)))
	default:
		return
	}
	p.names = append(p.names, name)
}

// parameterWord is the parenthesis or name that text begins with.
func parameterWord(text string) string {
	if i := strings.IndexAny(text, " ()"); i > 0 {
		return text[:i]
	} else if i == 0 {
		return text[:1]
	}
	return text
}

// Args are the arguments of one call of a builtin, bound by the lambda list of its row.
// They are dead when the builtin returns.
type Args struct {
	parameters *parameters
	values     []Value
}

// Get returns the argument for a required, optional or keyword parameter, by its name in
// the row's lambda list; nil if it was not given. A name that is not in the list is a
// mistake in the builtin and panics.
func (a Args) Get(name string) Value {
	for i, known := range a.parameters.names {
		if known == name {
			return a.values[i]
		}
	}
	panic("lisp: there is no parameter " + name)
}

// At returns the i-th required or optional argument, nil if it was not given.
func (a Args) At(i int) Value { return a.values[i] }

// True reports whether an argument was given and is not nil.
func (a Args) True(name string) bool { return Given(a.Get(name)) }

// find is Get for a name that may not be in the list.
func (a Args) find(name string) Value {
	if slices.Contains(a.parameters.names, name) {
		return a.Get(name)
	}
	return nil
}

// bound binds the arguments of a call, whose number is right. They lie on the call's
// stack, which the caller takes back.
func (c *Call) bound(p *parameters, args []Value) Args {
	base := len(c.stack)
	positional := min(len(args), p.positional)
	c.stack = append(c.stack, args[:positional]...)
	for range len(p.names) - positional {
		c.stack = append(c.stack, nil)
	}
	c.stackGrew()
	bound := Args{p, c.stack[base:len(c.stack):len(c.stack)]}
	if len(args) > positional {
		c.bindKeys(p, bound.values[p.positional:], args[positional:])
	}
	return bound
}

// bindKeys puts keyword arguments where they belong. Of two for the same parameter the
// first counts.
func (c *Call) bindKeys(p *parameters, values, args []Value) {
	if len(args)%2 != 0 {
		c.Fail(ProgramError, "odd number of keyword arguments")
	}
	var allowed, unknown Value
	for i := 0; i < len(args); i += 2 {
		key, _ := args[i].(*Symbol)
		switch at := slices.Index(p.keys, key); {
		case key != nil && at >= 0:
			if values[at] == nil {
				values[at] = args[i+1]
			}
		case key != kwAllowOtherKeys:
			if unknown == nil {
				unknown = args[i]
			}
		case allowed == nil:
			allowed = args[i+1]
		}
	}
	if unknown != nil && !Given(allowed) {
		c.Fail(ProgramError, "unknown keyword argument %s", Sketch(unknown, formLength))
	}
}

// These methods take a builtin's argument as the Go type it needs, or signal TYPE-ERROR.

// TypeError signals that a value is not of the type expected, as "LIST". It does not return.
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

// TakeSymbol takes a symbol.
func (c *Call) TakeSymbol(v Value) *Symbol {
	symbol, ok := v.(*Symbol)
	if !ok {
		c.TypeError(v, "SYMBOL")
	}
	return symbol
}

// Character takes a character.
func (c *Call) Character(v Value) Character {
	ch, ok := v.(Character)
	if !ok {
		c.TypeError(v, "CHARACTER")
	}
	return ch
}

// TakeString takes a string.
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

// HashTable takes a hash table.
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
		return c.codePoints(x.name)
	case Character:
		chars := MakeSlice[rune](c, 1)
		chars[0] = rune(x)
		return chars
	}
	c.TypeError(v, "STRING")
	return nil
}

// Name takes a string designator as a Go string.
func (c *Call) Name(v Value) string {
	if symbol, ok := v.(*Symbol); ok {
		return symbol.name
	}
	return c.GoText(c.Chars(v))
}

// TakeText takes a string as a Go string.
func (c *Call) TakeText(v Value) string { return c.GoText(c.TakeString(v).chars) }

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

// Cells are the conses of a list, up to its end or to an atom. Each is a step.
func (c *Call) Cells(list Value) iter.Seq[*Cons] {
	return func(yield func(*Cons) bool) {
		for cell, ok := list.(*Cons); ok; cell, ok = cell.Cdr.(*Cons) {
			if c.Step(); !yield(cell) {
				return
			}
		}
	}
}

// Rounds counts from 0 to n. Each round is a step.
func (c *Call) Rounds(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if c.Step(); !yield(i) {
				return
			}
		}
	}
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
