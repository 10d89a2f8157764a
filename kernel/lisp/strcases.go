package lisp

import (
	"slices"
	"strings"
	"unicode"
)

// strCases are the conversions of a whole string, and those that find its words first.
func strCases() []builtin {
	change := func(name, doc string, change func(rune) rune) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			out := c.newString(slices.Clone(c.chars(a)))
			mapRunes(out.chars, change)
			return out
		}}
	}
	words := func(name, doc, separator string, finish func([]rune) []rune) builtin {
		return builtin{name: name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			return runesString(finish(c.caseWords(c.chars(a), []rune(separator))))
		}}
	}
	return []builtin{
		change("str:upcase", "In upper case.", upper), change("str:downcase", "In lower case.", lower),
		change("str:swap-case", "Upper case for lower case and the other way.", func(r rune) rune {
			if lower(r) != r {
				return lower(r)
			}
			return upper(r)
		}),
		{name: "str:capitalize", list: "(string)", doc: "Each word with a capital.", one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			out := c.newString(slices.Clone(c.chars(a)))
			mapRunes(out.chars, lower)
			capitalize(out.chars)
			return out
		}},
		{name: "str:no-case", list: "(string &key replacement)", doc: "The words in lower case with blanks, or the replacement, between.", named: func(c *Call, args Args) Value {
			stringArg, replacement := args.Get("string"), args.Get("replacement")

			if stringArg == Nil {
				return Nil
			}
			separator := []rune(" ")
			if replacement != nil {
				separator = c.str(replacement).chars
			}
			return runesString(c.caseWords(c.chars(stringArg), separator))
		}},
		{name: "str:camel-case", list: "(string &key merge-numbers)", doc: "The words with capitals except the first and nothing between; an underscore before digits unless numbers are merged.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			if stringArg == Nil {
				return Nil
			}
			return runesString(camelWords(c.caseWords(c.chars(stringArg), []rune(" ")), args.True("merge-numbers")))
		}},
		words("str:pascal-case", "The words with capitals and nothing between; an underscore before digits.", " ", func(text []rune) []rune { return capitalFirst(camelWords(text, false)) }),
		words("str:snake-case", "The words in lower case with underscores between.", "_", unchanged),
		words("str:param-case", "The words in lower case with hyphens between.", "-", unchanged),
		words("str:dot-case", "The words in lower case with points between.", ".", unchanged),
		words("str:path-case", "The words in lower case with slashes between.", "/", unchanged),
		words("str:constant-case", "The words in upper case with underscores between.", "_", func(text []rune) []rune { mapRunes(text, upper); return text }),
		words("str:sentence-case", "The words in lower case with blanks between, the first with a capital.", " ", capitalFirst),
		words("str:header-case", "The words with capitals and hyphens between.", "-", func(text []rune) []rune { return capitalWords(text, '-') }),
		words("str:title-case", "The words with capitals and blanks between.", " ", func(text []rune) []rune { return capitalWords(text, ' ') }),
	}
}

func unchanged(text []rune) []rune { return text }

// caseWords writes the words of a name in lower case with a separator between. They are
// parted where a capital follows a small letter or a digit, before the last of several
// capitals if a small letter follows, and at all that is no letter and no number.
func (c *Call) caseWords(name, separator []rune) []rune {
	c.chargeMany(len(name), (2+len(separator))*runeBytes)
	var out []rune
	parted := false // a separator is due before the next letter
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			parted = parted || len(out) > 0
			continue
		}
		if blank := i > 0 && unicode.IsUpper(r) && beginsWord(name, i); blank || parted {
			out = append(out, separator...)
			parted = false
		}
		out = append(out, lower(r))
	}
	return out
}

// beginsWord reports that the capital at i begins a word.
func beginsWord(name []rune, i int) bool {
	before := name[i-1]
	if unicode.IsLower(before) || unicode.IsNumber(before) {
		return true
	}
	return unicode.IsUpper(before) && i+1 < len(name) && unicode.IsLower(name[i+1])
}

// camelWords joins words with capitals.
func camelWords(text []rune, merge bool) []rune {
	var out []rune
	for i, r := range text {
		after := i > 0 && text[i-1] == ' '
		switch {
		case r == ' ' && !merge && i+1 < len(text) && strings.ContainsRune("0123456789", text[i+1]):
			out = append(out, '_')
		case r == ' ':
		case after:
			out = append(out, upper(r))
		default:
			out = append(out, r)
		}
	}
	return out
}

func capitalFirst(text []rune) []rune {
	if len(text) > 0 {
		text[0] = upper(text[0])
	}
	return text
}

// capitalWords begins each word with a capital.
func capitalWords(text []rune, separator rune) []rune {
	for i := range text {
		if i == 0 || text[i-1] == separator {
			text[i] = upper(text[i])
		}
	}
	return text
}
