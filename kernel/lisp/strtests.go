package lisp

import (
	"slices"
	"strings"
	"unicode"
)

// strTests are the predicates of str, with the names they had before.
func strTests() []builtin {
	var rows []builtin
	add := func(row builtin, other ...string) {
		rows = append(rows, row)
		for _, name := range other {
			row.name = name
			rows = append(rows, row)
		}
	}
	check := func(name, doc string, test func(c *Call, v Value) bool) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value { return Boolean(test(c, a)) }}
	}
	pattern := func(pattern string) func(c *Call, v Value) bool {
		return func(c *Call, v Value) bool {
			_, ok := c.matches(NewString(pattern), v, nil, nil).next()
			return ok
		}
	}
	every := func(test func(rune) bool) func(c *Call, v Value) bool {
		return func(c *Call, v Value) bool {
			chars := c.strChars(v)
			c.work(len(chars) / 8)
			return !slices.ContainsFunc(chars, not(test))
		}
	}
	blank := func(c *Call, v Value) bool {
		return every(c.bag(c.strDefault(nil, "*WHITESPACES*")))(c, v)
	}
	empty := func(c *Call, v Value) bool { return len(c.strChars(v)) == 0 }
	isText := func(v Value) bool { _, ok := v.(*String); return ok }
	add(check("str:emptyp", "True for an empty string or nil.", empty), "str:empty?")
	add(check("str:blankp", "True if there is nothing but blanks.", blank), "str:blank?")
	add(check("str:non-empty-string-p", "True for a string with characters.", func(c *Call, v Value) bool { return isText(v) && !empty(c, v) }))
	add(check("str:non-blank-string-p", "True for a string with other characters than blanks.", func(c *Call, v Value) bool { return isText(v) && !blank(c, v) }))
	add(check("str:digitp", "True for digits only.", func(c *Call, v Value) bool {
		return !empty(c, v) && every(func(r rune) bool { w := digitWeight(r); return w >= 0 && w < 10 })(c, v)
	}),
		"str:digit?", "str:numericp", "str:numeric?")
	add(strMatching("str:alphanump", "Bounds of the string if it has ASCII letters and digits only.", `^[a-zA-Z0-9]+$`, patternMatch.bounds), "str:alphanum?")
	add(strMatching("str:alphap", "The string if it has ASCII letters only.", `^[a-zA-Z]+$`, func(m patternMatch) []Value { return []Value{m.text(), newVector(nil)} }), "str:alpha?")
	add(check("str:lettersp", "True for letters of any script only.", pattern(`^\p{L}+$`)), "str:letters?")
	add(check("str:lettersnump", "True for letters of any script and ASCII digits only.", pattern(`^[\p{L}a-zA-Z0-9]+$`)))
	add(check("str:has-alphanum-p", "True if there is a letter or digit.", func(c *Call, v Value) bool {
		return !every(func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })(c, v)
	}))
	add(check("str:has-alpha-p", "True if there is an ASCII letter.", pattern(`[a-zA-Z]`)))
	add(check("str:has-letters-p", "True if there is a letter.", pattern(`\p{L}`)))
	add(builtin{name: "str:ascii-char-p", list: "(character)", doc: "True for an ASCII character.", one: func(c *Call, a Value) Value { return Boolean(c.character(a) < 128) }})
	add(check("str:ascii-p", "True for an ASCII character, or a string of them.", func(c *Call, v Value) bool { return v != Nil && every(func(r rune) bool { return r < 128 })(c, v) }))
	cased := func(own func(rune) rune) func(c *Call, v Value) bool {
		return func(c *Call, v Value) bool {
			if ch, ok := v.(Character); ok {
				return own(rune(ch)) != rune(ch)
			}
			return pattern(`\p{L}`)(c, v) && every(func(r rune) bool { return !unicode.IsLetter(r) || own(r) != r })(c, v)
		}
	}
	add(check("str:upcasep", "True if there are letters, all of them upper case.", cased(lower)), "str:upcase?")
	add(check("str:downcasep", "True if there are letters, all of them lower case.", cased(upper)), "str:downcase?")
	return append(rows, strAffixTests()...)
}

// strMatching is a test that tells what it found.
func strMatching(name, doc, pattern string, found func(patternMatch) []Value) builtin {
	return builtin{name: name, list: "(string)", doc: doc, many: true, one: func(c *Call, a Value) Value {
		match, ok := c.matches(NewString(pattern), a, nil, nil).next()
		if !ok {
			return Nil
		}
		return c.values(found(match)...)
	}}
}

