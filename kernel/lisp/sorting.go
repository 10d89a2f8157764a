package lisp

// sortFunctions order sequences.
func sortFunctions() []builtin {
	return []builtin{
		{name: "sort", list: "(sequence predicate &key key)", doc: "The elements in order.", call: sortSequence},
		{name: "stable-sort", list: "(sequence predicate &key key)", doc: "The elements in order, equal ones as they were.", call: sortSequence},
		{name: "merge", list: "(type a b predicate &key key)", doc: "Two ordered sequences as one.", call: func(c *Call, args []Value) Value {
			less := c.order(args[3], c.keywords(args[4:], kwKey)[0])
			a, b := c.elements(args[1]), c.elements(args[2])
			c.chargeMany(len(a)+len(b), valueBytes)
			merged := make([]Value, 0, len(a)+len(b))
			for len(a) > 0 && len(b) > 0 {
				if less(b[0], a[0]) {
					merged, b = append(merged, b[0]), b[1:]
				} else {
					merged, a = append(merged, a[0]), a[1:]
				}
			}
			return c.makeSequence(c.sequenceKind(args[0]), append(append(merged, a...), b...))
		}},
	}
}

func (c *Call) order(predicate, key Value) func(x, y Value) bool {
	fn, m := c.function(predicate), c.newMatcher(nil, nil, key)
	return func(x, y Value) bool { return isTrue(c.call2(fn, m.keyed(x), m.keyed(y))) }
}

func sortSequence(c *Call, args []Value) Value {
	less := c.order(args[1], c.keywords(args[2:], kwKey)[0])
	items := append([]Value(nil), c.elements(args[0])...)
	c.chargeMany(2*len(items), valueBytes)
	items = mergeSort(items, make([]Value, len(items)), less)
	if isList(args[0]) {
		c.store(args[0], 0, items)
		return args[0]
	}
	c.store(args[0], 0, items)
	return args[0]
}

// mergeSort is stable and, whatever the predicate answers, makes O(n log n) calls.
func mergeSort(items, room []Value, less func(x, y Value) bool) []Value {
	if len(items) < 2 {
		return items
	}
	half := len(items) / 2
	a := mergeSort(items[:half], room[:half], less)
	b := mergeSort(items[half:], room[half:], less)
	merged := room[:0]
	for len(a) > 0 && len(b) > 0 {
		if less(b[0], a[0]) {
			merged, b = append(merged, b[0]), b[1:]
		} else {
			merged, a = append(merged, a[0]), a[1:]
		}
	}
	merged = append(append(merged, a...), b...)
	copy(items, merged)
	return items
}
