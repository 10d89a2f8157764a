package lisp

// treeFunctions work on nested conses.
func treeFunctions() []Builtin {
	rows := []Builtin{
		{Name: "copy-tree", LambdaList: "(tree)", Doc: "A copy of all conses.", One: func(c *Call, a Value) Value { return c.copyTree(a) }},
		{Name: "tree-equal", LambdaList: "(a b &key test test-not)", Doc: "True if two trees have equal leaves.", Named: func(c *Call, args Args) Value {
			return Boolean(c.treeEqual(args.Get("a"), args.Get("b"), c.newMatcher(args.Get("test"), args.Get("test-not"), nil)))
		}},
	}
	rows = append(rows, replacingFunctions("", "The tree with parts replaced.", (*Call).mapTree)...)
	return append(rows, replacingFunctions("n", "Replace parts in the tree itself.", (*Call).changeTree)...)
}

// replacingFunctions are subst, its kin and sublis, over a tree that walk copies or changes.
func replacingFunctions(prefix, doc string, walk func(c *Call, tree Value, replace func(Value) (Value, bool)) Value) []Builtin {
	conditional := func(name string, sense bool) Builtin {
		return Builtin{Name: prefix + name, LambdaList: "(new predicate tree &key key)", Doc: doc, Named: func(c *Call, args Args) Value {
			newArg := args.Get("new")

			test, m := c.Function(args.Get("predicate")), c.newMatcher(nil, nil, args.Get("key"))
			return walk(c, args.Get("tree"), func(v Value) (Value, bool) {
				return newArg, isTrue(c.Call1(test, m.keyed(v))) == sense
			})
		}}
	}
	return []Builtin{
		{Name: prefix + "subst", LambdaList: "(new old tree &key test test-not key)", Doc: doc, Named: func(c *Call, args Args) Value {
			newArg, old := args.Get("new"), args.Get("old")

			m := c.matcher(args)
			return walk(c, args.Get("tree"), func(v Value) (Value, bool) { return newArg, m.matches(old, v) })
		}},
		conditional("subst-if", true), conditional("subst-if-not", false),
		{Name: prefix + "sublis", LambdaList: "(alist tree &key test test-not key)", Doc: doc, Named: func(c *Call, args Args) Value {
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
	c.Descend(2)
	defer c.Ascend(2)
	b := NewListBuilder(c)
	for {
		c.Step()
		if other, ok := replace(v); ok {
			return b.listStar(other)
		}
		cell, ok := v.(*Cons)
		if !ok {
			return b.listStar(v)
		}
		b.Add(c.mapTree(cell.Car, replace))
		v = cell.Cdr
	}
}

// changeTree is mapTree in place.
func (c *Call) changeTree(v Value, replace func(Value) (Value, bool)) Value {
	c.Descend(2)
	defer c.Ascend(2)
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
		c.Step()
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
	c.Descend(2)
	defer c.Ascend(2)
	for {
		c.Step()
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
