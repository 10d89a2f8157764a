package lisp

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
		chars := CloneSlice(c, s.chars)
		for i, marked := range marks {
			if marked {
				chars[i] = rune(c.Character(item))
			}
		}
		return c.StringOf(chars)
	}
	items := CloneSlice(c, s.items)
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
	c.ChargeMany(2*s.size, ValueBytes)
	marks, parts := make([]bool, s.size), make([]Value, s.size)
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
		return newHashTable(eqlTest)
	}
	for name, test := range hashTests {
		if s.test == s.call.environment.language.functions[CL(name)] {
			return newHashTable(test)
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
