package uiop

import (
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/lisp"
)

// uiopVersions compare versions such as 1.2.3, and times of files, for which t is before
// and nil behind all numbers.
func uiopVersions() []lisp.Builtin {
	version := func(name, doc string, test func(a, b []int) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(a b)", Doc: doc, Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			x, y := numbersOf(c, a), numbersOf(c, b)
			return lisp.Boolean(x != nil && y != nil && test(x, y))
		}}
	}
	earlier := func(c *lisp.Call, a, b lisp.Value) bool {
		switch {
		case a == lisp.Nil || b == lisp.Nil || a == lisp.T || b == lisp.T:
			return timestampRank(a) < timestampRank(b)
		}
		return c.Standard("<", a, b) != lisp.Nil
	}
	extreme := func(name, list, doc string, rest bool, better func(c *lisp.Call, a, b lisp.Value) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: list, Doc: doc, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			items := args
			if rest {
				items = c.Slice(args[0])
			}
			if len(items) == 0 {
				return lisp.Nil
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
	later := func(c *lisp.Call, a, b lisp.Value) bool { return earlier(c, b, a) }
	return []lisp.Builtin{
		{Name: "parse-version", LambdaList: "(version &optional on-error)", Doc: "The numbers of a version in a list, or nil.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			versionArg := args.Get("version")
			if v := numbersOf(c, versionArg); v != nil {
				list := lisp.NewListBuilder(c)
				for _, n := range v {
					list.Add(lisp.Count(n))
				}
				return list.List()
			}
			if fn := args.Get("on-error"); lisp.Given(fn) && versionArg != lisp.Nil {
				c.Funcall(ensureFunction(c, fn), c.Text("~S: ~S is no version"), c.Lookup("UIOP:PARSE-VERSION"), versionArg)
			}
			return lisp.Nil
		}},
		{Name: "unparse-version", LambdaList: "(numbers)", Doc: "The version of a list of numbers.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			version := lisp.NewStringBuilder(c)
			for i, item := range c.Slice(a) {
				if i > 0 {
					version.WriteRune('.')
				}
				version.WriteString(c.Printed(item, false))
			}
			return version.Value()
		}},
		{Name: "next-version", LambdaList: "(version)", Doc: "The version whose last number is one more.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			v := numbersOf(c, a)
			if v == nil {
				return lisp.Nil
			}
			v[len(v)-1]++
			version := lisp.NewStringBuilder(c)
			for i, n := range v {
				if i > 0 {
					version.WriteRune('.')
				}
				version.WriteString(strconv.Itoa(n))
			}
			return version.Value()
		}},
		version("version<", "True if version a is before b.", func(a, b []int) bool { return slices.Compare(a, b) < 0 }),
		version("version<=", "True if version a is not behind b.", func(a, b []int) bool { return slices.Compare(a, b) <= 0 }),
		version("version-compatible-p", "True if version a can stand for b: it is not before b and its first number is the same.", func(a, b []int) bool { return a[0] == b[0] && slices.Compare(a, b) >= 0 }),
		{Name: "timestamp<", LambdaList: "(a b)", Doc: "True if time a is before b; t is before and nil behind all numbers.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value { return lisp.Boolean(earlier(c, a, b)) }},
		{Name: "timestamp<=", LambdaList: "(a b)", Doc: "True if time a is not behind b.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value { return lisp.Boolean(!earlier(c, b, a)) }},
		extreme("earlier-timestamp", "(a b)", "The earlier of two times.", false, earlier), extreme("later-timestamp", "(a b)", "The later of two times.", false, later),
		extreme("earliest-timestamp", "(&rest times)", "The earliest time.", false, earlier), extreme("latest-timestamp", "(&rest times)", "The latest time.", false, later),
		extreme("timestamps-earliest", "(times)", "The earliest time of a list.", true, earlier), extreme("timestamps-latest", "(times)", "The latest time of a list.", true, later),
	}
}

func timestampRank(v lisp.Value) int {
	switch v {
	case lisp.Nil:
		return 1
	case lisp.T:
		return -1
	}
	return 0
}

// numbersOf is the numbers of a version, nil if it is none.
func numbersOf(c *lisp.Call, v lisp.Value) []int {
	text, ok := v.(*lisp.String)
	if !ok {
		if v != lisp.Nil {
			c.TypeError(v, "STRING")
		}
		return nil
	}
	var numbers []int
	for part := range strings.SplitSeq(c.GoText(text.Runes()), ".") {
		digits := strings.TrimLeft(part, "0")
		if part == "" || len(digits) > len("1099511627775") { // 40 bits
			return nil
		}
		n, err := strconv.ParseUint("0"+digits, 10, 40)
		if err != nil {
			return nil
		}
		numbers = lisp.Append(c, numbers, int(n))
	}
	return numbers
}
