package lisp

// mappingFunctions call a function for each element.
func mappingFunctions() []Builtin {
	return []Builtin{
		{Name: "mapcar", LambdaList: "(function list &rest more)", Doc: "The list of results for each element.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, true, func(b *ListBuilder, v Value) { b.Add(v) })
		}},
		{Name: "mapcan", LambdaList: "(function list &rest more)", Doc: "The results for each element joined by nconc.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, true, c.join)
		}},
		{Name: "maplist", LambdaList: "(function list &rest more)", Doc: "The list of results for each tail.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, false, func(b *ListBuilder, v Value) { b.Add(v) })
		}},
		{Name: "mapcon", LambdaList: "(function list &rest more)", Doc: "The results for each tail joined by nconc.", Call: func(c *Call, args []Value) Value {
			return c.mapLists(args, false, c.join)
		}},
		{Name: "mapc", LambdaList: "(function list &rest more)", Doc: "Call for each element; returns the list.", Call: func(c *Call, args []Value) Value {
			c.mapLists(args, true, func(*ListBuilder, Value) {})
			return args[1]
		}},
		{Name: "mapl", LambdaList: "(function list &rest more)", Doc: "Call for each tail; returns the list.", Call: func(c *Call, args []Value) Value {
			c.mapLists(args, false, func(*ListBuilder, Value) {})
			return args[1]
		}},
		{Name: "map", LambdaList: "(type function sequence &rest more)", Doc: "The sequence of results for each element.", Call: func(c *Call, args []Value) Value {
			var items []Value
			var t sequenceType
			keep := args[0] != Nil
			if keep {
				t = c.sequenceType(args[0])
			}
			c.mapSequences(args[1], args[2:], func(v Value) bool {
				if keep {
					items = Append(c, items, v)
				}
				return true
			})
			if !keep {
				return Nil
			}
			return c.makeSequence(t, items)
		}},
		{Name: "map-into", LambdaList: "(target function &rest sequences)", Doc: "Store the results for each element into target.", Call: func(c *Call, args []Value) Value {
			return mapInto(c, args)
		}},
		{Name: "every", LambdaList: "(predicate sequence &rest more)", Doc: "True if the predicate holds for all elements.", Call: func(c *Call, args []Value) Value {
			result := Value(T)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return isTrue(v) })
			return Boolean(result != Nil)
		}},
		{Name: "some", LambdaList: "(predicate sequence &rest more)", Doc: "The first true result, or nil.", Call: func(c *Call, args []Value) Value {
			result := Value(Nil)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return !isTrue(v) })
			return result
		}},
		{Name: "notany", LambdaList: "(predicate sequence &rest more)", Doc: "True if the predicate holds for no element.", Call: func(c *Call, args []Value) Value {
			result := Value(Nil)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return !isTrue(v) })
			return Boolean(result == Nil)
		}},
		{Name: "notevery", LambdaList: "(predicate sequence &rest more)", Doc: "True if the predicate does not hold for all elements.", Call: func(c *Call, args []Value) Value {
			result := Value(T)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return isTrue(v) })
			return Boolean(result == Nil)
		}},
		{Name: "reduce", LambdaList: "(function sequence &key key from-end start end initial-value)", Doc: "Combine the elements by a function of two.", Named: reduce},
	}
}

// mapInto fills a target as far as the sequences go; a fill pointer moves to where they end.
func mapInto(c *Call, args []Value) Value {
	target := args[0]
	var items []Value
	n := c.Length(target)
	if hasFillPointer(target) {
		n = c.dimensions(target)[0]
	}
	if n == 0 {
		return target
	}
	if len(args) == 2 {
		fn := c.Function(args[1])
		for range n {
			items = Append(c, items, Single(c.apply(fn, nil)))
		}
	} else {
		c.mapSequences(args[1], args[2:], func(v Value) bool {
			items = Append(c, items, v)
			return len(items) < n
		})
	}
	if hasFillPointer(target) {
		c.setFillPointer(target, len(items))
	}
	c.store(target, 0, items)
	return target
}

func (c *Call) join(b *ListBuilder, v Value) {
	if v == Nil {
		return
	}
	switch {
	case b.last != nil:
		b.last.Cdr = v
	case b.first != nil: // only the last result may be an atom
		c.TypeError(b.first, "LIST")
	default:
		b.first = v
	}
	for cell, ok := v.(*Cons); ok; cell, ok = cell.Cdr.(*Cons) {
		c.Step()
		b.last = cell
	}
}

// mapLists calls args[0] with the elements (or tails) of the lists until one ends.
func (c *Call) mapLists(args []Value, elements bool, collect func(*ListBuilder, Value)) Value {
	fn := c.Function(args[0])
	b := NewListBuilder(c)
	finish := func() Value {
		if b.first == nil {
			return Nil
		}
		return b.first
	}
	if len(args) == 2 && elements {
		for cell, ok := c.next(args[1]); ok; cell, ok = c.next(cell.Cdr) {
			collect(&b, c.Call1(fn, cell.Car))
		}
		return finish()
	}
	lists := append([]Value(nil), args[1:]...)
	values := make([]Value, len(lists))
	for {
		for i, list := range lists {
			cell, ok := c.next(list)
			if !ok {
				return finish()
			}
			values[i], lists[i] = list, cell.Cdr
			if elements {
				values[i] = cell.Car
			}
		}
		collect(&b, Single(c.apply(fn, values)))
	}
}

// mapSequences calls a function with the elements of sequences until one ends or keep
// returns false.
func (c *Call) mapSequences(function Value, sequences []Value, keep func(Value) bool) {
	fn := c.Function(function)
	if len(sequences) == 1 && IsList(sequences[0]) {
		for cell, ok := c.next(sequences[0]); ok; cell, ok = c.next(cell.Cdr) {
			if !keep(c.Call1(fn, cell.Car)) {
				return
			}
		}
		return
	}
	parts := make([][]Value, len(sequences))
	shortest := -1
	for i, sequence := range sequences {
		parts[i] = c.Elements(sequence)
		if shortest < 0 || len(parts[i]) < shortest {
			shortest = len(parts[i])
		}
	}
	values := make([]Value, len(parts))
	for i := range max(shortest, 0) {
		for j := range parts {
			if i >= len(parts[j]) { // the function has changed a vector's fill pointer
				return
			}
			values[j] = parts[j][i]
		}
		if !keep(Single(c.apply(fn, values))) {
			return
		}
	}
}

func reduce(c *Call, args Args) Value {
	fromEndArg := args.Get("from-end")

	fn, m := c.Function(args.Get("function")), c.newMatcher(nil, nil, args.Get("key"))
	items := c.Elements(args.Get("sequence"))
	from, to := c.Bounds(args.Get("start"), args.Get("end"), len(items))
	fromEnd := fromEndArg != nil && fromEndArg != Nil
	part := func(i int) Value {
		if fromEnd {
			return m.keyed(items[to-1-(i-from)])
		}
		return m.keyed(items[i])
	}
	result := args.Get("initial-value")
	i := from
	if result == nil {
		if from == to {
			return Single(c.apply(fn, nil))
		}
		result = part(from)
		i++
	}
	for ; i < to; i++ {
		if fromEnd {
			result = c.Call2(fn, part(i), result)
		} else {
			result = c.Call2(fn, result, part(i))
		}
	}
	return result
}
