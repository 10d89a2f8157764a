package lisp

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
	for i := range p.size1 {
		c.Step()
		if !p.equal(i, i+j) {
			return false
		}
	}
	return true
}

func searchPart(c *Call, args Args) Value {
	p := c.pairScan(args, "part", "sequence")
	last := p.size2 - p.size1
	for n := range last + 1 {
		j := n
		if p.fromEnd {
			j = last - n
		}
		c.Step()
		if p.matchesAt(c, j) {
			return Count(j + p.offset2)
		}
	}
	return Nil
}

func mismatch(c *Call, args Args) Value {
	p := c.pairScan(args, "a", "b")
	n := 0
	for ; n < p.size1 && n < p.size2; n++ {
		c.Step()
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
		return Count(p.offset1 + p.size1 - n)
	}
	return Count(p.offset1 + n)
}
