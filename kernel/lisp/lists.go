package lisp

import (
	"strings"
)

func carOf(c *Call, v Value) Value {
	switch x := v.(type) {
	case *Cons:
		return x.Car
	case *Symbol:
		if x == Nil {
			return Nil
		}
	}
	c.TypeError(v, "LIST")
	return nil
}

func cdrOf(c *Call, v Value) Value {
	switch x := v.(type) {
	case *Cons:
		return x.Cdr
	case *Symbol:
		if x == Nil {
			return Nil
		}
	}
	c.TypeError(v, "LIST")
	return nil
}

// path follows a name such as "ad" in cadr, from right to left.
func path(steps string) func(c *Call, v Value) Value {
	return func(c *Call, v Value) Value {
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i] == 'a' {
				v = carOf(c, v)
			} else {
				v = cdrOf(c, v)
			}
		}
		return v
	}
}

// paths are the compositions of car and cdr up to four.
var paths = strings.Fields("aa ad da dd aaa aad ada add daa dad dda ddd aaaa aaad aada aadd adaa adad adda addd daaa daad dada dadd ddaa ddad ddda dddd")

var ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth")

// consFunctions take conses apart and make them.
func consFunctions() []Builtin {
	rows := []Builtin{
		{Name: "cons", LambdaList: "(car cdr)", Doc: "A new pair.", Two: func(c *Call, a, b Value) Value { return c.Cons(a, b) }},
		{Name: "car", LambdaList: "(list)", Doc: "The first element, nil of nil.", One: carOf},
		{Name: "cdr", LambdaList: "(list)", Doc: "All but the first element, nil of nil.", One: cdrOf},
		{Name: "rest", LambdaList: "(list)", Doc: "All but the first element, nil of nil.", One: cdrOf},
		{Name: "rplaca", LambdaList: "(cons object)", Doc: "Change the car.", Two: func(c *Call, a, b Value) Value { c.cell(a).Car = b; return a }},
		{Name: "rplacd", LambdaList: "(cons object)", Doc: "Change the cdr.", Two: func(c *Call, a, b Value) Value { c.cell(a).Cdr = b; return a }},
		{Name: "list", LambdaList: "(&rest objects)", Doc: "A new list.", Call: func(c *Call, args []Value) Value { return c.NewList(args) }},
		{Name: "list*", LambdaList: "(object &rest more)", Doc: "A new list that ends with the last object.", Call: func(c *Call, args []Value) Value {
			return c.listStar(args[:len(args)-1], args[len(args)-1])
		}},
		{Name: "make-list", LambdaList: "(size &key initial-element)", Doc: "A list of size elements.", Named: func(c *Call, args Args) Value {
			n := c.Index(args.Get("size"))
			element := args.Get("initial-element")
			if element == nil {
				element = Nil
			}
			c.ChargeMany(n, ConsBytes) // at once, as all of them may be more than there is
			list := Value(Nil)
			for range n {
				list = &Cons{Car: element, Cdr: list}
			}
			return list
		}},
		{Name: "nth", LambdaList: "(n list)", Doc: "The element at index n.", Two: func(c *Call, a, b Value) Value { return carOf(c, c.nthcdr(a, b)) }},
		{Name: "nthcdr", LambdaList: "(n list)", Doc: "The list without its first n elements.", Two: func(c *Call, a, b Value) Value { return c.nthcdr(a, b) }},
		predicate("consp", "True for a pair.", func(v Value) bool { _, ok := v.(*Cons); return ok }),
		predicate("atom", "True for all but a pair.", func(v Value) bool { _, ok := v.(*Cons); return !ok }),
		predicate("listp", "True for a pair or nil.", IsList),
		predicate("null", "True for nil.", func(v Value) bool { return v == Nil }),
		predicate("not", "True for nil.", func(v Value) bool { return v == Nil }),
		{Name: "endp", LambdaList: "(list)", Doc: "True at the end of a list.", One: func(c *Call, a Value) Value {
			if !IsList(a) {
				c.TypeError(a, "LIST")
			}
			return Boolean(a == Nil)
		}},
	}
	for _, steps := range paths {
		rows = append(rows, Builtin{Name: "c" + steps + "r", LambdaList: "(list)", Doc: "A composition of car and cdr.", One: path(steps)})
	}
	for i, name := range ordinals {
		steps := "a" + strings.Repeat("d", i)
		rows = append(rows, Builtin{Name: name, LambdaList: "(list)", Doc: "The element that the name says, nil if there is none.", One: path(steps)})
	}
	return rows
}

