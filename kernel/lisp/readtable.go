package lisp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/plist"
)

// readtable is what *readtable* holds. The syntax of characters is fixed; what a note can
// change is how the reader takes letters, and the printer with it.
type readtable struct {
	letters *Symbol // of readtable-case
}

// standardReadtable is never changed: environments have a copy.
var standardReadtable = &readtable{letters: kwUpcase}

var (
	symReadtable = CL("*READTABLE*")
	kwPreserve   = Keyword("PRESERVE")
	kwInvert     = Keyword("INVERT")
)

// readtableFunctions make and change readtables.
func readtableFunctions() []Builtin {
	return []Builtin{
		{Name: "copy-readtable", LambdaList: "(&optional from to)", Doc: "A copy of a readtable, of the standard one for nil.", Named: func(c *Call, args Args) Value {
			fromArg, toArg := args.Get("from"), args.Get("to")
			from, to := c.readtable(), Allocate(c, readtable{})
			switch {
			case fromArg != nil && fromArg == Nil:
				from = standardReadtable
			case fromArg != nil:
				from = c.readtableArgument(fromArg)
			}
			if Given(toArg) {
				to = c.readtableArgument(toArg)
			}
			*to = *from
			return to
		}},
		{Name: "readtable-case", LambdaList: "(readtable)", Doc: "How letters of symbols are read: :upcase, :downcase, :preserve or :invert.", One: func(c *Call, a Value) Value {
			return c.readtableArgument(a).letters
		}},
	}
}

func setReadtableCase(c *Call, args Args, v Value) {
	table := c.readtableArgument(args.Get("readtable"))
	switch v {
	case kwUpcase, kwDowncase, kwPreserve, kwInvert:
		table.letters = v.(*Symbol)
	default:
		c.TypeError(v, "(MEMBER :UPCASE :DOWNCASE :PRESERVE :INVERT)")
	}
}

func (c *Call) readtableArgument(v Value) *readtable {
	table, ok := v.(*readtable)
	if !ok {
		c.TypeError(v, "READTABLE")
	}
	return table
}

// readtable is the current one.
func (c *Call) readtable() *readtable {
	switch v := c.touched(symReadtable).(type) {
	case *readtable:
		return v
	case nil:
		return standardReadtable
	default:
		return c.readtableArgument(v)
	}
}

// symbolParts is [plist.SymbolParts] for a readtable that does not raise letters.
func (t *readtable) symbolParts(text string, escaped bool) (pkg string, colons int, name string) {
	if t.letters == kwUpcase {
		return plist.SymbolParts(text, escaped)
	}
	var part tokenPart
	bar := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			part.add(text[i], true)
		case c == '|':
			bar = !bar
		case c == ':' && !bar && colons == 0:
			pkg, colons = part.folded(t.letters), 1
			part = tokenPart{}
			if i+1 < len(text) && text[i+1] == ':' {
				colons, i = 2, i+1
			}
		default:
			part.add(c, bar)
		}
	}
	return pkg, colons, part.folded(t.letters)
}

// tokenPart collects a name; taken tells the bytes that are as written.
type tokenPart struct {
	name  []byte
	taken []bool
}

func (p *tokenPart) add(c byte, escaped bool) {
	p.name, p.taken = append(p.name, c), append(p.taken, escaped)
}

// folded is the name with its letters as readtable-case has them.
func (p *tokenPart) folded(letters *Symbol) string {
	upper, lower := false, false
	for i, c := range p.name {
		if !p.taken[i] {
			upper = upper || 'A' <= c && c <= 'Z'
			lower = lower || 'a' <= c && c <= 'z'
		}
	}
	if letters == kwPreserve || letters == kwInvert && upper && lower {
		return string(p.name)
	}
	for i, c := range p.name {
		switch {
		case p.taken[i]:
		case 'A' <= c && c <= 'Z':
			p.name[i] += 'a' - 'A'
		case letters == kwInvert && 'a' <= c && c <= 'z':
			p.name[i] -= 'a' - 'A'
		}
	}
	return string(p.name)
}

// changesCase reports that the reader would not take a letter as it is.
func changesCase(r rune, reading *Symbol) bool {
	switch reading {
	case kwUpcase:
		return unicode.IsLower(r) && unicode.ToUpper(r) != r
	case kwDowncase:
		return unicode.IsUpper(r) && unicode.ToLower(r) != r
	}
	return false
}

