package lisp

import (
	"strings"
)

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
	copied := Clone(c, chars)
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
	marks = MakeSlice[bool](s.call, s.size)
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

// searchFunctions look for elements and parts.
func searchFunctions() []Builtin {
	var rows []Builtin
	rows = append(rows, family("find", "", "The element that matches, or nil.", false, func(c *Call, s *scan, _ Args) Value {
		if i := s.find(); i >= 0 {
			return s.element(i)
		}
		return Nil
	})...)
	rows = append(rows, family("position", "", "The index of the element that matches, or nil.", false, func(c *Call, s *scan, _ Args) Value {
		if i := s.find(); i >= 0 {
			return Count(i)
		}
		return Nil
	})...)
	rows = append(rows, family("count", "", "The number of elements that match.", false, func(c *Call, s *scan, _ Args) Value {
		_, n := s.chosen()
		return Count(n)
	})...)
	const keywords = " &key test test-not key start1 end1 start2 end2 from-end)"
	return append(rows,
		Builtin{Name: "search", LambdaList: "(part sequence" + keywords, Doc: "The index where part begins in sequence, or nil.", Named: searchPart},
		Builtin{Name: "mismatch", LambdaList: "(a b" + keywords, Doc: "The index where two sequences begin to differ, or nil.", Named: mismatch},
	)
}

// pairScan is the arguments of the functions that compare two sequences.
type pairScan struct {
	size1, size2     int
	offset1, offset2 int
	fromEnd          bool
	// equal compares two elements, counted from the offsets.
	equal func(i, j int) bool
}

// pairScan reads the arguments of a function of the sequences a and b.
func (c *Call) pairScan(args Args, a, b string) *pairScan {
	m := c.matcher(args)
	p := &pairScan{fromEnd: args.True("from-end")}
	x := c.newScan(args.Get(a), m, args.Get("start1"), args.Get("end1"), Nil)
	y := c.newScan(args.Get(b), m, args.Get("start2"), args.Get("end2"), Nil)
	p.offset1, p.size1, p.offset2, p.size2 = x.from, x.to-x.from, y.from, y.to-y.from
	p.equal = func(i, j int) bool { return m.same(m.keyed(x.element(x.from+i)), m.keyed(y.element(y.from+j))) }
	if fold := m.folding(); x.items == nil && y.items == nil && m.key == nil && fold != noFolding {
		a, b := c.folded(x.chars[x.from:x.to], fold), c.folded(y.chars[y.from:y.to], fold)
		p.equal = func(i, j int) bool { return a[i] == b[j] }
	}
	return p
}

// matchesAt reports that all of the first sequence is found in the second at j.
func (p *pairScan) matchesAt(c *Call, j int) bool {
	for i := range c.Rounds(p.size1) {
		if !p.equal(i, i+j) {
			return false
		}
	}
	return true
}

func searchPart(c *Call, args Args) Value {
	p := c.pairScan(args, "part", "sequence")
	last := p.size2 - p.size1
	for n := range c.Rounds(last + 1) {
		j := n
		if p.fromEnd {
			j = last - n
		}
		if p.matchesAt(c, j) {
			return Count(j + p.offset2)
		}
	}
	return Nil
}

func mismatch(c *Call, args Args) Value {
	p := c.pairScan(args, "a", "b")
	n := 0
	for range c.Rounds(min(p.size1, p.size2)) {
		i, j := n, n
		if p.fromEnd {
			i, j = p.size1-1-n, p.size2-1-n
		}
		if !p.equal(i, j) {
			break
		}
		n++
	}
	if n == p.size1 && n == p.size2 {
		return Nil
	}
	if p.fromEnd {
		return Count(p.offset1 + p.size1 - n)
	}
	return Count(p.offset1 + n)
}

