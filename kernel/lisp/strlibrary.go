package lisp

import (
	"slices"
	"strings"
)

var (
	kwOmitNulls   = standardKeyword("OMIT-NULLS")
	kwIgnoreCase  = standardKeyword("IGNORE-CASE")
	kwPadSide     = standardKeyword("PAD-SIDE")
	kwPadChar     = standardKeyword("PAD-CHAR")
	kwEllipsis    = standardKeyword("ELLIPSIS")
	kwLeft        = standardKeyword("LEFT")
	kwRight       = standardKeyword("RIGHT")
	kwCenter      = standardKeyword("CENTER")
	kwCharBag     = standardKeyword("CHAR-BAG")
	kwReplacement = standardKeyword("REPLACEMENT")
	kwWrappedIn   = standardKeyword("WRAPPED-IN")
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
		return builtin{name: name, list: "(string &key char-bag)", doc: doc, call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwCharBag)
			if args[0] == Nil {
				return Nil
			}
			inBag := c.bag(c.strDefault(k[0], "*WHITESPACES*"))
			chars := c.chars(args[0])
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
			return c.replaceMatches([]Value{NewString(`\s+`), a, NewString(" ")}, -1)
		}},
		{name: "str:remove-punctuation", list: "(string &key replacement)", doc: "The string with a blank, or the replacement, for each run of what is no letter or digit, without those at its ends.", many: true, call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwReplacement)
			replacement := c.text(" ")
			if k[0] != nil {
				replacement = c.str(k[0])
			}
			if args[0] == Nil {
				return c.text("")
			}
			return c.replaceMatches([]Value{NewString(`[^\p{L}\p{N}]+`), args[0], innerReplacement(replacement)}, -1)
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
		{name: "str:split", list: "(separator string &key omit-nulls limit start end regex)", doc: "The parts between separators.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwOmitNulls, kwLimit, kwStart, kwEnd, kwRegex)
			return c.strSplit(args[0], args[1], strOptions{omit: c.strDefault(k[0], "*OMIT-NULLS*"), limit: k[1], start: k[2], end: k[3], regex: given(k[4])})
		}},
		{name: "str:rsplit", list: "(separator string &key omit-nulls limit regex)", doc: "The parts between separators; a limit counts from the end.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwOmitNulls, kwLimit, kwRegex)
			separator := c.newString(slices.Clone(c.chars(args[0])))
			if !given(k[2]) {
				slices.Reverse(separator.chars)
			}
			text := c.newString(slices.Clone(c.strChars(args[1])))
			slices.Reverse(text.chars)
			parts := c.slice(c.strSplit(separator, text, strOptions{omit: c.strDefault(k[0], "*OMIT-NULLS*"), limit: k[1], regex: given(k[2])}))
			slices.Reverse(parts)
			for _, part := range parts {
				slices.Reverse(part.(*String).chars)
			}
			return c.newList(parts)
		}},
		{name: "str:split-omit-nulls", list: "(separator string &key regex)", doc: "The parts between separators that are not empty.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwRegex)
			return c.strSplit(args[0], args[1], strOptions{omit: T, regex: given(k[0])})
		}},
		{name: "str:lines", list: "(string &key omit-nulls)", doc: "The lines.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwOmitNulls)
			chars := c.strChars(args[0])
			end := len(chars)
			if end == 0 {
				return Nil
			}
			if chars[end-1] == '\n' {
				end--
			}
			return c.strSplit(Character('\n'), args[0], strOptions{omit: c.strDefault(k[0], "*OMIT-NULLS*"), end: count(end)})
		}},
		{name: "str:words", list: "(string &key limit)", doc: "The words between blanks.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwLimit)
			if args[0] == Nil {
				return Nil
			}
			chars := c.chars(args[0])
			inBag := c.bag(c.strDefault(nil, "*WHITESPACES*"))
			for len(chars) > 0 && inBag(chars[0]) {
				c.step()
				chars = chars[1:]
			}
			limit := k[0]
			if limit == nil {
				limit = Integer(0)
			}
			return splitByPattern(c, []Value{NewString(`\s+`), c.newString(slices.Clone(chars)), kwLimit, limit})
		}},
		{name: "str:paragraphs", list: "(string)", doc: "The parts between empty lines, without blanks at their ends.", one: func(c *Call, a Value) Value {
			parts := c.slice(splitByPattern(c, []Value{NewString(`\n\n`), a}))
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
	args := []Value{separator, text, kwLimit, limit}
	if o.start != nil {
		args = append(args, kwStart, o.start)
	}
	parts := c.slice(splitByPattern(c, append(args, kwEnd, orNil(o.end))))
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