// cased writes the letters of a name as *print-case* and the readtable say.
func (p *printer) cased(name string) string {
	switch p.reading {
	case kwPreserve:
		return name
	case kwInvert:
		return inverted(name)
	case kwDowncase:
		// What the reader lowers stands for either case.
		switch p.letters {
		case kwUpcase:
			return strings.Map(func(r rune) rune { return Upper(r) }, name)
		case kwDowncase:
			return name
		}
		return capitalized(name, unicode.IsLower, Upper, func(r rune) rune { return r })
	}
	switch p.letters {
	case kwDowncase:
		return strings.Map(func(r rune) rune { return Lower(r) }, name)
	case kwCapitalize:
		return capitalized(name, unicode.IsUpper, func(r rune) rune { return r }, Lower)
	}
	return name
}

// capitalized changes the first letter of each word and the other ones, as far as they
// are of the case that is meant.
func capitalized(name string, meant func(rune) bool, first, other func(rune) rune) string {
	inside := false
	return strings.Map(func(r rune) rune {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		begins := word && !inside
		inside = word
		switch {
		case !meant(r):
			return r
		case begins:
			return first(r)
		}
		return other(r)
	}, name)
}

// inverted swaps the case of a name that has letters of one case only.
func inverted(name string) string {
	switch {
	case strings.ToUpper(name) == name:
		return strings.ToLower(name)
	case strings.ToLower(name) == name:
		return strings.ToUpper(name)
	}
	return name
}

// placeholder stands for an object that #n= names until it is read whole.
type placeholder struct{ value Value }

// Label begins the object that #n= names.
func (r *reader) Label(_ plist.Position, number int) error {
	if r.labels == nil {
		r.labels = map[int]*placeholder{}
	}
	if r.labels[number] != nil {
		return fmt.Errorf("the label #%d= is used twice", number)
	}
	if err := r.charge(EntryBytes); err != nil {
		return err
	}
	r.labels[number] = &placeholder{}
	return nil
}

// Reference is the object that a label named, or what stands for it until then.
func (r *reader) Reference(_ plist.Position, number int) (Value, error) {
	p := r.labels[number]
	switch {
	case p == nil:
		return nil, fmt.Errorf("the label #%d= is not there", number)
	case p.value == nil:
		r.forward = true
		return p, nil
	}
	return p.value, nil
}

// Bits is #*1011: with a number as many bits, of which the last given one fills the rest.
func (r *reader) Bits(_ plist.Position, number int, digits string) (Value, error) {
	n := len(digits)
	if number >= 0 {
		if n > number || n == 0 && number > 0 {
			return nil, errors.New("#* has more digits than its length, or none to fill it with")
		}
		n = number
	}
	if err := r.charge(n*elementBytes + ObjectBytes); err != nil {
		return nil, err
	}
	v := NewVector(make([]Value, n))
	v.kind = bitElements
	for i := range v.elements {
		v.elements[i] = Integer(int64(digits[min(i, len(digits)-1)] - '0'))
	}
	return v, nil
}

// Dispatch makes the objects that are written as # and another form.
func (r *reader) Dispatch(_ plist.Position, number int, char byte, v Value) (Value, error) {
	switch char {
	case '=':
		return v, r.resolveLabel(number, v)
	case '(':
		return r.filledVector(number, v)
	case 'A':
		return r.array(number, v)
	case 'S':
		return r.structure(v)
	}
	return r.complex(v)
}

// resolveLabel puts the object in all places that referred to it while it was read.
func (r *reader) resolveLabel(number int, v Value) error {
	p := r.labels[number]
	if v == Value(p) {
		return fmt.Errorf("the label #%d= names itself", number)
	}
	p.value = v
	if !r.forward {
		return nil
	}
	seen := map[Value]bool{}
	pending := []Value{v}
	replace := func(place *Value) {
		if *place == Value(p) {
			*place = v
		} else if _, ok := (*place).(*Symbol); !ok {
			pending = append(pending, *place)
		}
	}
	for len(pending) > 0 {
		next := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		switch next.(type) {
		case *Cons, *Vector, *Instance:
		default:
			continue
		}
		if seen[next] {
			continue
		}
		if err := r.charge(EntryBytes); err != nil {
			return err
		}
		seen[next] = true
		switch x := next.(type) {
		case *Cons:
			replace(&x.Car)
			replace(&x.Cdr)
		case *Vector:
			for i := range x.elements {
				replace(&x.elements[i])
			}
		case *Instance:
			for i := range x.slots {
				if x.slots[i] != nil {
					replace(&x.slots[i])
				}
			}
		}
	}
	return nil
}

