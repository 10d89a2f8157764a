package lisp

import (
	"strings"
	"unicode"
)

var (
	kwOmitNulls  = standardKeyword("OMIT-NULLS")
	kwIgnoreCase = standardKeyword("IGNORE-CASE")
	kwPadSide    = standardKeyword("PAD-SIDE")
	kwPadChar    = standardKeyword("PAD-CHAR")
	kwEllipsis   = standardKeyword("ELLIPSIS")
	kwLeft       = standardKeyword("LEFT")
	kwCenter     = standardKeyword("CENTER")
)

// strFunctions are those of the library str that notes use.
func strFunctions() []builtin {
	rows := []builtin{
		{name: "str:concat", list: "(&rest strings)", doc: "The strings joined.", call: func(c *Call, args []Value) Value { return c.text(strings.Join(c.goStrings(args), "")) }},
		{name: "str:join", list: "(separator strings)", doc: "The strings joined with a separator between.", two: func(c *Call, a, b Value) Value {
			parts := c.goStrings(c.slice(b))
			separator := string(c.chars(a))
			c.chargeMany(len(parts), len(separator)+1)
			return c.text(strings.Join(parts, separator))
		}},
		{name: "str:split", list: "(separator string &key omit-nulls limit start end)", doc: "The parts between separators.", call: strSplit},
		{name: "str:lines", list: "(string &key omit-nulls)", doc: "The lines.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwOmitNulls)
			text := c.goString(args[0])
			if text == "" {
				return Nil
			}
			return c.stringList(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), given(k[0]))
		}},
		{name: "str:unlines", list: "(strings)", doc: "The strings joined by newlines.", one: func(c *Call, a Value) Value { return c.text(strings.Join(c.goStrings(c.slice(a)), "\n")) }},
		{name: "str:words", list: "(string &key limit)", doc: "The words between blanks.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwLimit)
			words := strings.Fields(c.goString(args[0]))
			if given(k[0]) && c.index(k[0]) > 0 && len(words) > c.index(k[0]) {
				n := c.index(k[0])
				words = append(words[:n-1], strings.Join(words[n-1:], " "))
			}
			return c.stringList(words, false)
		}},
		{name: "str:unwords", list: "(strings)", doc: "The strings joined by blanks.", one: func(c *Call, a Value) Value { return c.text(strings.Join(c.goStrings(c.slice(a)), " ")) }},
		{name: "str:replace-all", list: "(old new string)", doc: "Every old replaced by new.", call: func(c *Call, args []Value) Value { return c.strReplace(args, -1) }},
		{name: "str:replace-first", list: "(old new string)", doc: "The first old replaced by new.", call: func(c *Call, args []Value) Value { return c.strReplace(args, 1) }},
		{name: "str:repeat", list: "(count string)", doc: "The string count times.", two: func(c *Call, a, b Value) Value {
			n, text := c.index(a), c.goString(b)
			c.chargeMany(n, len(text)+1)
			return c.text(strings.Repeat(text, n))
		}},
		{name: "str:substring", list: "(start end string)", doc: "The part from start to end, which may be negative or beyond the end.", call: func(c *Call, args []Value) Value {
			chars := c.chars(args[2])
			from, to := c.clamped(args[0], len(chars)), len(chars)
			if args[1] != Nil && args[1] != T {
				to = c.clamped(args[1], len(chars))
			}
			if from >= to {
				return c.text("")
			}
			return c.newString(append([]rune(nil), chars[from:to]...))
		}},
		{name: "str:shorten", list: "(length string &key ellipsis)", doc: "The string cut to length, with an ellipsis at its end.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwEllipsis)
			chars, n, ellipsis := c.chars(args[1]), c.index(args[0]), []rune("...")
			if given(k[0]) {
				ellipsis = c.chars(k[0])
			}
			if len(chars) <= n {
				return args[1]
			}
			return c.newString(append(append([]rune(nil), chars[:max(0, n-len(ellipsis))]...), ellipsis...))
		}},
		{name: "str:pad", list: "(length string &key pad-side pad-char)", doc: "The string filled to length; at the right unless pad-side is :left or :center.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwPadSide, kwPadChar)
			return c.strPad(args[0], args[1], k[0], k[1])
		}},
		{name: "str:collapse-whitespaces", list: "(string)", doc: "Each run of blanks as one.", one: func(c *Call, a Value) Value {
			var out []rune
			blank := false
			for _, r := range c.goString(a) {
				if !unicode.IsSpace(r) {
					out = append(out, r)
				} else if !blank {
					out = append(out, ' ')
				}
				blank = unicode.IsSpace(r)
			}
			return c.newString(out)
		}},
		{name: "str:s-first", list: "(string)", doc: "The first character as a string.", one: func(c *Call, a Value) Value { return c.end(a, 0, 1) }},
		{name: "str:s-last", list: "(string)", doc: "The last character as a string.", one: func(c *Call, a Value) Value { return c.end(a, -1, 0) }},
		{name: "str:s-rest", list: "(string)", doc: "All but the first character.", one: func(c *Call, a Value) Value { return c.end(a, 1, 0) }},
		{name: "str:count-substring", list: "(substring string)", doc: "How often a substring occurs.", two: func(c *Call, a, b Value) Value {
			if part := c.goString(a); part != "" {
				return count(strings.Count(c.goString(b), part))
			}
			return Nil
		}},
		{name: "str:remove-punctuation", list: "(string)", doc: "The string with blanks for what is no letter or digit.", one: func(c *Call, a Value) Value {
			return c.text(strings.Join(strings.FieldsFunc(c.goString(a), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " "))
		}},
		{name: "str:prefix", list: "(strings)", doc: "The longest common beginning.", one: func(c *Call, a Value) Value { return c.commonPrefix(c.slice(a)) }},
	}
	return append(append(rows, strTests()...), strChanges()...)
}

