package lisp

// mappingFunctions call a function for each element.
func mappingFunctions() []builtin {
	return []builtin{
		{name: "mapcar", list: "(function list &rest more)", doc: "The list of results for each element.", call: func(c *Call, args []Value) Value {
			return c.mapLists(args, true, func(b *builder, v Value) { c.charge(consBytes); b.add(v) })
		}},
		{name: "mapcan", list: "(function list &rest more)", doc: "The results for each element joined by nconc.", call: func(c *Call, args []Value) Value {
			return c.mapLists(args, true, c.join)
		}},
		{name: "maplist", list: "(function list &rest more)", doc: "The list of results for each tail.", call: func(c *Call, args []Value) Value {
			return c.mapLists(args, false, func(b *builder, v Value) { c.charge(consBytes); b.add(v) })
		}},
		{name: "mapcon", list: "(function list &rest more)", doc: "The results for each tail joined by nconc.", call: func(c *Call, args []Value) Value {
			return c.mapLists(args, false, c.join)
		}},
		{name: "mapc", list: "(function list &rest more)", doc: "Call for each element; returns the list.", call: func(c *Call, args []Value) Value {
			c.mapLists(args, true, func(*builder, Value) {})
			return args[1]
		}},
		{name: "mapl", list: "(function list &rest more)", doc: "Call for each tail; returns the list.", call: func(c *Call, args []Value) Value {
			c.mapLists(args, false, func(*builder, Value) {})
			return args[1]
		}},
		{name: "map", list: "(type function sequence &rest more)", doc: "The sequence of results for each element.", call: func(c *Call, args []Value) Value {
			var items []Value
			var t sequenceType
			keep := args[0] != Nil
			if keep {
				t = c.sequenceType(args[0])
			}
			c.mapSequences(args[1], args[2:], func(v Value) bool {
				if keep {
					c.charge(valueBytes)
					items = append(items, v)
				}
				return true
			})
			if !keep {
				return Nil
			}
			return c.makeSequence(t, items)
		}},
		{name: "map-into", list: "(target function &rest sequences)", doc: "Store the results for each element into target.", call: func(c *Call, args []Value) Value {
			return mapInto(c, args)
		}},
		{name: "every", list: "(predicate sequence &rest more)", doc: "True if the predicate holds for all elements.", call: func(c *Call, args []Value) Value {
			result := Value(T)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return isTrue(v) })
			return Boolean(result != Nil)
		}},
		{name: "some", list: "(predicate sequence &rest more)", doc: "The first true result, or nil.", call: func(c *Call, args []Value) Value {
			result := Value(Nil)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return !isTrue(v) })
			return result
		}},
		{name: "notany", list: "(predicate sequence &rest more)", doc: "True if the predicate holds for no element.", call: func(c *Call, args []Value) Value {
			result := Value(Nil)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return !isTrue(v) })
			return Boolean(result == Nil)
		}},
		{name: "notevery", list: "(predicate sequence &rest more)", doc: "True if the predicate does not hold for all elements.", call: func(c *Call, args []Value) Value {
			result := Value(T)
			c.mapSequences(args[0], args[1:], func(v Value) bool { result = v; return isTrue(v) })
			return Boolean(result == Nil)
		}},
		{name: "reduce", list: "(function sequence &key key from-end start end initial-value)", doc: "Combine the elements by a function of two.", named: reduce},
	}
}

// mapInto fills a target as far as the sequences go; a fill pointer moves to where they end.
func mapInto(c *Call, args []Value) Value {
	target := args[0]
	var items []Value
	n := c.length(target)
	if hasFillPointer(target) {
		n = c.dimensions(target)[0]
	}
	if n == 0 {
		return target
	}
	if len(args) == 2 {
		fn := c.function(args[1])
		for range n {
			c.charge(valueBytes)
			items = append(items, single(c.apply(fn, nil)))
		}
	} else {
		c.mapSequences(args[1], args[2:], func(v Value) bool {
			c.charge(valueBytes)
			items = append(items, v)
			return len(items) < n
		})
	}
	if hasFillPointer(target) {
		c.setFillPointer(target, len(items))
	}
	c.store(target, 0, items)
	return target
}

func (c *Call) join(b *builder, v Value) {
	if v == Nil {
		return
	}
	switch {
	case b.last != nil:
		b.last.Cdr = v
	case b.first != nil: // only the last result may be an atom
		c.typeError(b.first, "LIST")
	default:
		b.first = v
	}
	for cell, ok := v.(*Cons); ok; cell, ok = cell.Cdr.(*Cons) {
		c.step()
		b.last = cell
	}
}

// mapLists calls args[0] with the elements (or tails) of the lists until one ends.
func (c *Call) mapLists(args []Value, elements bool, collect func(*builder, Value)) Value {
	fn := c.function(args[0])
	var b builder
	finish := func() Value {
		if b.first == nil {
			return Nil
		}
		return b.first
	}
	if len(args) == 2 && elements {
		for cell, ok := c.next(args[1]); ok; cell, ok = c.next(cell.Cdr) {
			collect(&b, c.call1(fn, cell.Car))
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
		collect(&b, single(c.apply(fn, values)))
	}
}

// mapSequences calls a function with the elements of sequences until one ends or keep
// returns false.
func (c *Call) mapSequences(function Value, sequences []Value, keep func(Value) bool) {
	fn := c.function(function)
	if len(sequences) == 1 && isList(sequences[0]) {
		for cell, ok := c.next(sequences[0]); ok; cell, ok = c.next(cell.Cdr) {
			if !keep(c.call1(fn, cell.Car)) {
				return
			}
		}
		return
	}
	parts := make([][]Value, len(sequences))
	shortest := -1
	for i, sequence := range sequences {
		parts[i] = c.elements(sequence)
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
		if !keep(single(c.apply(fn, values))) {
			return
		}
	}
}

func reduce(c *Call, args Args) Value {
	fromEndArg := args.Get("from-end")

	fn, m := c.function(args.Get("function")), c.newMatcher(nil, nil, args.Get("key"))
	items := c.elements(args.Get("sequence"))
	from, to := c.bounds(args.Get("start"), args.Get("end"), len(items))
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
			return single(c.apply(fn, nil))
		}
		result = part(from)
		i++
	}
	for ; i < to; i++ {
		if fromEnd {
			result = c.call2(fn, part(i), result)
		} else {
			result = c.call2(fn, result, part(i))
		}
	}
	return result
}