// filledVector is #5(a b): the last element fills the rest.
func (r *reader) filledVector(number int, v Value) (Value, error) {
	items, ok := Slice(v, sourceAtoms)
	if !ok || len(items) > number || len(items) == 0 && number > 0 {
		return nil, errors.New("#( has more elements than its length, or none to fill it with")
	}
	if err := r.charge(number*elementBytes + ObjectBytes + len(items)*3*ValueBytes); err != nil {
		return nil, err
	}
	items = slices.Grow(items, number-len(items))
	for len(items) < number {
		items = append(items, items[len(items)-1])
	}
	return NewVector(items), nil
}

// array is #nA and nested lists.
func (r *reader) array(rank int, v Value) (Value, error) {
	if rank < 0 || rank > 64 {
		return nil, errors.New("#A needs a rank, as in #2A((1 2) (3 4))")
	}
	dimensions := make([]int, 0, rank)
	level := []Value{v}
	for range rank {
		var next []Value
		size := -1
		for _, item := range level {
			elements, ok := r.sequenceItems(item)
			if !ok || size >= 0 && len(elements) != size {
				return nil, fmt.Errorf("#%dA has contents of another shape", rank)
			}
			size = len(elements)
			next = append(next, elements...)
		}
		if err := r.charge(len(next) * (elementBytes + 2*ValueBytes)); err != nil {
			return nil, err
		}
		dimensions = append(dimensions, max(size, 0))
		level = next
	}
	if rank == 1 {
		return NewVector(level), nil
	}
	a := NewVector(level)
	a.dimensions = dimensions
	return a, nil
}

func (r *reader) sequenceItems(v Value) ([]Value, bool) {
	switch x := v.(type) {
	case *Vector:
		return x.elements, x.dimensions == nil
	case *String:
		items := make([]Value, len(x.chars))
		for i, ch := range x.chars {
			items[i] = Character(ch)
		}
		return items, true
	}
	return Slice(v, sourceAtoms)
}

// structure is #S(name slot value …), made by the structure's constructor.
func (r *reader) structure(v Value) (object Value, err error) {
	items, ok := Slice(v, sourceAtoms)
	if !ok || len(items) == 0 {
		return nil, errors.New("#S wants the name of a structure and its slots")
	}
	name, ok := items[0].(*Symbol)
	class := (*Class)(nil)
	if ok {
		class = r.call.environment.class(name)
	}
	if class == nil || class.kind != structureClass {
		return nil, fmt.Errorf("#S: %s is no structure", Sketch(items[0], 40))
	}
	for i := 1; i < len(items); i += 2 {
		if slot, ok := items[i].(*Symbol); ok {
			items[i] = r.call.Keyword(slot.name)
		}
	}
	constructor, ok := r.call.CurrentPackage().Find("MAKE-" + name.name)
	if !ok {
		return nil, fmt.Errorf("#S: %s has no constructor", name.name)
	}
	object, err = r.call.Apply(constructor, items[1:]...)
	var failed *Error
	if errors.As(err, &failed) && !failed.Limit() {
		err = &Error{Class: failed.Class, Message: "#S: " + failed.Message}
	}
	return object, err
}

// complex is #C(real imaginary).
func (r *reader) complex(v Value) (Value, error) {
	parts, ok := Slice(v, 3)
	if !ok || len(parts) != 2 {
		return nil, errors.New("#C wants a list of two real numbers, as in #C(1 2)")
	}
	for _, part := range parts {
		if k := kindOf(part); k == notNumber || k == complexKind {
			return nil, fmt.Errorf("#C: %s is not a real number", Sketch(part, 40))
		}
	}
	return r.call.Apply(symComplex, parts...)
}
