package lisp

// scan is the arguments of the functions that look at the elements of one sequence.
type scan struct {
	*matcher
	items    []Value
	from, to int
	fromEnd  bool
	limit    int // :count, -1 without
	// wanted tells whether an element is one that is looked for.
	wanted func(element Value) bool
}

// scan reads (item-or-predicate sequence . keywords).
func (c *Call) scan(args []Value, sense selection) *scan {
	k := c.keywords(args[2:], kwTest, kwTestNot, kwKey, kwStart, kwEnd, kwFromEnd, kwCount)
	s := &scan{matcher: c.newMatcher(k[0], k[1], k[2]), items: c.elements(args[1]), limit: -1}
	s.from, s.to = c.bounds(k[3], k[4], len(s.items))
	s.fromEnd = k[5] != nil && k[5] != Nil
	if k[6] != nil && k[6] != Nil {
		s.limit = int(max(c.fixnum(k[6]), 0))
	}
	if sense == byItem {
		item := args[0]
		s.wanted = func(element Value) bool { return s.matches(item, element) }
		return s
	}
	predicate := c.function(args[0])
	s.wanted = func(element Value) bool { return isTrue(c.call1(predicate, s.keyed(element))) == (sense == byTest) }
	return s
}

// selection is how the three forms of a function choose: item, -if, -if-not.
type selection int

const (
	byItem selection = iota
	byTest
	byTestNot
)

// find returns the index of the element looked for, -1 if there is none.
func (s *scan) find() int {
	if s.fromEnd {
		for i := s.to - 1; i >= s.from; i-- {
			if s.wanted(s.items[i]) {
				return i
			}
		}
		return -1
	}
	for i := s.from; i < s.to; i++ {
		if s.wanted(s.items[i]) {
			return i
		}
	}
	return -1
}

// chosen marks the elements looked for, at most limit of them.
func (s *scan) chosen() []bool {
	marks := make([]bool, len(s.items))
	s.call.charge(len(marks))
	left := s.limit
	mark := func(i int) {
		if left != 0 && s.wanted(s.items[i]) {
			marks[i] = true
			left--
		}
	}
	if s.fromEnd && s.limit >= 0 {
		for i := s.to - 1; i >= s.from; i-- {
			mark(i)
		}
		return marks
	}
	for i := s.from; i < s.to; i++ {
		mark(i)
	}
	return marks
}

// family makes the rows NAME, NAME-if and NAME-if-not of one operation.
func family(name, extra, doc string, do func(c *Call, s *scan, args []Value) Value) []builtin {
	row := func(name, first string, sense selection) builtin {
		test := ""
		if sense == byItem {
			test = "test test-not "
		}
		return builtin{name: name, list: "(" + first + " sequence &key " + test + "key start end from-end" + extra + ")", doc: doc, call: func(c *Call, args []Value) Value {
			return do(c, c.scan(args, sense), args)
		}}
	}
	return []builtin{row(name, "item", byItem), row(name+"-if", "predicate", byTest), row(name+"-if-not", "predicate", byTestNot)}
}

// searchFunctions look for elements and parts.
func searchFunctions() []builtin {
	var rows []builtin
	rows = append(rows, family("find", "", "The element that matches, or nil.", func(c *Call, s *scan, _ []Value) Value {
		if i := s.find(); i >= 0 {
			return s.items[i]
		}
		return Nil
	})...)
	rows = append(rows, family("position", "", "The index of the element that matches, or nil.", func(c *Call, s *scan, _ []Value) Value {
		if i := s.find(); i >= 0 {
			return count(i)
		}
		return Nil
	})...)
	rows = append(rows, family("count", "", "The number of elements that match.", func(c *Call, s *scan, _ []Value) Value {
		n := 0
		for i := s.from; i < s.to; i++ {
			if s.wanted(s.items[i]) {
				n++
			}
		}
		return count(n)
	})...)
	rows = append(rows,
		builtin{name: "search", list: "(part sequence &key test test-not key start1 end1 start2 end2 from-end)", doc: "The index where part begins in sequence, or nil.", call: searchPart},
		builtin{name: "mismatch", list: "(a b &key test test-not key start1 end1 start2 end2 from-end)", doc: "The index where two sequences begin to differ, or nil.", call: mismatch},
	)
	return rows
}

// pairScan is the arguments of the functions that compare two sequences.
type pairScan struct {
	*matcher
	a, b    []Value
	offset1 int
	offset2 int
	fromEnd bool
}

