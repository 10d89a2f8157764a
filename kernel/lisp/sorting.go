package lisp

// sortFunctions order sequences.
func sortFunctions() []Builtin {
	return []Builtin{
		{Name: "sort", LambdaList: "(sequence predicate &key key)", Doc: "The elements in order; the old sequence is used up.", Named: sortSequence},
		{Name: "stable-sort", LambdaList: "(sequence predicate &key key)", Doc: "The elements in order, equal ones as they were; the old sequence is used up.", Named: sortSequence},
		{Name: "merge", LambdaList: "(type a b predicate &key key)", Doc: "Two ordered sequences as one.", Named: func(c *Call, args Args) Value {
			t := c.sequenceType(args.Get("type"))
			less := c.order(args.Get("predicate"), args.Get("key"))
			a, b := c.Elements(args.Get("a")), c.Elements(args.Get("b"))
			c.ChargeMany(len(a)+len(b), ValueBytes)
			return c.makeSequence(t, mergeRuns(a, b, make([]Value, 0, len(a)+len(b)), less))
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
	items := append([]Value(nil), c.Elements(sequence)...)
	c.ChargeMany(2*len(items), ValueBytes)
	c.store(sequence, 0, mergeSort(items, make([]Value, len(items)), less))
	return sequence
}

// sortList links the conses of a list anew.
func (c *Call) sortList(list Value, less func(x, y Value) bool) Value {
	var cells []*Cons
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		c.Charge(2 * ValueBytes)
		cells = append(cells, cell)
	}
	if len(cells) == 0 {
		return Nil
	}
	cells = sortCells(cells, make([]*Cons, len(cells)), less)
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
