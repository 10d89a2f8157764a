package str

import (
	"strings"
	"unicode"

	"org-agent/kernel/lisp"
)

// strCases are the conversions of a whole string, and those that find its words first.
func strCases() []lisp.Builtin {
	change := func(name, doc string, change func(rune) rune) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			out := c.CopyRunes(c.Chars(a))
			lisp.MapRunes(out.Runes(), change)
			return out
		}}
	}
	words := func(name, doc, separator string, finish func(c *lisp.Call, text []rune) []rune) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			return c.StringOf(finish(c, caseWords(c, c.Chars(a), []rune(separator))))
		}}
	}
	return []lisp.Builtin{
		change("upcase", "In upper case.", lisp.Upper), change("downcase", "In lower case.", lisp.Lower),
		change("swap-case", "Upper case for lower case and the other way.", func(r rune) rune {
			if lisp.Lower(r) != r {
				return lisp.Lower(r)
			}
			return lisp.Upper(r)
		}),
		{Name: "capitalize", LambdaList: "(string)", Doc: "Each word with a capital.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			out := c.CopyRunes(c.Chars(a))
			lisp.MapRunes(out.Runes(), lisp.Lower)
			lisp.Capitalize(out.Runes())
			return out
		}},
		{Name: "no-case", LambdaList: "(string &key replacement)", Doc: "The words in lower case with blanks, or the replacement, between.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg, replacement := args.Get("string"), args.Get("replacement")
			if stringArg == lisp.Nil {
				return lisp.Nil
			}
			separator := []rune(" ")
			if replacement != nil {
				separator = c.TakeString(replacement).Runes()
			}
			return c.StringOf(caseWords(c, c.Chars(stringArg), separator))
		}},
		{Name: "camel-case", LambdaList: "(string &key merge-numbers)", Doc: "The words with capitals except the first and nothing between; an underscore before digits unless numbers are merged.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stringArg := args.Get("string")
			if stringArg == lisp.Nil {
				return lisp.Nil
			}
			return c.StringOf(camelWords(c, caseWords(c, c.Chars(stringArg), []rune(" ")), args.True("merge-numbers")))
		}},
		words("pascal-case", "The words with capitals and nothing between; an underscore before digits.", " ", func(c *lisp.Call, text []rune) []rune { return capitalFirst(c, camelWords(c, text, false)) }),
		words("snake-case", "The words in lower case with underscores between.", "_", unchanged),
		words("param-case", "The words in lower case with hyphens between.", "-", unchanged),
		words("dot-case", "The words in lower case with points between.", ".", unchanged),
		words("path-case", "The words in lower case with slashes between.", "/", unchanged),
		words("constant-case", "The words in upper case with underscores between.", "_", func(_ *lisp.Call, text []rune) []rune { lisp.MapRunes(text, lisp.Upper); return text }),
		words("sentence-case", "The words in lower case with blanks between, the first with a capital.", " ", capitalFirst),
		words("header-case", "The words with capitals and hyphens between.", "-", func(_ *lisp.Call, text []rune) []rune { return capitalWords(text, '-') }),
		words("title-case", "The words with capitals and blanks between.", " ", func(_ *lisp.Call, text []rune) []rune { return capitalWords(text, ' ') }),
	}
}

func unchanged(_ *lisp.Call, text []rune) []rune { return text }

// caseWords writes the words of a name in lower case with a separator between. They are
// parted where a capital follows a small letter or a digit, before the last of several
// capitals if a small letter follows, and at all that is no letter and no number.
func caseWords(c *lisp.Call, name, separator []rune) []rune {
	var out []rune
	parted := false // a separator is due before the next letter
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			parted = parted || len(out) > 0
			continue
		}
		if blank := i > 0 && unicode.IsUpper(r) && beginsWord(name, i); blank || parted {
			out = lisp.Append(c, out, separator...)
			parted = false
		}
		out = lisp.Append(c, out, lisp.Lower(r))
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
func camelWords(c *lisp.Call, text []rune, merge bool) []rune {
	out := lisp.MakeSlice[rune](c, len(text))[:0]
	for i, r := range text {
		after := i > 0 && text[i-1] == ' '
		switch {
		case r == ' ' && !merge && i+1 < len(text) && strings.ContainsRune("0123456789", text[i+1]):
			out = append(out, '_')
		case r == ' ':
		case after:
			out = append(out, lisp.Upper(r))
		default:
			out = append(out, r)
		}
	}
	return out
}

func capitalFirst(_ *lisp.Call, text []rune) []rune {
	if len(text) > 0 {
		text[0] = lisp.Upper(text[0])
	}
	return text
}

// capitalWords begins each word with a capital.
func capitalWords(text []rune, separator rune) []rune {
	for i := range text {
		if i == 0 || text[i-1] == separator {
			text[i] = lisp.Upper(text[i])
		}
	}
	return text
}
