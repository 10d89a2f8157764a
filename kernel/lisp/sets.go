package lisp

import (
	"slices"
)

// Keywords of the sequence functions.
var (
	kwStart = Keyword("START")
	kwEnd   = Keyword("END")
)

// matcher compares elements as :test, :test-not and :key say.
type matcher struct {
	call *Call
	test *Function // nil: eql
	not  bool
	key  *Function // nil: the element itself
	// exchanged calls the test with the part before the item.
	exchanged bool
}

// matcher reads the parameters test, test-not and key, of which the function need not have
// all.
func (c *Call) matcher(args Args) *matcher {
	return c.newMatcher(args.find("test"), args.find("test-not"), args.find("key"))
}

func (c *Call) newMatcher(test, testNot, key Value) *matcher {
	m := &matcher{call: c}
	if Given(test) && Given(testNot) {
		c.Fail(SimpleError, "both :test and :test-not are given")
	}
	if testNot != nil && testNot != Nil {
		m.test, m.not = c.Function(testNot), true
	} else if test != nil && test != Nil {
		m.test = c.Function(test)
		if m.test == c.environment.language.functions[symEql] {
			m.test = nil
		}
	}
	if key != nil && key != Nil {
		m.key = c.Function(key)
	}
	return m
}

// keyed is the part of an element that is compared.
func (m *matcher) keyed(element Value) Value {
	if m.key != nil {
		return m.call.Call1(m.key, element)
	}
	return element
}

// same compares an item with the part of an element that counts.
func (m *matcher) same(item, part Value) bool {
	if m.test == nil {
		m.call.Step()
		return eql(item, part)
	}
	if m.exchanged {
		item, part = part, item
	}
	return isTrue(m.call.Call2(m.test, item, part)) != m.not
}

func (m *matcher) matches(item, element Value) bool { return m.same(item, m.keyed(element)) }

// setFunctions search lists and treat them as sets.
func setFunctions() []Builtin {
	rows := []Builtin{
		{Name: "member", LambdaList: "(item list &key test test-not key)", Doc: "The tail of list that begins with item.", Two: memberEql, Named: func(c *Call, args Args) Value {
			item := args.Get("item")
			m := c.matcher(args)
			return c.memberBy(args.Get("list"), func(v Value) bool { return m.matches(item, v) })
		}},
		conditional("member-if", "The tail that begins with an element the predicate holds for.", true, (*Call).memberBy),
		conditional("member-if-not", "The tail that begins with an element the predicate does not hold for.", false, (*Call).memberBy),
		{Name: "assoc", LambdaList: "(item alist &key test test-not key)", Doc: "The first pair whose car is item.", Named: func(c *Call, args Args) Value {
			item := args.Get("item")
			m := c.matcher(args)
			return c.assocBy(args.Get("alist"), func(v Value) bool { return m.matches(item, v) })
		}},
		conditional("assoc-if", "The first pair whose car the predicate holds for.", true, (*Call).assocBy),
		conditional("assoc-if-not", "The first pair whose car the predicate does not hold for.", false, (*Call).assocBy),
		{Name: "rassoc", LambdaList: "(item alist &key test test-not key)", Doc: "The first pair whose cdr is item.", Named: func(c *Call, args Args) Value {
			item := args.Get("item")
			m := c.matcher(args)
			return c.rassocBy(args.Get("alist"), func(v Value) bool { return m.matches(item, v) })
		}},
		conditional("rassoc-if", "The first pair whose cdr the predicate holds for.", true, (*Call).rassocBy),
		conditional("rassoc-if-not", "The first pair whose cdr the predicate does not hold for.", false, (*Call).rassocBy),
		{Name: "adjoin", LambdaList: "(item list &key test test-not key)", Doc: "The list, with item in front if it is not in it.", Named: func(c *Call, args Args) Value {
			item, listArg := args.Get("item"), args.Get("list")
			m := c.matcher(args)
			part := m.keyed(item)
			if c.memberBy(listArg, func(v Value) bool { return m.matches(part, v) }) != Nil {
				return listArg
			}
			return c.Cons(item, listArg)
		}},
		{Name: "subsetp", LambdaList: "(a b &key test test-not key)", Doc: "True if every element of a is in b.", Named: func(c *Call, args Args) Value {
			a := args.Get("a")
			m := c.matcher(args)
			b := c.Slice(args.Get("b"))
			for _, v := range c.Slice(a) {
				if !m.in(v, b) {
					return Nil
				}
			}
			return T
		}},
	}
	for _, prefix := range []string{"", "n"} {
		rows = append(rows,
			setFunction(prefix+"union", "The elements of both.", union),
			setFunction(prefix+"intersection", "The elements of a that are in b.", func(m *matcher, a, b []Value) []Value { return m.filter(a, b, true) }),
			setFunction(prefix+"set-difference", "The elements of a that are not in b.", difference))
	}
	return append(rows,
		setFunction("set-exclusive-or", "The elements that are in one only.", func(m *matcher, a, b []Value) []Value {
			return append(m.turned().filter(b, a, false), m.filter(a, b, false)...)
		}),
		setFunction("nset-exclusive-or", "The elements that are in one only.", func(m *matcher, a, b []Value) []Value {
			result := append(m.turned().filter(b, a, false), m.filter(a, b, false)...)
			slices.Reverse(result)
			return result
		}))
}