func predicate(name, doc string, test func(Value) bool) Builtin {
	return Builtin{Name: name, LambdaList: "(object)", Doc: doc, One: func(_ *Call, a Value) Value { return Boolean(test(a)) }}
}

// IsList reports whether a value is a pair or nil.
func IsList(v Value) bool {
	_, ok := v.(*Cons)
	return ok || v == Nil
}

func (c *Call) nthcdr(n, list Value) Value {
	if !IsList(list) {
		c.TypeError(list, "LIST")
	}
	for range c.Index(n) {
		cell, ok := c.next(list)
		if !ok {
			return Nil
		}
		list = cell.Cdr
	}
	return list
}

// listFunctions make lists of lists.
func listFunctions() []Builtin {
	return []Builtin{
		{Name: "append", LambdaList: "(&rest lists)", Doc: "The lists joined; the last is shared.", Call: appendLists},
		{Name: "nconc", LambdaList: "(&rest lists)", Doc: "The lists joined by changing them.", Call: nconc},
		{Name: "revappend", LambdaList: "(list tail)", Doc: "The list reversed, before tail.", Two: func(c *Call, a, b Value) Value {
			for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
				b = c.Cons(cell.Car, b)
			}
			return b
		}},
		{Name: "nreconc", LambdaList: "(list tail)", Doc: "The list reversed, before tail; the list is used up.", Two: func(c *Call, a, b Value) Value {
			c.Length(a) // a dotted list is an error before anything is changed
			for cell, ok := c.next(a); ok; cell, ok = c.next(a) {
				a, cell.Cdr, b = cell.Cdr, b, cell
			}
			return b
		}},
		{Name: "copy-list", LambdaList: "(list)", Doc: "A new list of the same elements.", One: func(c *Call, a Value) Value {
			b := NewListBuilder(c)
			end := c.addCells(&b, a)
			if b.last == nil && end != Nil {
				c.TypeError(end, "LIST")
			}
			return b.listStar(end)
		}},
		{Name: "copy-alist", LambdaList: "(alist)", Doc: "A new association list with new pairs.", One: func(c *Call, a Value) Value {
			b := NewListBuilder(c)
			for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
				if pair, ok := cell.Car.(*Cons); ok {
					b.Add(c.Cons(pair.Car, pair.Cdr))
				} else {
					b.Add(cell.Car)
				}
			}
			return b.List()
		}},
		{Name: "last", LambdaList: "(list &optional n)", Doc: "The last n conses.", Named: last},
		{Name: "butlast", LambdaList: "(list &optional n)", Doc: "The list without its last n elements.", Named: func(c *Call, args Args) Value {
			kept := c.allBut(args)
			b := NewListBuilder(c)
			list := args.Get("list")
			for range kept {
				cell := list.(*Cons)
				b.Add(cell.Car)
				list = cell.Cdr
			}
			return b.List()
		}},
		{Name: "nbutlast", LambdaList: "(list &optional n)", Doc: "The list without its last n elements, by changing it.", Named: func(c *Call, args Args) Value {
			kept, list := c.allBut(args), args.Get("list")
			if kept == 0 {
				return Nil
			}
			c.cell(c.nthcdr(Count(kept-1), list)).Cdr = Nil
			return list
		}},
		{Name: "ldiff", LambdaList: "(list tail)", Doc: "The elements before tail.", Two: func(c *Call, a, b Value) Value {
			result := NewListBuilder(c)
			if !IsList(a) {
				c.TypeError(a, "LIST")
			}
			for cell := range c.Cells(a) {
				if cell == b {
					return result.List()
				}
				result.Add(cell.Car)
				a = cell.Cdr
			}
			if eql(a, b) {
				return result.List()
			}
			return result.listStar(a)
		}},
		{Name: "tailp", LambdaList: "(object list)", Doc: "True if object is a tail of list.", Two: func(c *Call, a, b Value) Value {
			for cell := range c.Cells(b) {
				if a == cell {
					return T
				}
				b = cell.Cdr
			}
			return Boolean(eql(a, b))
		}},
		{Name: "list-length", LambdaList: "(list)", Doc: "The length, nil if circular.", One: func(c *Call, a Value) Value {
			slow, n := a, 0
			for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
				if n++; n%2 == 0 {
					slow = slow.(*Cons).Cdr
					if slow == cell.Cdr && cell.Cdr != Nil {
						return Nil
					}
				}
			}
			return Count(n)
		}},
	}
}