func (c *Call) pairScan(args []Value) *pairScan {
	k := c.keywords(args[2:], kwTest, kwTestNot, kwKey, kwStart1, kwEnd1, kwStart2, kwEnd2, kwFromEnd)
	p := &pairScan{matcher: c.newMatcher(k[0], k[1], k[2]), fromEnd: k[7] != nil && k[7] != Nil}
	a, b := c.elements(args[0]), c.elements(args[1])
	from1, to1 := c.bounds(k[3], k[4], len(a))
	from2, to2 := c.bounds(k[5], k[6], len(b))
	p.a, p.b, p.offset1, p.offset2 = a[from1:to1], b[from2:to2], from1, from2
	return p
}

func (p *pairScan) equal(x, y Value) bool { return p.same(p.keyed(x), p.keyed(y)) }

func searchPart(c *Call, args []Value) Value {
	p := c.pairScan(args)
	found := -1
	for i := 0; i+len(p.a) <= len(p.b); i++ {
		c.step()
		matched := true
		for j := range p.a {
			if !p.equal(p.a[j], p.b[i+j]) {
				matched = false
				break
			}
		}
		if matched {
			found = i
			if !p.fromEnd {
				break
			}
		}
	}
	if found < 0 {
		return Nil
	}
	return count(found + p.offset2)
}

func mismatch(c *Call, args []Value) Value {
	p := c.pairScan(args)
	if p.fromEnd {
		for i := 0; ; i++ {
			x, y := len(p.a)-1-i, len(p.b)-1-i
			if x < 0 && y < 0 {
				return Nil
			}
			if x < 0 || y < 0 || !p.equal(p.a[x], p.b[y]) {
				return count(p.offset1 + x + 1)
			}
		}
	}
	for i := 0; ; i++ {
		if i == len(p.a) && i == len(p.b) {
			return Nil
		}
		if i == len(p.a) || i == len(p.b) || !p.equal(p.a[i], p.b[i]) {
			return count(p.offset1 + i)
		}
	}
}

// editFunctions remove and substitute elements.
func editFunctions() []builtin {
	var rows []builtin
	for _, name := range []string{"remove", "delete"} {
		rows = append(rows, family(name, " count", "The sequence without the elements that match.", func(c *Call, s *scan, args []Value) Value {
			var kept []Value
			marks := s.chosen()
			c.chargeMany(len(s.items), valueBytes)
			for i, item := range s.items {
				if !marks[i] {
					kept = append(kept, item)
				}
			}
			if len(kept) == len(s.items) && isList(args[1]) {
				return args[1]
			}
			return c.like(args[1], kept)
		})...)
		rows = append(rows, builtin{name: name + "-duplicates", list: "(sequence &key test test-not key start end from-end)", doc: "The sequence without all but the last of equal elements.", call: removeDuplicates})
	}
	for _, name := range []string{"substitute", "nsubstitute"} {
		for _, row := range family(name, " count", "The sequence with the elements that match replaced.", func(c *Call, s *scan, args []Value) Value { return nil }) {
			sense := byItem
			if len(row.name) > len(name) {
				sense = byTest
				if len(row.name) > len(name)+3 {
					sense = byTestNot
				}
			}
			row.list = "(new" + " " + row.list[1:]
			row.call = func(c *Call, args []Value) Value {
				s := c.scan(args[1:], sense)
				items := append([]Value(nil), s.items...)
				c.chargeMany(len(items), valueBytes)
				for i, marked := range s.chosen() {
					if marked {
						items[i] = args[0]
					}
				}
				return c.like(args[2], items)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func removeDuplicates(c *Call, args []Value) Value {
	k := c.keywords(args[1:], kwTest, kwTestNot, kwKey, kwStart, kwEnd, kwFromEnd)
	m := c.newMatcher(k[0], k[1], k[2])
	items := c.elements(args[0])
	from, to := c.bounds(k[3], k[4], len(items))
	fromEnd := k[5] != nil && k[5] != Nil
	parts := make([]Value, len(items))
	c.chargeMany(2*len(items), valueBytes)
	for i := from; i < to; i++ {
		parts[i] = m.keyed(items[i])
	}
	var kept []Value
	for i, item := range items {
		if i >= from && i < to && m.repeated(parts, i, from, to, fromEnd) {
			continue
		}
		kept = append(kept, item)
	}
	return c.like(args[0], kept)
}

// repeated reports that an equal element comes later, or with fromEnd came before.
func (m *matcher) repeated(parts []Value, i, from, to int, fromEnd bool) bool {
	if fromEnd {
		for j := from; j < i; j++ {
			if m.same(parts[j], parts[i]) {
				return true
			}
		}
		return false
	}
	for j := i + 1; j < to; j++ {
		if m.same(parts[i], parts[j]) {
			return true
		}
	}
	return false
}
