package lisp

import "strings"

func carOf(c *Call, v Value) Value {
	switch x := v.(type) {
	case *Cons:
		return x.Car
	case *Symbol:
		if x == Nil {
			return Nil
		}
	}
	c.typeError(v, "LIST")
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
	c.typeError(v, "LIST")
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
func consFunctions() []builtin {
	rows := []builtin{
		{name: "cons", list: "(car cdr)", doc: "A new pair.", two: func(c *Call, a, b Value) Value { return c.cons(a, b) }},
		{name: "car", list: "(list)", doc: "The first element, nil of nil.", one: carOf},
		{name: "cdr", list: "(list)", doc: "All but the first element, nil of nil.", one: cdrOf},
		{name: "rest", list: "(list)", doc: "All but the first element, nil of nil.", one: cdrOf},
		{name: "rplaca", list: "(cons object)", doc: "Change the car.", two: func(c *Call, a, b Value) Value { c.cell(a).Car = b; return a }},
		{name: "rplacd", list: "(cons object)", doc: "Change the cdr.", two: func(c *Call, a, b Value) Value { c.cell(a).Cdr = b; return a }},
		{name: "list", list: "(&rest objects)", doc: "A new list.", call: func(c *Call, args []Value) Value { return c.newList(args) }},
		{name: "list*", list: "(object &rest more)", doc: "A new list that ends with the last object.", call: func(c *Call, args []Value) Value {
			c.chargeMany(len(args), consBytes)
			return listStar(args[:len(args)-1], args[len(args)-1])
		}},
		{name: "make-list", list: "(size &key initial-element)", doc: "A list of size elements.", named: func(c *Call, args Args) Value {
			n := c.index(args.Get("size"))
			element := args.Get("initial-element")
			if element == nil {
				element = Nil
			}
			c.chargeMany(n, consBytes)
			list := Value(Nil)
			for range n {
				list = &Cons{Car: element, Cdr: list}
			}
			return list
		}},
		{name: "nth", list: "(n list)", doc: "The element at index n.", two: func(c *Call, a, b Value) Value { return carOf(c, c.nthcdr(a, b)) }},
		{name: "nthcdr", list: "(n list)", doc: "The list without its first n elements.", two: func(c *Call, a, b Value) Value { return c.nthcdr(a, b) }},
		predicate("consp", "True for a pair.", func(v Value) bool { _, ok := v.(*Cons); return ok }),
		predicate("atom", "True for all but a pair.", func(v Value) bool { _, ok := v.(*Cons); return !ok }),
		predicate("listp", "True for a pair or nil.", isList),
		predicate("null", "True for nil.", func(v Value) bool { return v == Nil }),
		predicate("not", "True for nil.", func(v Value) bool { return v == Nil }),
		{name: "endp", list: "(list)", doc: "True at the end of a list.", one: func(c *Call, a Value) Value {
			if !isList(a) {
				c.typeError(a, "LIST")
			}
			return Boolean(a == Nil)
		}},
	}
	for _, steps := range paths {
		rows = append(rows, builtin{name: "c" + steps + "r", list: "(list)", doc: "A composition of car and cdr.", one: path(steps)})
	}
	for i, name := range ordinals {
		steps := "a" + strings.Repeat("d", i)
		rows = append(rows, builtin{name: name, list: "(list)", doc: "The element that the name says, nil if there is none.", one: path(steps)})
	}
	return rows
}

func predicate(name, doc string, test func(Value) bool) builtin {
	return builtin{name: name, list: "(object)", doc: doc, one: func(_ *Call, a Value) Value { return Boolean(test(a)) }}
}

func isList(v Value) bool {
	_, ok := v.(*Cons)
	return ok || v == Nil
}

func (c *Call) nthcdr(n, list Value) Value {
	if !isList(list) {
		c.typeError(list, "LIST")
	}
	for range c.index(n) {
		if list == Nil {
			return Nil
		}
		c.step()
		list = cdrOf(c, list)
	}
	return list
}

// listFunctions make lists of lists.
func listFunctions() []builtin {
	return []builtin{
		{name: "append", list: "(&rest lists)", doc: "The lists joined; the last is shared.", call: appendLists},
		{name: "nconc", list: "(&rest lists)", doc: "The lists joined by changing them.", call: nconc},
		{name: "revappend", list: "(list tail)", doc: "The list reversed, before tail.", two: func(c *Call, a, b Value) Value {
			for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
				b = c.cons(cell.Car, b)
			}
			return b
		}},
		{name: "nreconc", list: "(list tail)", doc: "The list reversed, before tail; the list is used up.", two: func(c *Call, a, b Value) Value {
			c.length(a) // a dotted list is an error before anything is changed
			for cell, ok := c.next(a); ok; cell, ok = c.next(a) {
				a, cell.Cdr, b = cell.Cdr, b, cell
			}
			return b
		}},
		{name: "copy-list", list: "(list)", doc: "A new list of the same elements.", one: func(c *Call, a Value) Value {
			var b builder
			end := c.addCells(&b, a)
			if b.last == nil && end != Nil {
				c.typeError(end, "LIST")
			}
			return b.listStar(end)
		}},
		{name: "copy-alist", list: "(alist)", doc: "A new association list with new pairs.", one: func(c *Call, a Value) Value {
			var b builder
			for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
				c.charge(2 * consBytes)
				if pair, ok := cell.Car.(*Cons); ok {
					b.add(&Cons{Car: pair.Car, Cdr: pair.Cdr})
				} else {
					b.add(cell.Car)
				}
			}
			return b.list()
		}},
		{name: "last", list: "(list &optional n)", doc: "The last n conses.", call: last},
		{name: "butlast", list: "(list &optional n)", doc: "The list without its last n elements.", call: func(c *Call, args []Value) Value {
			kept := c.allBut(args)
			c.chargeMany(kept, consBytes)
			var b builder
			list := args[0]
			for range kept {
				cell := list.(*Cons)
				b.add(cell.Car)
				list = cell.Cdr
			}
			return b.list()
		}},
		{name: "nbutlast", list: "(list &optional n)", doc: "The list without its last n elements, by changing it.", call: func(c *Call, args []Value) Value {
			kept := c.allBut(args)
			if kept == 0 {
				return Nil
			}
			c.cell(c.nthcdr(count(kept-1), args[0])).Cdr = Nil
			return args[0]
		}},
		{name: "ldiff", list: "(list tail)", doc: "The elements before tail.", two: func(c *Call, a, b Value) Value {
			var result builder
			if !isList(a) {
				c.typeError(a, "LIST")
			}
			for !eql(a, b) {
				cell, ok := a.(*Cons)
				if !ok {
					return result.listStar(a)
				}
				c.step()
				c.charge(consBytes)
				result.add(cell.Car)
				a = cell.Cdr
			}
			return result.list()
		}},
		{name: "tailp", list: "(object list)", doc: "True if object is a tail of list.", two: func(c *Call, a, b Value) Value {
			for !eql(a, b) {
				cell, ok := b.(*Cons)
				if !ok {
					return Nil
				}
				c.step()
				b = cell.Cdr
			}
			return T
		}},
		{name: "list-length", list: "(list)", doc: "The length, nil if circular.", one: func(c *Call, a Value) Value {
			slow, n := a, 0
			for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
				if n++; n%2 == 0 {
					slow = slow.(*Cons).Cdr
					if slow == cell.Cdr && cell.Cdr != Nil {
						return Nil
					}
				}
			}
			return count(n)
		}},
	}
}