func appendLists(c *Call, args []Value) Value {
	if len(args) == 0 {
		return Nil
	}
	b := NewListBuilder(c)
	for _, list := range args[:len(args)-1] {
		for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
			b.Add(cell.Car)
		}
	}
	return b.listStar(args[len(args)-1])
}

func nconc(c *Call, args []Value) Value {
	result := Value(Nil)
	var last *Cons
	for i, list := range args {
		if list == Nil {
			continue
		}
		if last == nil {
			result = list
		} else {
			last.Cdr = list
		}
		cell, ok := list.(*Cons)
		if !ok {
			if i < len(args)-1 {
				c.TypeError(list, "LIST")
			}
			break
		}
		if i == len(args)-1 {
			break
		}
		for next := range c.Cells(cell) {
			last = next
		}
	}
	return result
}

func last(c *Call, args Args) Value {
	list, n := c.listEnd(args)
	lag, i := list, 0
	for range c.Cells(list) {
		if i++; i > n {
			lag = lag.(*Cons).Cdr
		}
	}
	return lag
}

// allBut is the number of conses of a list without the last n.
func (c *Call) allBut(args Args) int {
	list, n := c.listEnd(args)
	conses := 0
	for range c.Cells(list) {
		conses++
	}
	return max(conses-n, 0)
}

// listEnd takes the parameters list and n, of which the latter is 1 if it is not given.
func (c *Call) listEnd(args Args) (list Value, n int) {
	list, n = args.Get("list"), 1
	if v := args.Get("n"); v != nil {
		n = c.amount(v)
	}
	if !IsList(list) {
		c.TypeError(list, "LIST")
	}
	return list, n
}

