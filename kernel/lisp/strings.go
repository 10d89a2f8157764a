package lisp

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// stringFunctions make and change strings.
func stringFunctions() []Builtin {
	convert := func(name, doc string, change func([]rune)) Builtin {
		return Builtin{Name: name, LambdaList: "(string &key start end)", Doc: doc, Named: func(c *Call, args Args) Value {
			chars := append([]rune(nil), c.Chars(args.Get("string"))...)
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(chars))
			result := c.NewString(chars)
			change(result.chars[from:to])
			return result
		}}
	}
	destroy := func(name, doc string, change func([]rune)) Builtin {
		return Builtin{Name: name, LambdaList: "(string &key start end)", Doc: doc, Named: func(c *Call, args Args) Value {
			s := c.TakeString(args.Get("string"))
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(s.chars))
			c.Work(to - from)
			change(s.chars[from:to])
			return s
		}}
	}
	trim := func(name, doc string, left, right bool) Builtin {
		return Builtin{Name: name, LambdaList: "(characters string)", Doc: doc, Two: func(c *Call, a, b Value) Value { return trimString(c, a, b, left, right) }}
	}
	return []Builtin{
		{Name: "string", LambdaList: "(designator)", Doc: "The string that a symbol or character names.", One: func(c *Call, a Value) Value {
			if s, ok := a.(*String); ok {
				return s
			}
			return c.NewString(c.Chars(a))
		}},
		{Name: "make-string", LambdaList: "(size &key initial-element element-type)", Doc: "A string of size characters.", Named: func(c *Call, args Args) Value {
			initialElement := args.Get("initial-element")

			n := c.Index(args.Get("size"))
			chars := MakeSlice[rune](c, n)
			if initialElement != nil {
				r := rune(c.Character(initialElement))
				for i := range chars {
					chars[i] = r
				}
			}
			return c.StringOf(chars)
		}},
		convert("string-upcase", "The string in upper case.", func(rs []rune) { MapRunes(rs, Upper) }),
		convert("string-downcase", "The string in lower case.", func(rs []rune) { MapRunes(rs, Lower) }),
		convert("string-capitalize", "Each word with a capital.", Capitalize),
		destroy("nstring-upcase", "Change to upper case.", func(rs []rune) { MapRunes(rs, Upper) }),
		destroy("nstring-downcase", "Change to lower case.", func(rs []rune) { MapRunes(rs, Lower) }),
		destroy("nstring-capitalize", "Change each word to have a capital.", Capitalize),
		trim("string-trim", "The string without the characters at both ends.", true, true),
		trim("string-left-trim", "The string without the characters at its beginning.", true, false),
		trim("string-right-trim", "The string without the characters at its end.", false, true),
		{Name: "parse-integer", LambdaList: "(string &key start end radix junk-allowed)", Doc: "The integer in a string, and where it ends.", Many: true, Named: parseInteger},
	}
}

// MapRunes changes characters in place.
func MapRunes(chars []rune, change func(rune) rune) {
	for i, r := range chars {
		chars[i] = change(r)
	}
}

func Capitalize(chars []rune) {
	inside := false
	for i, r := range chars {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			inside = false
		case inside:
			chars[i] = Lower(r)
		default:
			chars[i] = Upper(r)
			inside = true
		}
	}
}

func trimString(c *Call, bag, v Value, left, right bool) Value {
	chars := c.Chars(v)
	var set []rune
	if s, ok := bag.(*String); ok {
		set = s.chars
	} else {
		for _, item := range c.Elements(bag) {
			set = append(set, rune(c.Character(item)))
		}
	}
	in := func(r rune) bool {
		c.Work(len(set)/8 + 1)
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
	return c.NewString(append([]rune(nil), chars[from:to]...))
}

func parseInteger(c *Call, args Args) Value {
	radixArg, junkAllowed := args.Get("radix"), args.Get("junk-allowed")

	s := c.TakeString(args.Get("string"))
	from, to := c.Bounds(args.Get("start"), args.Get("end"), len(s.chars))
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
		if n := DigitWeight(s.chars[i]); n < 0 || n >= radix {
			break
		}
		i++
	}
	c.Work((i - digits) / 16 * ((i - digits) / 16))
	end := i
	for !junk && end < to && unicode.IsSpace(s.chars[end]) {
		end++
	}
	if digits == i || !junk && end < to {
		switch {
		case junk:
			return c.Values(Nil, Count(i))
		case end < to:
			c.Fail(ParseError, "junk in string %s", c.Shown(s))
		case !negative && digits == to && strings.TrimSpace(string(s.chars[from:to])) == "":
			c.Fail(ParseError, "no non-whitespace characters in string %s.", c.Shown(s))
		}
		c.Fail(ParseError, "no digits in string %s", c.Shown(s))
	}
	plain := make([]byte, 0, i-digits)
	for _, r := range s.chars[digits:i] {
		plain = strconv.AppendInt(plain, int64(DigitWeight(r)), 36)
	}
	n, _ := new(big.Int).SetString(string(plain), radix)
	if negative {
		n.Neg(n)
	}
	if junk {
		end = i
	}
	return c.Values(normal(n), Count(end))
}

var (
	symStringCompare = []string{"string=", "string<", "string>", "string<=", "string>=", "string/="}
)

// stringComparisons compare strings and string designators.
func stringComparisons() []Builtin {
	tests := []func(order int) bool{
		func(o int) bool { return o == 0 }, func(o int) bool { return o < 0 }, func(o int) bool { return o > 0 },
		func(o int) bool { return o <= 0 }, func(o int) bool { return o >= 0 }, func(o int) bool { return o != 0 },
	}
	folded := []string{"string-equal", "string-lessp", "string-greaterp", "string-not-greaterp", "string-not-lessp", "string-not-equal"}
	var rows []Builtin
	for i, test := range tests {
		rows = append(rows, stringComparison(symStringCompare[i], test, i == 0, same), stringComparison(folded[i], test, i == 0, Lower))
	}
	return append(rows, Builtin{Name: "stringp", LambdaList: "(object)", Doc: "True for a string.", One: func(_ *Call, a Value) Value { _, ok := a.(*String); return Boolean(ok) }})
}

// stringComparison yields the index of the first difference where the test holds, or
// just T for equality.
func stringComparison(name string, test func(int) bool, equality bool, fold func(rune) rune) Builtin {
	compare := func(c *Call, a, b []rune, offset int) Value {
		c.Work(min(len(a), len(b)) / 4)
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
		return Count(i + offset)
	}
	return Builtin{Name: name, LambdaList: "(a b &key start1 end1 start2 end2)", Doc: "Compare two strings.",
		Two: func(c *Call, a, b Value) Value { return compare(c, c.Chars(a), c.Chars(b), 0) },
		Named: func(c *Call, args Args) Value {
			a, b := c.Chars(args.Get("a")), c.Chars(args.Get("b"))
			from1, to1 := c.Bounds(args.Get("start1"), args.Get("end1"), len(a))
			from2, to2 := c.Bounds(args.Get("start2"), args.Get("end2"), len(b))
			return compare(c, a[from1:to1], b[from2:to2], from1)
		}}
}
