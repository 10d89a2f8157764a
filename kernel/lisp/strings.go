package lisp

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// stringFunctions make and change strings.
func stringFunctions() []builtin {
	convert := func(name, doc string, change func([]rune)) builtin {
		return builtin{name: name, list: "(string &key start end)", doc: doc, named: func(c *Call, args Args) Value {
			chars := append([]rune(nil), c.chars(args.Get("string"))...)
			from, to := c.bounds(args.Get("start"), args.Get("end"), len(chars))
			result := c.newString(chars)
			change(result.chars[from:to])
			return result
		}}
	}
	destroy := func(name, doc string, change func([]rune)) builtin {
		return builtin{name: name, list: "(string &key start end)", doc: doc, named: func(c *Call, args Args) Value {
			s := c.str(args.Get("string"))
			from, to := c.bounds(args.Get("start"), args.Get("end"), len(s.chars))
			c.work(to - from)
			change(s.chars[from:to])
			return s
		}}
	}
	trim := func(name, doc string, left, right bool) builtin {
		return builtin{name: name, list: "(characters string)", doc: doc, two: func(c *Call, a, b Value) Value { return trimString(c, a, b, left, right) }}
	}
	return []builtin{
		{name: "string", list: "(designator)", doc: "The string that a symbol or character names.", one: func(c *Call, a Value) Value {
			if s, ok := a.(*String); ok {
				return s
			}
			return c.newString(c.chars(a))
		}},
		{name: "make-string", list: "(size &key initial-element element-type)", doc: "A string of size characters.", named: func(c *Call, args Args) Value {
			initialElement := args.Get("initial-element")

			n := c.index(args.Get("size"))
			c.chargeMany(n, runeBytes)
			chars := make([]rune, n)
			if initialElement != nil {
				r := rune(c.character(initialElement))
				for i := range chars {
					chars[i] = r
				}
			}
			return runesString(chars)
		}},
		convert("string-upcase", "The string in upper case.", func(rs []rune) { each(rs, upper) }),
		convert("string-downcase", "The string in lower case.", func(rs []rune) { each(rs, lower) }),
		convert("string-capitalize", "Each word with a capital.", capitalize),
		destroy("nstring-upcase", "Change to upper case.", func(rs []rune) { each(rs, upper) }),
		destroy("nstring-downcase", "Change to lower case.", func(rs []rune) { each(rs, lower) }),
		destroy("nstring-capitalize", "Change each word to have a capital.", capitalize),
		trim("string-trim", "The string without the characters at both ends.", true, true),
		trim("string-left-trim", "The string without the characters at its beginning.", true, false),
		trim("string-right-trim", "The string without the characters at its end.", false, true),
		{name: "parse-integer", list: "(string &key start end radix junk-allowed)", doc: "The integer in a string, and where it ends.", many: true, named: parseInteger},
	}
}

func each(chars []rune, change func(rune) rune) {
	for i, r := range chars {
		chars[i] = change(r)
	}
}

func capitalize(chars []rune) {
	inside := false
	for i, r := range chars {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			inside = false
		case inside:
			chars[i] = lower(r)
		default:
			chars[i] = upper(r)
			inside = true
		}
	}
}

func trimString(c *Call, bag, v Value, left, right bool) Value {
	chars := c.chars(v)
	var set []rune
	if s, ok := bag.(*String); ok {
		set = s.chars
	} else {
		for _, item := range c.elements(bag) {
			set = append(set, rune(c.character(item)))
		}
	}
	in := func(r rune) bool {
		c.work(len(set)/8 + 1)
		for _, other := range set {
			if other == r {
				return true
			}
		}
		return false
	}
	from, to := 0, len(chars)
	for left && from < to && in(chars[from]) {
		from++
	}
	for right && to > from && in(chars[to-1]) {
		to--
	}
	if s, ok := v.(*String); ok && from == 0 && to == len(chars) {
		return s
	}
	return c.newString(append([]rune(nil), chars[from:to]...))
}