func memberEql(c *Call, item, list Value) Value {
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		if eql(cell.Car, item) {
			return cell
		}
	}
	return Nil
}

func conditional(name, doc string, sense bool, find func(*Call, Value, func(Value) bool) Value) Builtin {
	return Builtin{Name: name, LambdaList: "(predicate list &key key)", Doc: doc, Named: func(c *Call, args Args) Value {
		test, m := c.Function(args.Get("predicate")), c.matcher(args)
		return find(c, args.Get("list"), func(v Value) bool { return isTrue(c.Call1(test, m.keyed(v))) == sense })
	}}
}

func (c *Call) memberBy(list Value, test func(Value) bool) Value {
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		if test(cell.Car) {
			return cell
		}
	}
	return Nil
}

func (c *Call) assocBy(list Value, test func(Value) bool) Value {
	return c.pairWhere(list, func(pair *Cons) bool { return test(pair.Car) })
}

func (c *Call) rassocBy(list Value, test func(Value) bool) Value {
	return c.pairWhere(list, func(pair *Cons) bool { return test(pair.Cdr) })
}

// pairWhere finds a pair in an association list, in which elements may be nil.
func (c *Call) pairWhere(list Value, test func(*Cons) bool) Value {
	for cell, ok := c.next(list); ok; cell, ok = c.next(cell.Cdr) {
		if cell.Car == Nil {
			continue
		}
		if pair := c.pair(cell.Car); test(pair) {
			return pair
		}
	}
	return Nil
}

func (c *Call) pair(v Value) *Cons {
	cell, ok := v.(*Cons)
	if !ok {
		c.TypeError(v, "LIST")
	}
	return cell
}

func setFunction(name, doc string, combine func(m *matcher, a, b []Value) []Value) Builtin {
	return Builtin{Name: name, LambdaList: "(a b &key test test-not key)", Doc: doc, Named: func(c *Call, args Args) Value {
		return c.NewList(combine(c.matcher(args), c.Slice(args.Get("a")), c.Slice(args.Get("b"))))
	}}
}

func (m *matcher) in(v Value, list []Value) bool {
	part := m.keyed(v)
	for _, other := range list {
		if m.matches(part, other) {
			return true
		}
	}
	return false
}

// turned compares with its arguments exchanged.
func (m *matcher) turned() *matcher {
	other := *m
	other.exchanged = !m.exchanged
	return &other
}

// filter returns the elements of a that are in b, or are not, in the order SBCL gives:
// the last one first.
func (m *matcher) filter(a, b []Value, in bool) []Value {
	var result []Value
	for _, v := range a {
		if m.in(v, b) == in {
			result = Append(m.call, result, v)
		}
	}
	slices.Reverse(result)
	return result
}

func difference(m *matcher, a, b []Value) []Value {
	if len(b) == 0 {
		return a
	}
	return m.filter(a, b, false)
}

// union puts the elements that only the longer list has before the shorter one.
func union(m *matcher, a, b []Value) []Value {
	if len(a) < len(b) {
		return append(m.filter(b, a, false), a...)
	}
	return append(m.filter(a, b, false), b...)
}
