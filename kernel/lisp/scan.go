package lisp

import "strings"

// scan is the arguments of the functions that look at the elements of one sequence.
type scan struct {
	*matcher
	sequence Value
	// items are the elements, unless the sequence is a string: then chars are.
	items    []Value
	chars    []rune
	size     int
	from, to int
	fromEnd  bool
	limit    int // :count, -1 without
	// wanted tells whether the element at an index is one that is looked for.
	wanted func(i int) bool
}

// selection is how the three forms of a function choose: item, -if, -if-not.
type selection int

const (
	byItem selection = iota
	byTest
	byTestNot
)

// scan reads the arguments of a function of a family.
func (c *Call) scan(args Args, sense selection) *scan {
	m := c.newMatcher(args.find("test"), args.find("test-not"), args.Get("key"))
	s := c.newScan(args.Get("sequence"), m, args.Get("start"), args.Get("end"), args.Get("from-end"))
	if limit := args.find("count"); Given(limit) {
		if c.Integer(limit).Sign() < 0 {
			s.limit = 0
		} else if n, ok := limit.(int64); ok {
			s.limit = int(n)
		}
	}
	if sense == byItem {
		s.wanted = s.sameAs(args.Get("item"))
		return s
	}
	predicate := c.Function(args.Get("predicate"))
	s.wanted = func(i int) bool { return isTrue(c.Call1(predicate, s.keyed(s.element(i)))) == (sense == byTest) }
	return s
}

func (c *Call) newScan(sequence Value, m *matcher, start, end, fromEnd Value) *scan {
	s := &scan{matcher: m, sequence: sequence, limit: -1, fromEnd: Given(fromEnd)}
	if text, ok := sequence.(*String); ok {
		s.chars, s.size = text.chars, len(text.chars)
	} else {
		s.items = c.Elements(sequence)
		s.size = len(s.items)
	}
	s.from, s.to = c.Bounds(start, end, s.size)
	return s
}

// sameAs is the test for an item. The characters of a string need not be made objects
// for a test that is no function of the note.
func (s *scan) sameAs(item Value) func(i int) bool {
	wanted, ok := item.(Character)
	if fold := s.folding(); ok && s.items == nil && s.key == nil && fold != noFolding {
		chars := s.call.folded(s.chars, fold)
		wanted = Character(s.call.folded([]rune{rune(wanted)}, fold)[0])
		return func(i int) bool {
			s.call.Step()
			return Character(chars[i]) == wanted
		}
	}
	return func(i int) bool { return s.matches(item, s.element(i)) }
}

// folding says how a test compares characters, if that is known.
type folding int

const (
	noFolding   folding = iota // the test may be anything
	sameCase                   // equal characters are the same
	withoutCase                // so they are after changing both to lower case
)

func (m *matcher) folding() folding {
	if m.test == nil {
		return sameCase
	}
	functions := m.call.environment.language.functions
	switch {
	case m.not:
	case m.test == functions[symCharIs] || m.test == functions[symEqual]:
		return sameCase
	case m.test == functions[symCharEqual] || m.test == functions[symEqualp]:
		return withoutCase
	}
	return noFolding
}

// folded is the characters as a test compares them; it may be chars itself.
func (c *Call) folded(chars []rune, fold folding) []rune {
	if fold != withoutCase {
		return chars
	}
	copied := CloneSlice(c, chars)
	MapRunes(copied, Lower)
	return copied
}

var (
	symCharIs    = CL("CHAR=")
	symCharEqual = CL("CHAR-EQUAL")
	symEqual     = CL("EQUAL")
	symEqualp    = CL("EQUALP")
)

func (s *scan) element(i int) Value {
	if s.items == nil {
		return Character(s.chars[i])
	}
	return s.items[i]
}

// find returns the index of the element looked for, -1 if there is none.
func (s *scan) find() int {
	if s.fromEnd {
		for i := s.to - 1; i >= s.from; i-- {
			if s.wanted(i) {
				return i
			}
		}
		return -1
	}
	for i := s.from; i < s.to; i++ {
		if s.wanted(i) {
			return i
		}
	}
	return -1
}

// chosen marks the elements looked for, at most limit of them, and counts them.
func (s *scan) chosen() (marks []bool, n int) {
	s.call.Charge(s.size)
	marks = make([]bool, s.size)
	mark := func(i int) {
		if n != s.limit && s.wanted(i) {
			marks[i] = true
			n++
		}
	}
	if s.fromEnd {
		for i := s.to - 1; i >= s.from; i-- {
			mark(i)
		}
		return marks, n
	}
	for i := s.from; i < s.to; i++ {
		mark(i)
	}
	return marks, n
}

// family makes the rows NAME, NAME-if and NAME-if-not of one operation; before names the
// argument that comes first, if any. That of -if-not says
// "not" of what matches.
func family(name, before, doc string, counts bool, do func(c *Call, s *scan, args Args) Value) []Builtin {
	row := func(name, first string, sense selection) Builtin {
		list := "(" + first + " sequence &key key start end from-end"
		if before != "" {
			list = "(" + before + " " + list[1:]
		}
		if counts {
			list += " count"
		}
		if sense == byItem {
			list += " test test-not"
		}
		said := doc
		if sense == byTestNot {
			said = strings.NewReplacer("that matches", "that does not match", "that match", "that do not match").Replace(doc)
		}
		return Builtin{Name: name, LambdaList: list + ")", Doc: said, Named: func(c *Call, args Args) Value {
			return do(c, c.scan(args, sense), args)
		}}
	}
	return []Builtin{row(name, "item", byItem), row(name+"-if", "predicate", byTest), row(name+"-if-not", "predicate", byTestNot)}
}
