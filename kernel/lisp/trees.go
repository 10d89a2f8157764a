package lisp

// treeFunctions work on nested conses.
func treeFunctions() []builtin {
	rows := []builtin{
		{name: "copy-tree", list: "(tree)", doc: "A copy of all conses.", one: func(c *Call, a Value) Value { return c.copyTree(a) }},
		{name: "tree-equal", list: "(a b &key test test-not)", doc: "True if two trees have equal leaves.", named: func(c *Call, args Args) Value {
			return Boolean(c.treeEqual(args.Get("a"), args.Get("b"), c.newMatcher(args.Get("test"), args.Get("test-not"), nil)))
		}},
	}
	rows = append(rows, replacingFunctions("", "The tree with parts replaced.", (*Call).mapTree)...)
	return append(rows, replacingFunctions("n", "Replace parts in the tree itself.", (*Call).changeTree)...)
}

// replacingFunctions are subst, its kin and sublis, over a tree that walk copies or changes.
func replacingFunctions(prefix, doc string, walk func(c *Call, tree Value, replace func(Value) (Value, bool)) Value) []builtin {
	conditional := func(name string, sense bool) builtin {
		return builtin{name: prefix + name, list: "(new predicate tree &key key)", doc: doc, named: func(c *Call, args Args) Value {
			newArg := args.Get("new")

			test, m := c.function(args.Get("predicate")), c.newMatcher(nil, nil, args.Get("key"))
			return walk(c, args.Get("tree"), func(v Value) (Value, bool) {
				return newArg, isTrue(c.call1(test, m.keyed(v))) == sense
			})
		}}
	}
	return []builtin{
		{name: prefix + "subst", list: "(new old tree &key test test-not key)", doc: doc, named: func(c *Call, args Args) Value {
			newArg, old := args.Get("new"), args.Get("old")

			m := c.matcher(args)
			return walk(c, args.Get("tree"), func(v Value) (Value, bool) { return newArg, m.matches(old, v) })
		}},
		conditional("subst-if", true), conditional("subst-if-not", false),
		{name: prefix + "sublis", list: "(alist tree &key test test-not key)", doc: doc, named: func(c *Call, args Args) Value {
			alist := args.Get("alist")

			m := c.matcher(args)
			return walk(c, args.Get("tree"), func(v Value) (Value, bool) {
				part := m.keyed(v)
				pair, found := c.assocBy(alist, func(key Value) bool { return m.same(part, key) }).(*Cons)
				if !found {
					return nil, false
				}
				return pair.Cdr, true
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

// changeTree is mapTree in place.
func (c *Call) changeTree(v Value, replace func(Value) (Value, bool)) Value {
	c.descend(2)
	defer c.ascend(2)
	var last *Cons
	result := v
	put := func(v Value) {
		if last == nil {
			result = v
		} else {
			last.Cdr = v
		}
	}
	for {
		c.step()
		if other, ok := replace(v); ok {
			put(other)
			return result
		}
		cell, ok := v.(*Cons)
		if !ok {
			return result
		}
		cell.Car = c.changeTree(cell.Car, replace)
		last, v = cell, cell.Cdr
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