// editFunctions remove and replace elements.
func editFunctions() []Builtin {
	const keywords = "(sequence &key test test-not key start end from-end)"
	rows := []Builtin{
		{Name: "remove-duplicates", LambdaList: keywords, Doc: "The sequence without all but the last of equal elements.", Named: func(c *Call, args Args) Value {
			s, marks := c.duplicates(args)
			return s.without(marks)
		}},
		{Name: "delete-duplicates", LambdaList: keywords, Doc: "The sequence without all but the last of equal elements; the old one is used up.", Named: func(c *Call, args Args) Value {
			s, marks := c.duplicates(args)
			return s.delete(marks)
		}},
	}
	rows = append(rows, family("remove", "", "The sequence without the elements that match.", true, func(c *Call, s *scan, _ Args) Value {
		marks, n := s.chosen()
		if n == 0 {
			return s.sequence
		}
		return s.without(marks)
	})...)
	rows = append(rows, family("delete", "", "The sequence without the elements that match; the old one is used up.", true, func(c *Call, s *scan, _ Args) Value {
		marks, n := s.chosen()
		if n == 0 {
			return s.sequence
		}
		return s.delete(marks)
	})...)
	rows = append(rows, family("substitute", "new", "The sequence with the elements that match replaced.", true, func(c *Call, s *scan, args Args) Value {
		marks, _ := s.chosen()
		return s.replaced(args.Get("new"), marks)
	})...)
	return append(rows, family("nsubstitute", "new", "Replace the elements that match in the sequence.", true, func(c *Call, s *scan, args Args) Value {
		marks, _ := s.chosen()
		item, tail := args.Get("new"), s.sequence
		for i, marked := range marks {
			cell, list := tail.(*Cons)
			switch {
			case marked && list:
				cell.Car = item
			case marked:
				c.setElement(s.sequence, i, item)
			}
			if list {
				tail = cell.Cdr
			}
		}
		return s.sequence
	})...)
}

// without is a new sequence without the marked elements.
func (s *scan) without(marks []bool) Value {
	c := s.call
	if s.items == nil && s.size > 0 {
		kept := MakeSlice[rune](c, s.size)[:0]
		for i, r := range s.chars {
			if !marks[i] {
				kept = append(kept, r)
			}
		}
		return c.StringOf(kept)
	}
	kept := MakeSlice[Value](c, s.size)[:0]
	for i, item := range s.items {
		if !marks[i] {
			kept = append(kept, item)
		}
	}
	return c.like(s.sequence, kept)
}

// delete takes the marked elements out of a list or of a vector with a fill pointer.
func (s *scan) delete(marks []bool) Value {
	c := s.call
	if !IsList(s.sequence) {
		result := s.without(marks)
		if hasFillPointer(s.sequence) {
			c.store(s.sequence, 0, c.Elements(result))
			c.setFillPointer(s.sequence, c.Length(result))
			return s.sequence
		}
		return result
	}
	first, rest := Value(Nil), s.sequence
	var last *Cons
	for _, marked := range marks {
		cell, ok := rest.(*Cons)
		if !ok { // the test has cut the list off
			break
		}
		rest = cell.Cdr
		switch {
		case marked:
			continue
		case last == nil:
			first = cell
		default:
			last.Cdr = cell
		}
		last = cell
	}
	if last != nil {
		last.Cdr = Nil
	}
	return first
}

// replaced is a new sequence with another value for the marked elements.
func (s *scan) replaced(item Value, marks []bool) Value {
	c := s.call
	if s.items == nil && s.size > 0 {
		chars := Clone(c, s.chars)
		for i, marked := range marks {
			if marked {
				chars[i] = rune(c.Character(item))
			}
		}
		return c.StringOf(chars)
	}
	items := Clone(c, s.items)
	for i, marked := range marks {
		if marked {
			items[i] = item
		}
	}
	return c.like(s.sequence, items)
}

// duplicates marks the elements that have an equal one behind them, or with :from-end
// before them.
func (c *Call) duplicates(args Args) (s *scan, marks []bool) {
	s = c.newScan(args.Get("sequence"), c.matcher(args), args.Get("start"), args.Get("end"), args.Get("from-end"))
	marks, parts := MakeSlice[bool](c, s.size), MakeSlice[Value](c, s.size)
	for i := s.from; i < s.to; i++ {
		parts[i] = s.keyed(s.element(i))
	}
	if h := s.hashed(); h != nil {
		s.repeatedKeys(h, parts, marks)
		return s, marks
	}
	for i := s.from; i < s.to; i++ {
		from, to := i+1, s.to
		if s.fromEnd {
			from, to = s.from, i
		}
		for j := from; j < to && !marks[i]; j++ {
			marks[i] = s.fromEnd && s.same(parts[j], parts[i]) || !s.fromEnd && s.same(parts[i], parts[j])
		}
	}
	return s, marks
}

// hashed is a table for the test of a long scan, nil if it is not a test of tables or
// the scan is short.
func (s *scan) hashed() *HashTable {
	if s.to-s.from < 32 || s.not {
		return nil
	}
	if s.test == nil {
		return s.call.newHashTable(eqlTest)
	}
	for name, test := range hashTests {
		if s.test == s.call.environment.language.functions[CL(name)] {
			return s.call.newHashTable(test)
		}
	}
	return nil
}