func appendLists(c *Call, args []Value) Value {
	if len(args) == 0 {
		return Nil
	}
	var b builder
	for _, list := range args[:len(args)-1] {
		for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
			c.charge(consBytes)
			b.add(cell.Car)
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
				c.typeError(list, "LIST")
			}
			break
		}
		for {
			c.step()
			next, ok := cell.Cdr.(*Cons)
			if !ok || i == len(args)-1 {
				break
			}
			cell = next
		}
		last = cell
	}
	return result
}

func last(c *Call, args []Value) Value {
	n := 1
	if len(args) > 1 {
		n = c.amount(args[1])
	}
	list, lag := args[0], args[0]
	if !isList(list) {
		c.typeError(list, "LIST")
	}
	for i := 0; ; i++ {
		cell, ok := list.(*Cons)
		if !ok {
			return lag
		}
		c.step()
		list = cell.Cdr
		if i >= n {
			lag = lag.(*Cons).Cdr
		}
	}
}

// allBut is the number of conses of a list without the last n.
func (c *Call) allBut(args []Value) int {
	n, conses := 1, 0
	if len(args) > 1 {
		n = c.amount(args[1])
	}
	if !isList(args[0]) {
		c.typeError(args[0], "LIST")
	}
	for cell, ok := args[0].(*Cons); ok; cell, ok = cell.Cdr.(*Cons) {
		c.step()
		conses++
	}
	return max(conses-n, 0)
}

