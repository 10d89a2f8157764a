package lisp

// searchFunctions look for elements and parts.
func searchFunctions() []builtin {
	var rows []builtin
	rows = append(rows, family("find", "", "The element that matches, or nil.", false, func(c *Call, s *scan, _ []Value) Value {
		if i := s.find(); i >= 0 {
			return s.element(i)
		}
		return Nil
	})...)
	rows = append(rows, family("position", "", "The index of the element that matches, or nil.", false, func(c *Call, s *scan, _ []Value) Value {
		if i := s.find(); i >= 0 {
			return count(i)
		}
		return Nil
	})...)
	rows = append(rows, family("count", "", "The number of elements that match.", false, func(c *Call, s *scan, _ []Value) Value {
		_, n := s.chosen()
		return count(n)
	})...)
	const keywords = " &key test test-not key start1 end1 start2 end2 from-end)"
	return append(rows,
		builtin{name: "search", list: "(part sequence" + keywords, doc: "The index where part begins in sequence, or nil.", call: searchPart},
		builtin{name: "mismatch", list: "(a b" + keywords, doc: "The index where two sequences begin to differ, or nil.", call: mismatch},
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

func (c *Call) pairScan(args []Value) *pairScan {
	k := c.keywords(args[2:], kwTest, kwTestNot, kwKey, kwStart1, kwEnd1, kwStart2, kwEnd2, kwFromEnd)
	m := c.newMatcher(k[0], k[1], k[2])
	p := &pairScan{fromEnd: given(k[7])}
	x, y := c.newScan(args[0], m, k[3], k[4], Nil), c.newScan(args[1], m, k[5], k[6], Nil)
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
	for i := range p.size1 {
		c.step()
		if !p.equal(i, i+j) {
			return false
		}
	}
	return true
}

func searchPart(c *Call, args []Value) Value {
	p := c.pairScan(args)
	last := p.size2 - p.size1
	for n := range last + 1 {
		j := n
		if p.fromEnd {
			j = last - n
		}
		c.step()
		if p.matchesAt(c, j) {
			return count(j + p.offset2)
		}
	}
	return Nil
}

func mismatch(c *Call, args []Value) Value {
	p := c.pairScan(args)
	n := 0
	for ; n < p.size1 && n < p.size2; n++ {
		c.step()
		i, j := n, n
		if p.fromEnd {
			i, j = p.size1-1-n, p.size2-1-n
		}
		if !p.equal(i, j) {
			break
		}
	}
	if n == p.size1 && n == p.size2 {
		return Nil
	}
	if p.fromEnd {
		return count(p.offset1 + p.size1 - n)
	}
	return count(p.offset1 + n)
}