// repeatedKeys marks what a table has met before, going from the end that is kept.
func (s *scan) repeatedKeys(h *HashTable, parts []Value, marks []bool) {
	for n := range s.to - s.from {
		i := s.to - 1 - n
		if s.fromEnd {
			i = s.from + n
		}
		if _, marks[i] = h.get(s.call, parts[i]); !marks[i] {
			h.put(s.call, parts[i], T)
		}
	}
}

// sortFunctions order sequences.
func sortFunctions() []Builtin {
	return []Builtin{
		{Name: "sort", LambdaList: "(sequence predicate &key key)", Doc: "The elements in order; the old sequence is used up.", Named: sortSequence},
		{Name: "stable-sort", LambdaList: "(sequence predicate &key key)", Doc: "The elements in order, equal ones as they were; the old sequence is used up.", Named: sortSequence},
		{Name: "merge", LambdaList: "(type a b predicate &key key)", Doc: "Two ordered sequences as one.", Named: func(c *Call, args Args) Value {
			t := c.sequenceType(args.Get("type"))
			less := c.order(args.Get("predicate"), args.Get("key"))
			a, b := c.Elements(args.Get("a")), c.Elements(args.Get("b"))
			return c.makeSequence(t, mergeRuns(a, b, MakeSlice[Value](c, len(a)+len(b))[:0], less))
		}},
	}
}

func (c *Call) order(predicate, key Value) func(x, y Value) bool {
	fn, m := c.Function(predicate), c.newMatcher(nil, nil, key)
	return func(x, y Value) bool { return isTrue(c.Call2(fn, m.keyed(x), m.keyed(y))) }
}

func sortSequence(c *Call, args Args) Value {
	sequence := args.Get("sequence")
	less := c.order(args.Get("predicate"), args.Get("key"))
	if IsList(sequence) {
		return c.sortList(sequence, less)
	}
	items := c.ownElements(sequence)
	c.store(sequence, 0, mergeSort(items, MakeSlice[Value](c, len(items)), less))
	return sequence
}

// sortList links the conses of a list anew.
func (c *Call) sortList(list Value, less func(x, y Value) bool) Value {
	var cells []*Cons
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		cells = Append(c, cells, cell)
	}
	if len(cells) == 0 {
		return Nil
	}
	cells = sortCells(cells, MakeSlice[*Cons](c, len(cells)), less)
	for i, cell := range cells[:len(cells)-1] {
		cell.Cdr = cells[i+1]
	}
	cells[len(cells)-1].Cdr = Nil
	return cells[0]
}

// sortCells orders conses as mergeSort does, but swaps the elements of two or three, so
// that the variable that had the list has what it has in SBCL.
func sortCells(cells, room []*Cons, less func(x, y Value) bool) []*Cons {
	if len(cells) <= 3 {
		for i := range cells {
			for j := i; j > 0 && less(cells[j].Car, cells[j-1].Car); j-- {
				cells[j].Car, cells[j-1].Car = cells[j-1].Car, cells[j].Car
			}
		}
		return cells
	}
	half := len(cells) / 2
	a := sortCells(cells[:half], room[:half], less)
	b := sortCells(cells[half:], room[half:], less)
	copy(cells, mergeRuns(a, b, room[:0], func(x, y *Cons) bool { return less(x.Car, y.Car) }))
	return cells
}

// mergeSort is stable and, whatever the predicate answers, makes O(n log n) calls.
func mergeSort[E any](items, room []E, less func(x, y E) bool) []E {
	if len(items) < 2 {
		return items
	}
	half := len(items) / 2
	a := mergeSort(items[:half], room[:half], less)
	b := mergeSort(items[half:], room[half:], less)
	copy(items, mergeRuns(a, b, room[:0], less))
	return items
}

// mergeRuns appends two ordered runs to merged, in order; of equal elements those of a
// come first.
func mergeRuns[E any](a, b, merged []E, less func(x, y E) bool) []E {
	for len(a) > 0 && len(b) > 0 {
		if less(b[0], a[0]) {
			merged, b = append(merged, b[0]), b[1:]
		} else {
			merged, a = append(merged, a[0]), a[1:]
		}
	}
	return append(append(merged, a...), b...)
}
