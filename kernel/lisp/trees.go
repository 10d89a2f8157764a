package lisp

// treeFunctions work on nested conses.
func treeFunctions() []builtin {
	return []builtin{
		{name: "copy-tree", list: "(tree)", doc: "A copy of all conses.", one: func(c *Call, a Value) Value { return c.copyTree(a) }},
		{name: "tree-equal", list: "(a b &key test test-not)", doc: "True if two trees have equal leaves.", call: func(c *Call, args []Value) Value {
			m := c.matcher(args[2:])
			return Boolean(c.treeEqual(args[0], args[1], m))
		}},
		{name: "subst", list: "(new old tree &key test test-not key)", doc: "The tree with old replaced by new.", call: substitute1},
		{name: "nsubst", list: "(new old tree &key test test-not key)", doc: "The tree with old replaced by new.", call: substitute1},
		substituteIf("subst-if", true), substituteIf("subst-if-not", false), substituteIf("nsubst-if", true), substituteIf("nsubst-if-not", false),
		{name: "sublis", list: "(alist tree &key test test-not key)", doc: "The tree with several replacements.", call: func(c *Call, args []Value) Value {
			m := c.matcher(args[2:])
			alist := c.slice(args[0])
			return c.mapTree(args[1], func(v Value) (Value, bool) {
				for _, pair := range alist {
					if cell, ok := pair.(*Cons); ok && m.matches(cell.Car, v) {
						return cell.Cdr, true
					}
				}
				return nil, false
			})
		}},
	}
}

func (c *Call) copyTree(v Value) Value {
	return c.mapTree(v, func(Value) (Value, bool) { return nil, false })
}

// mapTree copies a tree; replace may give a subtree another value.
func (c *Call) mapTree(v Value, replace func(Value) (Value, bool)) Value {
	c.descend(2)
	defer c.ascend(2)
	var b builder
	for {
		c.step()
		if other, ok := replace(v); ok {
			return b.listStar(other)
		}
		cell, ok := v.(*Cons)
		if !ok {
			return b.listStar(v)
		}
		c.charge(consBytes)
		b.add(c.mapTree(cell.Car, replace))
		v = cell.Cdr
	}
}

func (c *Call) treeEqual(a, b Value, m *matcher) bool {
	c.descend(2)
	defer c.ascend(2)
	for {
		c.step()
		x, ok := a.(*Cons)
		y, okToo := b.(*Cons)
		if ok != okToo {
			return false
		}
		if !ok {
			return m.matches(a, b)
		}
		if !c.treeEqual(x.Car, y.Car, m) {
			return false
		}
		a, b = x.Cdr, y.Cdr
	}
}

func substitute1(c *Call, args []Value) Value {
	m := c.matcher(args[3:])
	return c.mapTree(args[2], func(v Value) (Value, bool) {
		return args[0], m.matches(args[1], v)
	})
}

func substituteIf(name string, sense bool) builtin {
	return builtin{name: name, list: "(new predicate tree &key key)", doc: "The tree with the parts replaced that the predicate says.", call: func(c *Call, args []Value) Value {
		test, m := c.function(args[1]), c.matcher(args[3:])
		return c.mapTree(args[2], func(v Value) (Value, bool) {
			return args[0], isTrue(c.call1(test, m.keyed(v))) == sense
		})
	}}
}
