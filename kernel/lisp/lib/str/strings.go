package str

import (
	"slices"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib/ppcre"
)

var (
	kwLeft      = lisp.Keyword("LEFT")
	kwRight     = lisp.Keyword("RIGHT")
	sequenceKey = lisp.Keyword("SEQUENCE") // a word of parse trees
	kwCenter    = lisp.Keyword("CENTER")
)

// strFunctions are those of the library str.
func strFunctions() []lisp.Builtin {
	return slices.Concat(strJoining(), strParting(), strPieces(), strReplacing(), strTests(), strAffixes(), strFilling(), strCases())
}

// defaulted is a keyword argument, or the variable that says what it is otherwise.
func defaulted(c *lisp.Call, v lisp.Value, name string) lisp.Value {
	if v == nil {
		return c.Variable(c.Lookup("STR:" + name))
	}
	return v
}

// charsOrNone takes a string designator; nil is the empty string.
func charsOrNone(c *lisp.Call, v lisp.Value) []rune {
	if v == lisp.Nil {
		return nil
	}
	return c.Chars(v)
}

func strJoining() []lisp.Builtin {
	trim := func(name, doc string, left, right bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string &key char-bag)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			if stringArg == lisp.Nil {
				return lisp.Nil
			}
			inBag := c.CharacterBag(defaulted(c, args.Get("char-bag"), "*WHITESPACES*"))
			chars := c.Chars(stringArg)
			chars = trimmed(c, chars, inBag, left, right)
			return c.CopyRunes(chars)
		}}
	}
	joined := func(name, list, doc string, separator string) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: list, Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value { return strJoin(c, []rune(separator), a) }}
	}
	return []lisp.Builtin{
		trim("trim", "The string without blanks, or the characters of char-bag, at both ends.", true, true),
		trim("trim-left", "The string without blanks, or the characters of char-bag, at its beginning.", true, false),
		trim("trim-right", "The string without blanks, or the characters of char-bag, at its end.", false, true),
		{Name: "concat", LambdaList: "(&rest strings)", Doc: "The strings joined.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value { return strJoin(c, nil, c.NewList(args)) }},
		{Name: "join", LambdaList: "(separator strings)", Doc: "The strings joined with a separator between.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value { return strJoin(c, c.Chars(a), b) }},
		joined("unlines", "(strings)", "The strings joined by newlines.", "\n"),
		joined("unwords", "(strings)", "The strings joined by blanks.", " "),
		joined("unparagraphs", "(strings)", "The strings joined by empty lines.", "\n\n"),
		{Name: "insert", LambdaList: "(part index string)", Doc: "The string with a part put in at an index; unchanged if there is no such place.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			if args[1] == lisp.Nil {
				return args[2]
			}
			part, chars, index := c.Chars(args[0]), charsOrNone(c, args[2]), c.Fixnum(args[1])
			if index < 0 || index > int64(len(chars)) {
				return args[2]
			}
			return c.StringOf(lisp.Concat(c, chars[:index], part, chars[index:]))
		}},
		{Name: "repeat", LambdaList: "(count string)", Doc: "The string count times.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			n, chars := c.Index(a), charsOrNone(c, b)
			if len(chars) == 0 {
				return c.Text("")
			}
			c.ChargeMany(n, len(chars)*lisp.RuneBytes)
			return c.StringOf(slices.Repeat(chars, n))
		}},
		{Name: "collapse-whitespaces", LambdaList: "(string)", Doc: "Each run of blanks as one, and whether there was one.", Many: true, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			return ppcre.Replace(c, ppcre.Replacement{Pattern: lisp.NewString(`\s+`), Target: a, With: lisp.NewString(" ")}, -1)
		}},
		{Name: "remove-punctuation", LambdaList: "(string &key replacement)", Doc: "The string with a blank, or the replacement, for each run of what is no letter or digit, without those at its ends.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg, replacementArg := args.Get("string"), args.Get("replacement")
			blank := c.Text(" ")
			if replacementArg != nil {
				blank = c.TakeString(replacementArg)
			}
			if stringArg == lisp.Nil {
				return c.Text("")
			}
			return ppcre.Replace(c, ppcre.Replacement{Pattern: lisp.NewString(`[^\p{L}\p{N}]+`), Target: stringArg, With: innerReplacement(blank)}, -1)
		}},
	}
}

// trimmed is a text without the characters of a bag at its ends.
func trimmed(c *lisp.Call, chars []rune, inBag func(rune) bool, left, right bool) []rune {
	c.Work(len(chars))
	for left && len(chars) > 0 && inBag(chars[0]) {
		chars = chars[1:]
	}
	for right && len(chars) > 0 && inBag(chars[len(chars)-1]) {
		chars = chars[:len(chars)-1]
	}
	return chars
}

// lowered is a text in lower case.
func lowered(c *lisp.Call, text []rune) []rune {
	text = lisp.Clone(c, text)
	lisp.MapRunes(text, lisp.Lower)
	return text
}