// goString takes a string designator, nil as the empty string; its work is charged.
func (c *Call) goString(v Value) string {
	if v == Nil {
		return ""
	}
	chars := c.chars(v)
	c.chargeMany(len(chars), 2)
	return string(chars)
}

func (c *Call) goStrings(items []Value) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = c.goString(item)
	}
	return texts
}

func (c *Call) stringList(parts []string, omitEmpty bool) Value {
	var list builder
	for _, part := range parts {
		if part == "" && omitEmpty {
			continue
		}
		c.charge(consBytes)
		list.add(c.text(part))
	}
	return list.list()
}

// clamped is a position counted from the end if negative, within the string.
func (c *Call) clamped(v Value, n int) int {
	i := int(max(min(c.fixnum(v), 1<<40), -1<<40))
	if i < 0 {
		i += n
	}
	return max(0, min(i, n))
}

// end is the part of a string from a position to another; 0 as the second is the end.
func (c *Call) end(v Value, from, to int) Value {
	if v == Nil {
		return Nil
	}
	chars := c.chars(v)
	if to == 0 {
		to = len(chars)
	}
	if from < 0 {
		from += len(chars)
	}
	from, to = max(0, min(from, len(chars))), min(to, len(chars))
	return c.newString(append([]rune(nil), chars[from:to]...))
}

func strSplit(c *Call, args []Value) Value {
	k := c.keywords(args[2:], kwOmitNulls, kwLimit, kwStart, kwEnd)
	if args[1] == Nil {
		return Nil
	}
	chars := c.chars(args[1])
	from, to := c.bounds(k[2], k[3], len(chars))
	limit := -1
	if given(k[1]) {
		limit = c.index(k[1])
	}
	c.chargeMany(to-from, runeBytes)
	return c.stringList(strings.SplitN(string(chars[from:to]), c.goString(args[0]), limit), given(k[0]))
}

func (c *Call) strReplace(args []Value, n int) Value {
	before, after, text := c.goString(args[0]), c.goString(args[1]), c.goString(args[2])
	if before == "" {
		return args[2]
	}
	c.chargeMany(strings.Count(text, before), len(after)+1)
	return c.text(strings.Replace(text, before, after, n))
}

func (c *Call) strPad(length, v, side, pad Value) Value {
	chars, n, fill := c.chars(v), c.index(length), ' '
	switch x := pad.(type) {
	case Character:
		fill = rune(x)
	case *String:
		if len(x.chars) != 1 {
			c.typeError(pad, "CHARACTER")
		}
		fill = x.chars[0]
	}
	if len(chars) >= n {
		return v
	}
	c.chargeMany(n, runeBytes)
	left := 0
	switch side {
	case kwLeft:
		left = n - len(chars)
	case kwCenter:
		left = (n - len(chars)) / 2
	}
	out := make([]rune, n)
	for i := range out {
		out[i] = fill
	}
	copy(out[left:], chars)
	return runesString(out)
}

func (c *Call) commonPrefix(items []Value) Value {
	texts := c.goStrings(items)
	if len(texts) == 0 {
		return Nil
	}
	prefix := []rune(texts[0])
	for _, text := range texts[1:] {
		n := 0
		for _, r := range text {
			if n >= len(prefix) || prefix[n] != r {
				break
			}
			n++
		}
		prefix = prefix[:n]
	}
	return c.newString(prefix)
}

