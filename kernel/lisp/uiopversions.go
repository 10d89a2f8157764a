package lisp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// uiopVersions compare versions such as 1.2.3, and times of files, for which t is before
// and nil behind all numbers.
func uiopVersions() []builtin {
	version := func(name, doc string, test func(a, b []int) bool) builtin {
		return builtin{name: name, list: "(a b)", doc: doc, two: func(c *Call, a, b Value) Value {
			x, y := c.version(a), c.version(b)
			return Boolean(x != nil && y != nil && test(x, y))
		}}
	}
	earlier := func(c *Call, a, b Value) bool {
		switch {
		case a == Nil || b == Nil || a == T || b == T:
			return timestampRank(a) < timestampRank(b)
		}
		return c.compare(a, b) < 0
	}
	extreme := func(name, list, doc string, rest bool, better func(c *Call, a, b Value) bool) builtin {
		return builtin{name: name, list: list, doc: doc, call: func(c *Call, args []Value) Value {
			items := args
			if rest {
				items = c.slice(args[0])
			}
			if len(items) == 0 {
				return Nil
			}
			best := items[0]
			for _, item := range items[1:] {
				if better(c, item, best) {
					best = item
				}
			}
			return best
		}}
	}
	later := func(c *Call, a, b Value) bool { return earlier(c, b, a) }
	return []builtin{
		{name: "uiop:parse-version", list: "(version &optional on-error)", doc: "The numbers of a version in a list, or nil.", named: func(c *Call, args Args) Value {
			versionArg := args.Get("version")

			if v := c.version(versionArg); v != nil {
				var list builder
				for _, n := range v {
					c.charge(consBytes)
					list.add(count(n))
				}
				return list.list()
			}
			if fn := args.Get("on-error"); given(fn) && versionArg != Nil {
				c.apply(c.ensureFunction(fn), []Value{c.text("~S: ~S is no version"), c.environment.language.symbol("UIOP:PARSE-VERSION"), versionArg})
			}
			return Nil
		}},
		{name: "uiop:unparse-version", list: "(numbers)", doc: "The version of a list of numbers.", one: func(c *Call, a Value) Value {
			var parts []string
			for _, item := range c.slice(a) {
				parts = append(parts, c.printed(item, false))
			}
			return c.text(strings.Join(parts, "."))
		}},
		{name: "uiop:next-version", list: "(version)", doc: "The version whose last number is one more.", one: func(c *Call, a Value) Value {
			v := c.version(a)
			if v == nil {
				return Nil
			}
			v[len(v)-1]++
			return c.text(strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", "."), "[]"))
		}},
		version("uiop:version<", "True if version a is before b.", func(a, b []int) bool { return slices.Compare(a, b) < 0 }),
		version("uiop:version<=", "True if version a is not behind b.", func(a, b []int) bool { return slices.Compare(a, b) <= 0 }),
		version("uiop:version-compatible-p", "True if version a can stand for b: it is not before b and its first number is the same.", func(a, b []int) bool { return a[0] == b[0] && slices.Compare(a, b) >= 0 }),
		{name: "uiop:timestamp<", list: "(a b)", doc: "True if time a is before b; t is before and nil behind all numbers.", two: func(c *Call, a, b Value) Value { return Boolean(earlier(c, a, b)) }},
		{name: "uiop:timestamp<=", list: "(a b)", doc: "True if time a is not behind b.", two: func(c *Call, a, b Value) Value { return Boolean(!earlier(c, b, a)) }},
		extreme("uiop:earlier-timestamp", "(a b)", "The earlier of two times.", false, earlier), extreme("uiop:later-timestamp", "(a b)", "The later of two times.", false, later),
		extreme("uiop:earliest-timestamp", "(&rest times)", "The earliest time.", false, earlier), extreme("uiop:latest-timestamp", "(&rest times)", "The latest time.", false, later),
		extreme("uiop:timestamps-earliest", "(times)", "The earliest time of a list.", true, earlier), extreme("uiop:timestamps-latest", "(times)", "The latest time of a list.", true, later),
	}
}

func timestampRank(v Value) int {
	switch v {
	case Nil:
		return 1
	case T:
		return -1
	}
	return 0
}

// version is the numbers of a version, nil if it is none.
func (c *Call) version(v Value) []int {
	text, ok := v.(*String)
	if !ok {
		if v != Nil {
			c.typeError(v, "STRING")
		}
		return nil
	}
	c.chargeMany(len(text.chars), valueBytes)
	var numbers []int
	for _, part := range strings.Split(text.String(), ".") {
		n, err := strconv.ParseUint(part, 10, 40)
		if err != nil {
			return nil
		}
		numbers = append(numbers, int(n))
	}
	return numbers
}