// innerReplacement replaces matches that do not touch the ends of the text.
func innerReplacement(replacement *lisp.String) *lisp.Function {
	return lisp.NewFunction(lisp.Builtin{Name: "INNER-REPLACEMENT", LambdaList: "(target start end match-start match-end register-starts register-ends)", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
		if args[3] == lisp.Integer(0) || args[4] == args[2] {
			return c.Text("")
		}
		return replacement
	}})
}

func strJoin(c *lisp.Call, separator []rune, strings lisp.Value) lisp.Value {
	joined := lisp.NewStringBuilder(c)
	for i, item := range c.Slice(strings) {
		if i > 0 {
			joined.WriteRunes(separator)
		}
		joined.WriteRunes(charsOrNone(c, item))
	}
	return joined.Value()
}

func strParting() []lisp.Builtin {
	return []lisp.Builtin{
		{Name: "split", LambdaList: "(separator string &key omit-nulls limit start end regex)", Doc: "The parts between separators.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return splitText(c, args.Get("separator"), args.Get("string"), splitOptions{omit: defaulted(c, args.Get("omit-nulls"), "*OMIT-NULLS*"), limit: args.Get("limit"), start: args.Get("start"), end: args.Get("end"), regex: args.True("regex")})
		}},
		{Name: "rsplit", LambdaList: "(separator string &key omit-nulls limit regex)", Doc: "The parts between separators; a limit counts from the end.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			regexArg := args.Get("regex")
			separator := c.CopyRunes(c.Chars(args.Get("separator")))
			if !lisp.Given(regexArg) {
				slices.Reverse(separator.Runes())
			}
			text := c.CopyRunes(charsOrNone(c, args.Get("string")))
			slices.Reverse(text.Runes())
			parts := c.Slice(splitText(c, separator, text, splitOptions{omit: defaulted(c, args.Get("omit-nulls"), "*OMIT-NULLS*"), limit: args.Get("limit"), regex: lisp.Given(regexArg)}))
			slices.Reverse(parts)
			for _, part := range parts {
				slices.Reverse(part.(*lisp.String).Runes())
			}
			return c.NewList(parts)
		}},
		{Name: "split-omit-nulls", LambdaList: "(separator string &key regex)", Doc: "The parts between separators that are not empty.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return splitText(c, args.Get("separator"), args.Get("string"), splitOptions{omit: lisp.T, regex: args.True("regex")})
		}},
		{Name: "lines", LambdaList: "(string &key omit-nulls)", Doc: "The lines.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			chars := charsOrNone(c, stringArg)
			end := len(chars)
			if end == 0 {
				return lisp.Nil
			}
			if chars[end-1] == '\n' {
				end--
			}
			return splitText(c, lisp.Character('\n'), stringArg, splitOptions{omit: defaulted(c, args.Get("omit-nulls"), "*OMIT-NULLS*"), end: lisp.Count(end)})
		}},
		{Name: "words", LambdaList: "(string &key limit)", Doc: "The words between blanks.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			if stringArg == lisp.Nil {
				return lisp.Nil
			}
			chars := c.Chars(stringArg)
			inBag := c.CharacterBag(defaulted(c, nil, "*WHITESPACES*"))
			chars = trimmed(c, chars, inBag, true, false)
			limit := args.Get("limit")
			if limit == nil {
				limit = lisp.Integer(0)
			}
			return ppcre.Split(c, lisp.NewString(`\s+`), c.CopyRunes(chars), ppcre.Splitting{Limit: limit})
		}},
		{Name: "paragraphs", LambdaList: "(string)", Doc: "The parts between empty lines, without blanks at their ends.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			parts := c.Slice(ppcre.Split(c, lisp.NewString(`\n\n`), a, ppcre.Splitting{}))
			inBag := c.CharacterBag(defaulted(c, nil, "*WHITESPACES*"))
			for i, part := range parts {
				parts[i] = c.CopyRunes(trimmed(c, part.(*lisp.String).Runes(), inBag, true, true))
			}
			return c.NewList(parts)
		}},
	}
}

// splitOptions are the keyword arguments of str:split.
type splitOptions struct {
	omit, limit, start, end lisp.Value
	regex                   bool
}

// splitText parts a string at a text, or at the matches of a pattern. Unlike
// cl-ppcre:split it keeps empty parts at the end.
func splitText(c *lisp.Call, separator, text lisp.Value, o splitOptions) lisp.Value {
	switch {
	case text == lisp.Nil && lisp.Given(o.omit):
		return lisp.Nil
	case text == lisp.Nil: // as with the original
		return c.NewList([]lisp.Value{lisp.Nil})
	}
	if !o.regex {
		separator = c.NewList([]lisp.Value{sequenceKey, c.CopyRunes(c.Chars(separator))})
	}
	limit := o.limit
	if !lisp.Given(limit) {
		limit = lisp.Count(len(charsOrNone(c, text)) + 1)
	}
	parts := c.Slice(ppcre.Split(c, separator, text, ppcre.Splitting{Start: o.start, End: o.end, Limit: limit}))
	if lisp.Given(o.omit) {
		parts = slices.DeleteFunc(parts, func(part lisp.Value) bool { return len(part.(*lisp.String).Runes()) == 0 })
	}
	return c.NewList(parts)
}
