package str

import (
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib/ppcre"
)

// strTests are the predicates of str, with the names they had before.
func strTests() []lisp.Builtin {
	var rows []lisp.Builtin
	add := func(row lisp.Builtin, other ...string) {
		rows = append(rows, row)
		for _, name := range other {
			row.Name = name
			rows = append(rows, row)
		}
	}
	check := func(name, doc string, test func(c *lisp.Call, v lisp.Value) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value { return lisp.Boolean(test(c, a)) }}
	}
	pattern := func(pattern string) func(c *lisp.Call, v lisp.Value) bool {
		return func(c *lisp.Call, v lisp.Value) bool {
			_, ok := ppcre.Search(c, lisp.NewString(pattern), v, nil, nil).Next()
			return ok
		}
	}
	every := func(test func(rune) bool) func(c *lisp.Call, v lisp.Value) bool {
		return func(c *lisp.Call, v lisp.Value) bool {
			chars := charsOrNone(c, v)
			c.Work(len(chars) / 8)
			return !slices.ContainsFunc(chars, func(r rune) bool { return !test(r) })
		}
	}
	blank := func(c *lisp.Call, v lisp.Value) bool {
		return every(c.CharacterBag(defaulted(c, nil, "*WHITESPACES*")))(c, v)
	}
	empty := func(c *lisp.Call, v lisp.Value) bool { return len(charsOrNone(c, v)) == 0 }
	isText := func(v lisp.Value) bool { _, ok := v.(*lisp.String); return ok }
	add(check("emptyp", "True for an empty string or nil.", empty), "empty?")
	add(check("blankp", "True if there is nothing but blanks.", blank), "blank?")
	add(check("non-empty-string-p", "True for a string with characters.", func(c *lisp.Call, v lisp.Value) bool { return isText(v) && !empty(c, v) }))
	add(check("non-blank-string-p", "True for a string with other characters than blanks.", func(c *lisp.Call, v lisp.Value) bool { return isText(v) && !blank(c, v) }))
	add(check("digitp", "True for digits only.", func(c *lisp.Call, v lisp.Value) bool {
		return !empty(c, v) && every(func(r rune) bool { w := lisp.DigitWeight(r); return w >= 0 && w < 10 })(c, v)
	}),
		"digit?", "numericp", "numeric?")
	add(strMatching("alphanump", "Bounds of the string if it has ASCII letters and digits only.", `^[a-zA-Z0-9]+$`, ppcre.Match.Bounds), "alphanum?")
	add(strMatching("alphap", "The string if it has ASCII letters only.", `^[a-zA-Z]+$`, func(m ppcre.Match) []lisp.Value { return []lisp.Value{m.Text(), lisp.NewVector(nil)} }), "alpha?")
	add(check("lettersp", "True for letters of any script only.", pattern(`^\p{L}+$`)), "letters?")
	add(check("lettersnump", "True for letters of any script and ASCII digits only.", pattern(`^[\p{L}a-zA-Z0-9]+$`)))
	add(check("has-alphanum-p", "True if there is a letter or digit.", func(c *lisp.Call, v lisp.Value) bool {
		return !every(func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })(c, v)
	}))
	add(check("has-alpha-p", "True if there is an ASCII letter.", pattern(`[a-zA-Z]`)))
	add(check("has-letters-p", "True if there is a letter.", pattern(`\p{L}`)))
	add(lisp.Builtin{Name: "ascii-char-p", LambdaList: "(character)", Doc: "True for an ASCII character.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return lisp.Boolean(c.Character(a) < 128) }})
	add(check("ascii-p", "True for an ASCII character, or a string of them.", func(c *lisp.Call, v lisp.Value) bool {
		return v != lisp.Nil && every(func(r rune) bool { return r < 128 })(c, v)
	}))
	cased := func(own func(rune) rune) func(c *lisp.Call, v lisp.Value) bool {
		return func(c *lisp.Call, v lisp.Value) bool {
			if ch, ok := v.(lisp.Character); ok {
				return own(rune(ch)) != rune(ch)
			}
			return pattern(`\p{L}`)(c, v) && every(func(r rune) bool { return !unicode.IsLetter(r) || own(r) != r })(c, v)
		}
	}
	add(check("upcasep", "True if there are letters, all of them upper case.", cased(lisp.Lower)), "upcase?")
	add(check("downcasep", "True if there are letters, all of them lower case.", cased(lisp.Upper)), "downcase?")
	return append(rows, strAffixTests()...)
}

// strMatching is a test that tells what it found.
func strMatching(name, doc, pattern string, found func(ppcre.Match) []lisp.Value) lisp.Builtin {
	return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, Many: true, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
		match, ok := ppcre.Search(c, lisp.NewString(pattern), a, nil, nil).Next()
		if !ok {
			return lisp.Nil
		}
		return c.Values(found(match)...)
	}}
}