// strAffixTests look for a string in another one.
func strAffixTests() []builtin {
	affix := func(name, list, doc string, test func(part, text []rune) bool) builtin {
		return builtin{name: name, list: list, doc: doc, named: func(c *Call, args Args) Value {
			part, text := c.chars(args.At(0)), c.strChars(args.At(1))
			if given(c.strDefault(args.Get("ignore-case"), "*IGNORE-CASE*")) {
				c.chargeMany(len(part)+len(text), runeBytes)
				part, text = slices.Clone(part), slices.Clone(text)
				mapRunes(part, lower)
				mapRunes(text, lower)
			}
			c.work(len(part) / 8)
			return Boolean(len(part) <= len(text) && test(part, text))
		}}
	}
	starts := func(part, text []rune) bool { return slices.Equal(part, text[:len(part)]) }
	ends := func(part, text []rune) bool { return slices.Equal(part, text[len(text)-len(part):]) }
	contains := func(name string) builtin {
		return builtin{name: name, list: "(substring string &key ignore-case)", doc: "True if string contains substring.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			part, text := c.strChars(args.Get("substring")), c.strChars(stringArg)
			if stringArg == Nil && len(part) == 0 {
				return Nil
			}
			c.chargeMany(len(part)+len(text), 8)
			own, other := string(part), string(text)
			if given(c.strDefault(args.Get("ignore-case"), "*IGNORE-CASE*")) {
				own, other = strings.Map(lower, own), strings.Map(lower, other)
			}
			return Boolean(strings.Contains(other, own))
		}}
	}
	return []builtin{
		affix("str:starts-with-p", "(start string &key ignore-case)", "True if string begins with start.", starts),
		affix("str:starts-with?", "(start string &key ignore-case)", "True if string begins with start.", starts),
		affix("str:ends-with-p", "(end string &key ignore-case)", "True if string ends with end.", ends),
		affix("str:ends-with?", "(end string &key ignore-case)", "True if string ends with end.", ends),
		contains("str:containsp"), contains("str:contains?"),
	}
}

// strAffixes find, test and add beginnings and ends.
func strAffixes() []builtin {
	common := func(name, doc string, end bool) builtin {
		return builtin{name: name, list: "(strings)", doc: doc, one: func(c *Call, a Value) Value { return c.commonAffix(c.slice(a), end) }}
	}
	all := func(name, list, doc string, ends bool) builtin {
		return builtin{name: name, list: list, doc: doc, two: func(c *Call, a, b Value) Value {
			for _, item := range c.slice(a) {
				if !c.hasAffix(b, item, ends) {
					return Nil
				}
			}
			return b
		}}
	}
	each := func(name, doc string, end bool) builtin {
		return builtin{name: name, list: "(strings affix)", doc: doc, two: func(c *Call, a, b Value) Value {
			items := c.slice(a)
			for i, item := range items {
				items[i] = c.withAffix(b, item, end)
			}
			return c.newList(items)
		}}
	}
	ensure := func(name, list, doc string, change func(c *Call, affix, text Value) Value) builtin {
		return builtin{name: name, list: list, doc: doc, two: change}
	}
	prefix := func(c *Call, affix, text Value) Value { return c.ensured(affix, text, false) }
	suffix := func(c *Call, affix, text Value) Value { return c.ensured(affix, text, true) }
	wrapped := func(c *Call, affix, text Value) Value { return prefix(c, affix, suffix(c, affix, text)) }
	return []builtin{
		common("str:prefix", "The longest common beginning.", false), common("str:common-prefix", "The longest common beginning.", false),
		common("str:suffix", "The longest common end.", true),
		all("str:prefixp", "(strings prefix)", "The prefix if all strings begin with it.", false), all("str:prefix?", "(strings prefix)", "The prefix if all strings begin with it.", false),
		all("str:suffixp", "(strings suffix)", "The suffix if all strings end with it.", true), all("str:suffix?", "(strings suffix)", "The suffix if all strings end with it.", true),
		each("str:add-prefix", "The strings with another before each.", false), each("str:add-suffix", "The strings with another behind each.", true),
		ensure("str:ensure-prefix", "(start string)", "The string with start before it, unless it begins so.", prefix),
		ensure("str:ensure-suffix", "(end string)", "The string with end behind it, unless it ends so.", suffix),
		ensure("str:ensure-wrapped-in", "(affix string)", "The string with an affix at both ends, unless it is there.", wrapped),
		{name: "str:wrapped-in-p", list: "(affix string)", doc: "The string if it begins and ends with the affix.", two: func(c *Call, affix, text Value) Value {
			if affix != Nil && text != Nil && !(c.hasAffix(affix, text, false) && c.hasAffix(affix, text, true)) {
				return Nil
			}
			return text
		}},
		{name: "str:ensure", list: "(string &key wrapped-in prefix suffix)", doc: "The string with the given affixes, unless they are there.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			if text, ok := args.Get("wrapped-in").(*String); ok && len(text.chars) > 0 {
				return wrapped(c, text, stringArg)
			}
			return prefix(c, orNil(args.Get("prefix")), suffix(c, orNil(args.Get("suffix")), stringArg))
		}},
	}
}

func (c *Call) hasAffix(affix, v Value, end bool) bool {
	part, text := c.chars(affix), c.strChars(v)
	c.work(len(part) / 8)
	if len(part) > len(text) {
		return false
	}
	if end {
		return slices.Equal(part, text[len(text)-len(part):])
	}
	return slices.Equal(part, text[:len(part)])
}

func (c *Call) withAffix(affix, v Value, end bool) Value {
	part, text := c.strChars(affix), c.strChars(v)
	if end {
		part, text = text, part
	}
	return c.newString(slices.Concat(part, text))
}

// ensured adds an affix that is not there; nil stays nil.
func (c *Call) ensured(affix, text Value, end bool) Value {
	if affix == Nil || text == Nil || c.hasAffix(affix, text, end) {
		return text
	}
	return c.withAffix(c.newString(c.chars(affix)), text, end)
}

// commonAffix is the longest text that all strings begin or end with.
func (c *Call) commonAffix(items []Value, end bool) Value {
	if len(items) == 0 {
		return Nil
	}
	common := c.strChars(items[0])
	for _, item := range items[1:] {
		text, n := c.strChars(item), 0
		for n < len(common) && n < len(text) {
			c.step()
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
	return c.newString(slices.Clone(common))
}