// plistFunctions are about property and association lists.
func plistFunctions() []builtin {
	return []builtin{
		{name: "getf", list: "(plist indicator &optional default)", doc: "The value of a property.", two: func(c *Call, a, b Value) Value {
			return c.getf(a, b, Nil)
		}, named: func(c *Call, args Args) Value {
			plist, indicator, defaultArg := args.Get("plist"), args.Get("indicator"), args.Get("default")

			if defaultArg != nil {
				return c.getf(plist, indicator, defaultArg)
			}
			return c.getf(plist, indicator, Nil)
		}},
		{name: "get-properties", list: "(plist indicators)", doc: "The first property that is one of the indicators: name, value, tail.", many: true, call: func(c *Call, args []Value) Value {
			wanted := c.slice(args[1])
			for cell, ok := c.next(args[0]); ok; cell, ok = c.next(cell.Cdr.(*Cons).Cdr) {
				value, ok := cell.Cdr.(*Cons)
				if !ok {
					c.typeError(cell.Cdr, "CONS")
				}
				for _, w := range wanted {
					if w == cell.Car {
						return c.values(cell.Car, value.Car, cell)
					}
				}
			}
			return c.values(Nil, Nil, Nil)
		}},
		{name: "acons", list: "(key datum alist)", doc: "The alist with a new pair in front.", call: func(c *Call, args []Value) Value {
			return c.cons(c.cons(args[0], args[1]), args[2])
		}},
		{name: "pairlis", list: "(keys data &optional alist)", doc: "The alist with new pairs in front.", named: func(c *Call, args Args) Value {
			keys, data := c.slice(args.Get("keys")), c.slice(args.Get("data"))
			if len(keys) != len(data) {
				c.fail(simpleError, "the lists of keys and data are of unequal length")
			}
			result := args.Get("alist")
			if result == nil {
				result = Nil
			}
			for i, key := range keys {
				result = c.cons(c.cons(key, data[i]), result)
			}
			return result
		}},
		{name: "get", list: "(symbol indicator &optional default)", doc: "A property of a symbol.", named: func(c *Call, args Args) Value {
			defaultArg := args.Get("default")

			fallback := Value(Nil)
			if defaultArg != nil {
				fallback = defaultArg
			}
			return c.getf(c.environment.global(c.symbol(args.Get("symbol"))).plist, args.Get("indicator"), fallback)
		}},
		{name: "remprop", list: "(symbol indicator)", doc: "Remove a property of a symbol.", two: func(c *Call, a, b Value) Value {
			g := c.environment.global(c.symbol(a))
			tail := Value(Nil)
			for list := g.plist; list != Nil && tail == Nil; list = cdrOf(c, cdrOf(c, list)) {
				if carOf(c, list) == b {
					tail = list
				}
			}
			g.plist, _ = c.removeProperty(g.plist, b)
			return tail
		}},
		{name: "symbol-plist", list: "(symbol)", doc: "All properties of a symbol.", one: func(c *Call, a Value) Value { return c.environment.global(c.symbol(a)).plist }},
	}
}

// getf looks a property up; a list of odd length is an error, as it is in SBCL, when
// the search comes to its end.
func (c *Call) getf(list, indicator, fallback Value) Value {
	for {
		cell, ok := list.(*Cons)
		if !ok {
			if list == Nil {
				return fallback
			}
			c.typeError(list, "LIST")
		}
		c.step()
		value, ok := cell.Cdr.(*Cons)
		if !ok {
			c.fail(simpleTypeErr, "malformed property list: %s", c.shown(list))
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
			c.fail(simpleTypeErr, "malformed property list: %s", c.shown(args[0]))
		}
		if cell.Car == indicator {
			value.Car = v
			return args[0]
		}
		list = value.Cdr
	}
	return c.cons(indicator, c.cons(v, args[0]))
}

// removeProperty returns the list without a property.
func (c *Call) removeProperty(list, indicator Value) (Value, bool) {
	var previous *Cons
	for rest := list; rest != Nil; {
		cell, _ := c.next(rest)
		value, ok := cell.Cdr.(*Cons)
		if !ok {
			c.fail(simpleError, "malformed property list: %s", c.shown(list))
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
func (c *Call) addCells(b *builder, list Value) Value {
	for {
		cell, ok := list.(*Cons)
		if !ok {
			return list
		}
		c.step()
		c.charge(consBytes)
		b.add(cell.Car)
		list = cell.Cdr
	}
}