// strAffixTests look for a string in another one.
func strAffixTests() []lisp.Builtin {
	affix := func(name, list, doc string, test func(c *lisp.Call, part, text []rune) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: list, Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			part, text := c.Chars(args.At(0)), charsOrNone(c, args.At(1))
			if lisp.Given(defaulted(c, args.Get("ignore-case"), "*IGNORE-CASE*")) {
				part, text = lowered(c, part), lowered(c, text)
			}
			return lisp.Boolean(len(part) <= len(text) && test(c, part, text))
		}}
	}
	starts := func(c *lisp.Call, part, text []rune) bool { return c.SameRunes(part, text[:len(part)]) }
	ends := func(c *lisp.Call, part, text []rune) bool { return c.SameRunes(part, text[len(text)-len(part):]) }
	contains := func(name string) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(substring string &key ignore-case)", Doc: "True if string contains substring.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			part, text := charsOrNone(c, args.Get("substring")), charsOrNone(c, stringArg)
			if stringArg == lisp.Nil && len(part) == 0 {
				return lisp.Nil
			}
			if lisp.Given(defaulted(c, args.Get("ignore-case"), "*IGNORE-CASE*")) {
				part, text = lowered(c, part), lowered(c, text)
			}
			return lisp.Boolean(strings.Contains(c.GoText(text), c.GoText(part)))
		}}
	}
	return []lisp.Builtin{
		affix("starts-with-p", "(start string &key ignore-case)", "True if string begins with start.", starts),
		affix("starts-with?", "(start string &key ignore-case)", "True if string begins with start.", starts),
		affix("ends-with-p", "(end string &key ignore-case)", "True if string ends with end.", ends),
		affix("ends-with?", "(end string &key ignore-case)", "True if string ends with end.", ends),
		contains("containsp"), contains("contains?"),
	}
}

// strAffixes find, test and add beginnings and ends.
func strAffixes() []lisp.Builtin {
	common := func(name, doc string, end bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(strings)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value { return commonAffix(c, c.Slice(a), end) }}
	}
	all := func(name, list, doc string, ends bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: list, Doc: doc, Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			for _, item := range c.Slice(a) {
				if !hasAffix(c, b, item, ends) {
					return lisp.Nil
				}
			}
			return b
		}}
	}
	each := func(name, doc string, end bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(strings affix)", Doc: doc, Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			items := c.Slice(a)
			for i, item := range items {
				items[i] = withAffix(c, b, item, end)
			}
			return c.NewList(items)
		}}
	}
	ensure := func(name, list, doc string, change func(c *lisp.Call, affix, text lisp.Value) lisp.Value) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: list, Doc: doc, Two: change}
	}
	prefix := func(c *lisp.Call, affix, text lisp.Value) lisp.Value { return ensured(c, affix, text, false) }
	suffix := func(c *lisp.Call, affix, text lisp.Value) lisp.Value { return ensured(c, affix, text, true) }
	wrapped := func(c *lisp.Call, affix, text lisp.Value) lisp.Value { return prefix(c, affix, suffix(c, affix, text)) }
	return []lisp.Builtin{
		common("prefix", "The longest common beginning.", false), common("common-prefix", "The longest common beginning.", false),
		common("suffix", "The longest common end.", true),
		all("prefixp", "(strings prefix)", "The prefix if all strings begin with it.", false), all("prefix?", "(strings prefix)", "The prefix if all strings begin with it.", false),
		all("suffixp", "(strings suffix)", "The suffix if all strings end with it.", true), all("suffix?", "(strings suffix)", "The suffix if all strings end with it.", true),
		each("add-prefix", "The strings with another before each.", false), each("add-suffix", "The strings with another behind each.", true),
		ensure("ensure-prefix", "(start string)", "The string with start before it, unless it begins so.", prefix),
		ensure("ensure-suffix", "(end string)", "The string with end behind it, unless it ends so.", suffix),
		ensure("ensure-wrapped-in", "(affix string)", "The string with an affix at both ends, unless it is there.", wrapped),
		{Name: "wrapped-in-p", LambdaList: "(affix string)", Doc: "The string if it begins and ends with the affix.", Two: func(c *lisp.Call, affix, text lisp.Value) lisp.Value {
			if affix != lisp.Nil && text != lisp.Nil && !(hasAffix(c, affix, text, false) && hasAffix(c, affix, text, true)) {
				return lisp.Nil
			}
			return text
		}},
		{Name: "ensure", LambdaList: "(string &key wrapped-in prefix suffix)", Doc: "The string with the given affixes, unless they are there.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			if text, ok := args.Get("wrapped-in").(*lisp.String); ok && len(text.Runes()) > 0 {
				return wrapped(c, text, stringArg)
			}
			return prefix(c, lisp.OrNil(args.Get("prefix")), suffix(c, lisp.OrNil(args.Get("suffix")), stringArg))
		}},
	}
}

func hasAffix(c *lisp.Call, affix, v lisp.Value, end bool) bool {
	part, text := c.Chars(affix), charsOrNone(c, v)
	if len(part) > len(text) {
		return false
	}
	if end {
		return c.SameRunes(part, text[len(text)-len(part):])
	}
	return c.SameRunes(part, text[:len(part)])
}

func withAffix(c *lisp.Call, affix, v lisp.Value, end bool) lisp.Value {
	part, text := charsOrNone(c, affix), charsOrNone(c, v)
	if end {
		part, text = text, part
	}
	return c.StringOf(lisp.Concat(c, part, text))
}

// ensured adds an affix that is not there; nil stays nil.
func ensured(c *lisp.Call, affix, text lisp.Value, end bool) lisp.Value {
	if affix == lisp.Nil || text == lisp.Nil || hasAffix(c, affix, text, end) {
		return text
	}
	return withAffix(c, affix, text, end)
}

// commonAffix is the longest text that all strings begin or end with.
func commonAffix(c *lisp.Call, items []lisp.Value, end bool) lisp.Value {
	if len(items) == 0 {
		return lisp.Nil
	}
	common := charsOrNone(c, items[0])
	for _, item := range items[1:] {
		text, n := charsOrNone(c, item), 0
		for n < len(common) && n < len(text) {
			c.Step()
			if end && common[len(common)-1-n] != text[len(text)-1-n] || !end && common[n] != text[n] {
				break
			}
			n++
		}
		if end {
			common = common[len(common)-n:]
		} else {
			common = common[:n]
		}
	}
	return c.CopyRunes(common)
}