// strTests are the predicates of str.
func strTests() []builtin {
	affix := func(name, list, doc string, flip bool, test func(s, affix string) bool) builtin {
		return builtin{name: name, list: list, doc: doc, call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwIgnoreCase)
			part, text := c.goString(args[0]), c.goString(args[1])
			if flip {
				part, text = text, part
			}
			if given(k[0]) {
				part, text = strings.ToLower(part), strings.ToLower(text)
			}
			return Boolean(test(text, part))
		}}
	}
	check := func(name, doc string, test func(string) bool) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value { return Boolean(test(c.goString(a))) }}
	}
	all := func(test func(rune) bool) func(string) bool {
		return func(s string) bool { return s != "" && strings.IndexFunc(s, func(r rune) bool { return !test(r) }) < 0 }
	}
	cased := func(change func(string) string) func(string) bool {
		return func(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 && change(s) == s }
	}
	return []builtin{
		affix("str:starts-with-p", "(start string &key ignore-case)", "True if string begins with start.", false, strings.HasPrefix),
		affix("str:starts-with?", "(start string &key ignore-case)", "True if string begins with start.", false, strings.HasPrefix),
		affix("str:ends-with-p", "(end string &key ignore-case)", "True if string ends with end.", false, strings.HasSuffix),
		affix("str:ends-with?", "(end string &key ignore-case)", "True if string ends with end.", false, strings.HasSuffix),
		affix("str:containsp", "(substring string &key ignore-case)", "True if string contains substring.", false, strings.Contains),
		affix("str:contains?", "(substring string &key ignore-case)", "True if string contains substring.", false, strings.Contains),
		check("str:emptyp", "True for an empty string or nil.", func(s string) bool { return s == "" }),
		check("str:empty?", "True for an empty string or nil.", func(s string) bool { return s == "" }),
		check("str:blankp", "True if there is nothing but blanks.", func(s string) bool { return strings.TrimSpace(s) == "" }),
		check("str:blank?", "True if there is nothing but blanks.", func(s string) bool { return strings.TrimSpace(s) == "" }),
		check("str:non-empty-string-p", "True for a string with characters.", func(s string) bool { return s != "" }),
		check("str:non-blank-string-p", "True for a string with other characters than blanks.", func(s string) bool { return strings.TrimSpace(s) != "" }),
		check("str:digitp", "True for digits only.", all(unicode.IsDigit)), check("str:digit?", "True for digits only.", all(unicode.IsDigit)),
		check("str:alphap", "True for letters only.", all(unicode.IsLetter)), check("str:alpha?", "True for letters only.", all(unicode.IsLetter)),
		check("str:alphanump", "True for letters and digits only.", all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })),
		check("str:upcasep", "True if all letters are upper case.", cased(strings.ToUpper)), check("str:upcase?", "True if all letters are upper case.", cased(strings.ToUpper)),
		check("str:downcasep", "True if all letters are lower case.", cased(strings.ToLower)), check("str:downcase?", "True if all letters are lower case.", cased(strings.ToLower)),
	}
}

// strChanges are the conversions of a whole string.
func strChanges() []builtin {
	change := func(name, doc string, change func(string) string) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			return c.text(change(c.goString(a)))
		}}
	}
	joined := func(separator string, word func(string) string) func(string) string {
		return func(s string) string {
			words := caseWords(s)
			for i := range words {
				words[i] = word(words[i])
			}
			return strings.Join(words, separator)
		}
	}
	capital := func(s string) string {
		chars := []rune(strings.ToLower(s))
		capitalize(chars)
		return string(chars)
	}
	return []builtin{
		change("str:trim", "The string without blanks at both ends.", strings.TrimSpace),
		change("str:trim-left", "The string without blanks at its beginning.", func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }),
		change("str:trim-right", "The string without blanks at its end.", func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }),
		change("str:upcase", "In upper case.", strings.ToUpper), change("str:downcase", "In lower case.", strings.ToLower), change("str:capitalize", "Each word with a capital.", capital),
		change("str:snake-case", "The words in lower case with underscores between.", joined("_", strings.ToLower)),
		change("str:param-case", "The words in lower case with hyphens between.", joined("-", strings.ToLower)),
		change("str:constant-case", "The words in upper case with underscores between.", joined("_", strings.ToUpper)),
		change("str:pascal-case", "The words with capitals and nothing between.", joined("", capital)),
		change("str:title-case", "The words with capitals and blanks between.", joined(" ", capital)),
		change("str:camel-case", "The words with capitals except the first and nothing between.", func(s string) string {
			text := []rune(joined("", capital)(s))
			if len(text) > 0 {
				text[0] = unicode.ToLower(text[0])
			}
			return string(text)
		}),
	}
}

// caseWords parts a name at everything that is no letter or digit, and where a capital
// follows a small letter.
func caseWords(s string) []string {
	var words []string
	var word []rune
	for _, r := range s {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if len(word) > 0 && (!letter || unicode.IsUpper(r) && unicode.IsLower(word[len(word)-1])) {
			words, word = append(words, string(word)), nil
		}
		if letter {
			word = append(word, r)
		}
	}
	if len(word) > 0 {
		words = append(words, string(word))
	}
	return words
}
