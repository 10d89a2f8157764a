package lisp

import (
	"slices"
	"strings"
)

var (
	kwLeft   = standardKeyword("LEFT")
	kwRight  = standardKeyword("RIGHT")
	kwCenter = standardKeyword("CENTER")
)

// strFunctions are those of the library str.
func strFunctions() []builtin {
	return slices.Concat(strJoining(), strParting(), strPieces(), strReplacing(), strTests(), strAffixes(), strFilling(), strCases())
}

// strDefault is a keyword argument, or the variable that says what it is otherwise.
func (c *Call) strDefault(v Value, name string) Value {
	if v == nil {
		return c.symbolValue(c.environment.language.symbol("STR:" + name))
	}
	return v
}

// strChars takes a string designator; nil is the empty string.
func (c *Call) strChars(v Value) []rune {
	if v == Nil {
		return nil
	}
	return c.chars(v)
}

func strJoining() []builtin {
	trim := func(name, doc string, left, right bool) builtin {
		return builtin{name: name, list: "(string &key char-bag)", doc: doc, named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			if stringArg == Nil {
				return Nil
			}
			inBag := c.bag(c.strDefault(args.Get("char-bag"), "*WHITESPACES*"))
			chars := c.chars(stringArg)
			c.work(len(chars))
			for left && len(chars) > 0 && inBag(chars[0]) {
				chars = chars[1:]
			}
			for right && len(chars) > 0 && inBag(chars[len(chars)-1]) {
				chars = chars[:len(chars)-1]
			}
			return c.newString(slices.Clone(chars))
		}}
	}
	joined := func(name, list, doc string, separator string) builtin {
		return builtin{name: name, list: list, doc: doc, one: func(c *Call, a Value) Value { return c.strJoin([]rune(separator), a) }}
	}
	return []builtin{
		trim("str:trim", "The string without blanks, or the characters of char-bag, at both ends.", true, true),
		trim("str:trim-left", "The string without blanks, or the characters of char-bag, at its beginning.", true, false),
		trim("str:trim-right", "The string without blanks, or the characters of char-bag, at its end.", false, true),
		{name: "str:concat", list: "(&rest strings)", doc: "The strings joined.", call: func(c *Call, args []Value) Value { return c.strJoin(nil, c.newList(args)) }},
		{name: "str:join", list: "(separator strings)", doc: "The strings joined with a separator between.", two: func(c *Call, a, b Value) Value { return c.strJoin(c.chars(a), b) }},
		joined("str:unlines", "(strings)", "The strings joined by newlines.", "\n"),
		joined("str:unwords", "(strings)", "The strings joined by blanks.", " "),
		joined("str:unparagraphs", "(strings)", "The strings joined by empty lines.", "\n\n"),
		{name: "str:insert", list: "(part index string)", doc: "The string with a part put in at an index; unchanged if there is no such place.", call: func(c *Call, args []Value) Value {
			if args[1] == Nil {
				return args[2]
			}
			part, chars, index := c.chars(args[0]), c.strChars(args[2]), c.fixnum(args[1])
			if index < 0 || index > int64(len(chars)) {
				return args[2]
			}
			return c.newString(slices.Concat(chars[:index], part, chars[index:]))
		}},
		{name: "str:repeat", list: "(count string)", doc: "The string count times.", two: func(c *Call, a, b Value) Value {
			n, chars := c.index(a), c.strChars(b)
			if len(chars) == 0 {
				return c.text("")
			}
			c.chargeMany(n, len(chars)*runeBytes)
			return runesString(slices.Repeat(chars, n))
		}},
		{name: "str:collapse-whitespaces", list: "(string)", doc: "Each run of blanks as one, and whether there was one.", many: true, one: func(c *Call, a Value) Value {
			return c.replaceMatches(replacement{pattern: NewString(`\s+`), target: a, with: NewString(" ")}, -1)
		}},
		{name: "str:remove-punctuation", list: "(string &key replacement)", doc: "The string with a blank, or the replacement, for each run of what is no letter or digit, without those at its ends.", many: true, named: func(c *Call, args Args) Value {
			stringArg, replacementArg := args.Get("string"), args.Get("replacement")

			blank := c.text(" ")
			if replacementArg != nil {
				blank = c.str(replacementArg)
			}
			if stringArg == Nil {
				return c.text("")
			}
			return c.replaceMatches(replacement{pattern: NewString(`[^\p{L}\p{N}]+`), target: stringArg, with: innerReplacement(blank)}, -1)
		}},
	}
}

// innerReplacement replaces matches that do not touch the ends of the text.
func innerReplacement(replacement *String) *Function {
	return &Function{name: "INNER-REPLACEMENT", least: 7, most: 7, call: func(c *Call, args []Value) Value {
		if args[3] == Integer(0) || args[4] == args[2] {
			return c.text("")
		}
		return replacement
	}}
}