// plistFunctions are about property and association lists.
func plistFunctions() []Builtin {
	return []Builtin{
		{Name: "getf", LambdaList: "(plist indicator &optional default)", Doc: "The value of a property.", Two: func(c *Call, a, b Value) Value {
			return c.getf(a, b, Nil)
		}, Named: func(c *Call, args Args) Value {
			plist, indicator, defaultArg := args.Get("plist"), args.Get("indicator"), args.Get("default")
			if defaultArg != nil {
				return c.getf(plist, indicator, defaultArg)
			}
			return c.getf(plist, indicator, Nil)
		}},
		{Name: "get-properties", LambdaList: "(plist indicators)", Doc: "The first property that is one of the indicators: name, value, tail.", Many: true, Call: func(c *Call, args []Value) Value {
			wanted := c.Slice(args[1])
			for cell, ok := c.next(args[0]); ok; cell, ok = c.next(cell.Cdr.(*Cons).Cdr) {
				value, ok := cell.Cdr.(*Cons)
				if !ok {
					c.TypeError(cell.Cdr, "CONS")
				}
				for _, w := range wanted {
					if w == cell.Car {
						return c.Values(cell.Car, value.Car, cell)
					}
				}
			}
			return c.Values(Nil, Nil, Nil)
		}},
		{Name: "acons", LambdaList: "(key datum alist)", Doc: "The alist with a new pair in front.", Call: func(c *Call, args []Value) Value {
			return c.Cons(c.Cons(args[0], args[1]), args[2])
		}},
		{Name: "pairlis", LambdaList: "(keys data &optional alist)", Doc: "The alist with new pairs in front.", Named: func(c *Call, args Args) Value {
			keys, data := c.Slice(args.Get("keys")), c.Slice(args.Get("data"))
			if len(keys) != len(data) {
				c.Fail(SimpleError, "the lists of keys and data are of unequal length")
			}
			result := args.Get("alist")
			if result == nil {
				result = Nil
			}
			for i, key := range keys {
				result = c.Cons(c.Cons(key, data[i]), result)
			}
			return result
		}},
		{Name: "get", LambdaList: "(symbol indicator &optional default)", Doc: "A property of a symbol.", Named: func(c *Call, args Args) Value {
			defaultArg := args.Get("default")
			fallback := Value(Nil)
			if defaultArg != nil {
				fallback = defaultArg
			}
			return c.getf(c.global(c.TakeSymbol(args.Get("symbol"))).plist, args.Get("indicator"), fallback)
		}},
		{Name: "remprop", LambdaList: "(symbol indicator)", Doc: "Remove a property of a symbol.", Two: func(c *Call, a, b Value) Value {
			g := c.global(c.TakeSymbol(a))
			tail := Value(Nil)
			for list := g.plist; list != Nil && tail == Nil; list = cdrOf(c, cdrOf(c, list)) {
				if carOf(c, list) == b {
					tail = list
				}
			}
			g.plist, _ = c.removeProperty(g.plist, b)
			return tail
		}},
		{Name: "symbol-plist", LambdaList: "(symbol)", Doc: "All properties of a symbol.", One: func(c *Call, a Value) Value { return c.global(c.TakeSymbol(a)).plist }},
	}
}

// getf looks a property up; a list of odd length is an error, as it is in SBCL, when
// the search comes to its end.
func (c *Call) getf(list, indicator, fallback Value) Value {
	for {
		cell, ok := c.next(list)
		if !ok {
			return fallback
		}
		value, ok := cell.Cdr.(*Cons)
		if !ok {
			c.Fail(simpleTypeErr, "malformed property list: %s", c.Shown(list))
		}
		if cell.Car == indicator {
			return value.Car
		}
		list = value.Cdr
	}
}

// putf is the list with a property changed in place or added in front.
func putf(c *Call, args []Value) Value {
	list, indicator, v := args[0], args[1], args[2]
	for list != Nil {
		cell, ok := c.next(list)
		if !ok {
			break
		}
		value, ok := cell.Cdr.(*Cons)
		if !ok {
			c.Fail(simpleTypeErr, "malformed property list: %s", c.Shown(args[0]))
		}
		if cell.Car == indicator {
			value.Car = v
			return args[0]
		}
		list = value.Cdr
	}
	return c.Cons(indicator, c.Cons(v, args[0]))
}

// removeProperty returns the list without a property.
func (c *Call) removeProperty(list, indicator Value) (Value, bool) {
	var previous *Cons
	for rest := list; rest != Nil; {
		cell, _ := c.next(rest)
		value, ok := cell.Cdr.(*Cons)
		if !ok {
			c.Fail(SimpleError, "malformed property list: %s", c.Shown(list))
		}
		if cell.Car == indicator {
			if previous == nil {
				return value.Cdr, true
			}
			previous.Cdr = value.Cdr
			return list, true
		}
		previous, rest = value, value.Cdr
	}
	return list, false
}

// addCells adds the elements of a list, which may be dotted, and returns its end.
func (c *Call) addCells(b *ListBuilder, list Value) Value {
	for cell := range c.Cells(list) {
		b.Add(cell.Car)
		list = cell.Cdr
	}
	return list
}

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