func parseInteger(c *Call, args Args) Value {
	radixArg, junkAllowed := args.Get("radix"), args.Get("junk-allowed")

	s := c.str(args.Get("string"))
	from, to := c.bounds(args.Get("start"), args.Get("end"), len(s.chars))
	radix, junk := 10, junkAllowed != nil && junkAllowed != Nil
	if radixArg != nil {
		radix = c.radix(radixArg)
	}
	i := from
	for i < to && unicode.IsSpace(s.chars[i]) {
		i++
	}
	negative := false
	if i < to && (s.chars[i] == '-' || s.chars[i] == '+') {
		negative = s.chars[i] == '-'
		i++
	}
	digits := i
	for i < to {
		if n := digitWeight(s.chars[i]); n < 0 || n >= radix {
			break
		}
		i++
	}
	c.work((i - digits) / 16 * ((i - digits) / 16))
	end := i
	for !junk && end < to && unicode.IsSpace(s.chars[end]) {
		end++
	}
	if digits == i || !junk && end < to {
		switch {
		case junk:
			return c.values(Nil, count(i))
		case end < to:
			c.fail(parseError, "junk in string %s", c.shown(s))
		case !negative && digits == to && strings.TrimSpace(string(s.chars[from:to])) == "":
			c.fail(parseError, "no non-whitespace characters in string %s.", c.shown(s))
		}
		c.fail(parseError, "no digits in string %s", c.shown(s))
	}
	plain := make([]byte, 0, i-digits)
	for _, r := range s.chars[digits:i] {
		plain = strconv.AppendInt(plain, int64(digitWeight(r)), 36)
	}
	n, _ := new(big.Int).SetString(string(plain), radix)
	if negative {
		n.Neg(n)
	}
	if junk {
		end = i
	}
	return c.values(normal(n), count(end))
}

var (
	symStringCompare = []string{"string=", "string<", "string>", "string<=", "string>=", "string/="}
)

// stringComparisons compare strings and string designators.
func stringComparisons() []builtin {
	tests := []func(order int) bool{
		func(o int) bool { return o == 0 }, func(o int) bool { return o < 0 }, func(o int) bool { return o > 0 },
		func(o int) bool { return o <= 0 }, func(o int) bool { return o >= 0 }, func(o int) bool { return o != 0 },
	}
	folded := []string{"string-equal", "string-lessp", "string-greaterp", "string-not-greaterp", "string-not-lessp", "string-not-equal"}
	var rows []builtin
	for i, test := range tests {
		rows = append(rows, stringComparison(symStringCompare[i], test, i == 0, same), stringComparison(folded[i], test, i == 0, lower))
	}
	return append(rows, builtin{name: "stringp", list: "(object)", doc: "True for a string.", one: func(_ *Call, a Value) Value { _, ok := a.(*String); return Boolean(ok) }})
}

// stringComparison yields the index of the first difference where the test holds, or
// just T for equality.
func stringComparison(name string, test func(int) bool, equality bool, fold func(rune) rune) builtin {
	compare := func(c *Call, a, b []rune, offset int) Value {
		c.work(min(len(a), len(b)) / 4)
		i := 0
		for i < len(a) && i < len(b) && fold(a[i]) == fold(b[i]) {
			i++
		}
		order := 0
		switch {
		case i == len(a) && i == len(b):
		case i == len(a):
			order = -1
		case i == len(b):
			order = 1
		default:
			order = int(fold(a[i])) - int(fold(b[i]))
		}
		if !test(order) {
			return Nil
		}
		if equality {
			return T
		}
		return count(i + offset)
	}
	return builtin{name: name, list: "(a b &key start1 end1 start2 end2)", doc: "Compare two strings.",
		two: func(c *Call, a, b Value) Value { return compare(c, c.chars(a), c.chars(b), 0) },
		named: func(c *Call, args Args) Value {
			a, b := c.chars(args.Get("a")), c.chars(args.Get("b"))
			from1, to1 := c.bounds(args.Get("start1"), args.Get("end1"), len(a))
			from2, to2 := c.bounds(args.Get("start2"), args.Get("end2"), len(b))
			return compare(c, a[from1:to1], b[from2:to2], from1)
		}}
}