func (c *Call) strJoin(separator []rune, strings Value) Value {
	var out []rune
	for i, item := range c.slice(strings) {
		part := c.strChars(item)
		c.chargeMany(len(part)+len(separator)+1, runeBytes)
		if i > 0 {
			out = append(out, separator...)
		}
		out = append(out, part...)
	}
	return runesString(out)
}

func strParting() []builtin {
	return []builtin{
		{name: "str:split", list: "(separator string &key omit-nulls limit start end regex)", doc: "The parts between separators.", named: func(c *Call, args Args) Value {
			return c.strSplit(args.Get("separator"), args.Get("string"), strOptions{omit: c.strDefault(args.Get("omit-nulls"), "*OMIT-NULLS*"), limit: args.Get("limit"), start: args.Get("start"), end: args.Get("end"), regex: args.True("regex")})
		}},
		{name: "str:rsplit", list: "(separator string &key omit-nulls limit regex)", doc: "The parts between separators; a limit counts from the end.", named: func(c *Call, args Args) Value {
			regexArg := args.Get("regex")

			separator := c.newString(slices.Clone(c.chars(args.Get("separator"))))
			if !given(regexArg) {
				slices.Reverse(separator.chars)
			}
			text := c.newString(slices.Clone(c.strChars(args.Get("string"))))
			slices.Reverse(text.chars)
			parts := c.slice(c.strSplit(separator, text, strOptions{omit: c.strDefault(args.Get("omit-nulls"), "*OMIT-NULLS*"), limit: args.Get("limit"), regex: given(regexArg)}))
			slices.Reverse(parts)
			for _, part := range parts {
				slices.Reverse(part.(*String).chars)
			}
			return c.newList(parts)
		}},
		{name: "str:split-omit-nulls", list: "(separator string &key regex)", doc: "The parts between separators that are not empty.", named: func(c *Call, args Args) Value {
			return c.strSplit(args.Get("separator"), args.Get("string"), strOptions{omit: T, regex: args.True("regex")})
		}},
		{name: "str:lines", list: "(string &key omit-nulls)", doc: "The lines.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			chars := c.strChars(stringArg)
			end := len(chars)
			if end == 0 {
				return Nil
			}
			if chars[end-1] == '\n' {
				end--
			}
			return c.strSplit(Character('\n'), stringArg, strOptions{omit: c.strDefault(args.Get("omit-nulls"), "*OMIT-NULLS*"), end: count(end)})
		}},
		{name: "str:words", list: "(string &key limit)", doc: "The words between blanks.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			if stringArg == Nil {
				return Nil
			}
			chars := c.chars(stringArg)
			inBag := c.bag(c.strDefault(nil, "*WHITESPACES*"))
			for len(chars) > 0 && inBag(chars[0]) {
				c.step()
				chars = chars[1:]
			}
			limit := args.Get("limit")
			if limit == nil {
				limit = Integer(0)
			}
			return c.splitByPattern(NewString(`\s+`), c.newString(slices.Clone(chars)), splitting{limit: limit})
		}},
		{name: "str:paragraphs", list: "(string)", doc: "The parts between empty lines, without blanks at their ends.", one: func(c *Call, a Value) Value {
			parts := c.slice(c.splitByPattern(NewString(`\n\n`), a, splitting{}))
			inBag := c.bag(c.strDefault(nil, "*WHITESPACES*"))
			for i, part := range parts {
				c.work(len(part.(*String).chars))
				parts[i] = c.text(strings.TrimFunc(part.(*String).String(), inBag))
			}
			return c.newList(parts)
		}},
	}
}

// strOptions are the keyword arguments of str:split.
type strOptions struct {
	omit, limit, start, end Value
	regex                   bool
}

// strSplit parts a string at a text, or at the matches of a pattern. Unlike
// cl-ppcre:split it keeps empty parts at the end.
func (c *Call) strSplit(separator, text Value, o strOptions) Value {
	switch {
	case text == Nil && given(o.omit):
		return Nil
	case text == Nil: // as with the original
		return c.newList([]Value{Nil})
	}
	if !o.regex {
		separator = c.newList([]Value{kwSequence, c.newString(slices.Clone(c.chars(separator)))})
	}
	limit := o.limit
	if !given(limit) {
		limit = count(len(c.strChars(text)) + 1)
	}
	parts := c.slice(c.splitByPattern(separator, text, splitting{start: o.start, end: o.end, limit: limit}))
	if given(o.omit) {
		parts = slices.DeleteFunc(parts, func(part Value) bool { return len(part.(*String).chars) == 0 })
	}
	return c.newList(parts)
}

// orNil is a keyword argument, nil of Lisp if it was not given.
func orNil(v Value) Value {
	if v == nil {
		return Nil
	}
	return v
}
