package ppcre

import (
	"unicode"

	"org-agent/kernel/lisp"
)

func replaceFunctions() []lisp.Builtin {
	return []lisp.Builtin{
		{Name: "regex-replace", LambdaList: "(pattern target replacement &key start end preserve-case simple-calls element-type)", Doc: "The target with the first match replaced, and whether there was one.", Many: true, Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return Replace(c, replacementOf(args), 1)
		}},
		{Name: "regex-replace-all", LambdaList: "(pattern target replacement &key start end preserve-case simple-calls element-type)", Doc: "The target with all matches replaced, and whether there was one.", Many: true, Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return Replace(c, replacementOf(args), -1)
		}},
	}
}

// The parts of a replacement that stand for something in the match.
var (
	kwMatch       = lisp.Keyword("MATCH")
	kwBeforeMatch = lisp.Keyword("BEFORE-MATCH")
	kwAfterMatch  = lisp.Keyword("AFTER-MATCH")
	kwBackslash   = lisp.Keyword("BACKSLASH")
)

// replacing is what takes the place of matches.
type replacing struct {
	call         *lisp.Call
	target       lisp.Value
	match        Match
	parts        []lisp.Value
	simple, keep bool
}

// Replacement is what is replaced in what, and how.
type Replacement struct {
	Pattern, Target, With, Start, End lisp.Value
	preserveCase, simpleCalls         bool
}

func replacementOf(args lisp.Args) Replacement {
	return Replacement{args.Get("pattern"), args.Get("target"), args.Get("replacement"), args.Get("start"), args.Get("end"), args.True("preserve-case"), args.True("simple-calls")}
}

// Replace replaces at most limit matches, all if it is negative. The result is
// of the part that was searched.
func Replace(c *lisp.Call, what Replacement, limit int) lisp.Value {
	found := Search(c, what.Pattern, what.Target, what.Start, what.End)
	r := &replacing{call: c, target: what.Target, keep: what.preserveCase, simple: what.simpleCalls}
	text := Match{of: found.search}
	var out []rune
	add := func(part []rune) {
		out = lisp.Append(c, out, part...)
	}
	last, n := found.search.from, 0
	for match := range found.all() {
		if n == 0 {
			r.parts = replacementParts(c, what.With)
		}
		add(text.of.text[last:match.start])
		r.match = match
		piece := r.text()
		if r.keep {
			piece = lisp.Clone(c, piece)
			likeCase(piece, text.of.text[found.search.from:found.search.to], match.start-found.search.from, match.end-found.search.from)
		}
		add(piece)
		last = match.end
		if n++; n == limit {
			break
		}
	}
	add(text.of.text[last:found.search.to])
	if what.Target == lisp.Nil && n == 0 {
		return c.Values(lisp.Nil, lisp.Nil)
	}
	return c.Values(c.StringOf(out), lisp.Boolean(n > 0))
}

// replacementParts takes a replacement apart: strings, registers counted from 0,
// keywords and functions.
func replacementParts(c *lisp.Call, v lisp.Value) []lisp.Value {
	if template, ok := v.(*lisp.String); ok {
		return templateParts(c, template.Runes())
	}
	if lisp.IsList(v) && v != lisp.Nil {
		return c.Slice(v)
	}
	if v == lisp.Nil {
		return nil
	}
	_, isFunction := v.(*lisp.Function)
	if _, ok := v.(*lisp.Symbol); !ok && !isFunction {
		c.Fail(lisp.SimpleError, "%s is no replacement: that is a string, a list or a function", c.Shown(v))
	}
	return []lisp.Value{v}
}

// templateParts reads \1 \{12} \& \` \' and \\.
func templateParts(c *lisp.Call, text []rune) []lisp.Value {
	var parts []lisp.Value
	last := 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		part, length := templatePart(c, text[i+1:])
		if length == 0 {
			continue
		}
		if i > last {
			parts = lisp.Append(c, parts, lisp.Value(c.CopyRunes(text[last:i])))
		}
		parts = lisp.Append(c, parts, part)
		i += length
		last = i + 1
	}
	return lisp.Append(c, parts, lisp.Value(c.CopyRunes(text[last:])))
}

// templatePart reads what is behind a backslash; length is 0 if that is nothing special.
func templatePart(c *lisp.Call, text []rune) (part lisp.Value, length int) {
	switch text[0] {
	case '\\':
		return kwBackslash, 1
	case '&':
		return kwMatch, 1
	case '`':
		return kwBeforeMatch, 1
	case '\'':
		return kwAfterMatch, 1
	}
	digits := text
	if text[0] == '{' {
		digits = text[1:]
	}
	n := 0
	for length < len(digits) && digits[length] >= '0' && digits[length] <= '9' {
		n = min(n*10+int(digits[length]-'0'), 1<<30)
		length++
	}
	if length == 0 || text[0] == '{' && (length >= len(digits) || digits[length] != '}') {
		return nil, 0
	}
	if text[0] == '{' {
		length += 2
	}
	if n == 0 {
		invocationError(c, "a replacement cannot refer to register 0: registers count from 1, and the whole match is \\&")
	}
	return lisp.Count(n - 1), length
}

// text is what takes the place of the match.
func (r *replacing) text() []rune {
	if len(r.parts) == 1 {
		return r.part(r.parts[0])
	}
	var out []rune
	for _, part := range r.parts {
		piece := r.part(part)
		out = lisp.Append(r.call, out, piece...)
	}
	return out
}

func (r *replacing) part(part lisp.Value) []rune {
	c, m := r.call, r.match.of
	switch x := part.(type) {
	case *lisp.String:
		return x.Runes()
	case int64:
		if x < 0 || x >= int64(m.scanner.registers) {
			invocationError(c, "the replacement refers to register "+lisp.Sketch(lisp.Integer(x+1), 20)+", which the pattern does not have")
		}
		if start, end, ok := r.match.register(int(x)); ok {
			return m.text[start:end]
		}
		return nil
	}
	switch part {
	case kwBackslash:
		return []rune{'\\'}
	case kwMatch:
		return m.text[r.match.start:r.match.end]
	case kwBeforeMatch:
		return m.text[m.from:r.match.start]
	case kwAfterMatch:
		return m.text[r.match.end:m.to]
	}
	fn := c.Function(part)
	c.Descend(8) // a function that replaces in turn
	defer c.Ascend(8)
	if r.simple {
		return c.TakeString(lisp.Single(c.Funcall(fn, lisp.Append(c, []lisp.Value{r.match.Text()}, r.match.groups()...)...))).Runes()
	}
	bounds := r.match.Bounds()
	return c.TakeString(lisp.Single(c.Funcall(fn, lisp.Append(c, []lisp.Value{r.target, lisp.Count(m.from), lisp.Count(m.to)}, bounds...)...))).Runes()
}

// likeCase changes piece to upper case, lower case or capitals if all words of the text
// from start to end are so, and neither end is inside a word.
func likeCase(piece, text []rune, start, end int) {
	word := func(i int) bool {
		return i >= 0 && i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsDigit(text[i]))
	}
	if start >= end || word(start-1) && word(start) || word(end-1) && word(end) {
		return
	}
	switch caseOf(text[start:end]) {
	case oneCapital, capitals:
		lisp.MapRunes(piece, lisp.Upper)
	case noCapitals:
		lisp.MapRunes(piece, lisp.Lower)
	case firstCapitals:
		lisp.Capitalize(piece)
	}
}

// lettering is how the words of a text are written, as far as it was read.
type lettering int

const (
	unknownCase lettering = iota
	oneCapital
	capitals
	noCapitals
	firstCapitals
	mixedCase
)

// caseOf finds what can be kept in a replacement. A capital that is a word of its own
// says nothing of the words behind it.
func caseOf(text []rune) lettering {
	seen, inside := unknownCase, false
	for _, r := range text {
		if lisp.Lower(r) == lisp.Upper(r) {
			inside = false
			continue
		}
		if lisp.Lower(r) != r {
			seen = withCapital(seen, inside)
		} else {
			seen = withSmall(seen, inside)
		}
		if seen == mixedCase {
			return seen
		}
		inside = true
	}
	return seen
}

func withCapital(seen lettering, inside bool) lettering {
	switch {
	case inside && (seen == oneCapital || seen == capitals):
		return capitals
	case !inside && seen == unknownCase:
		return oneCapital
	case !inside && seen == oneCapital:
		return unknownCase
	case !inside && (seen == firstCapitals || seen == capitals):
		return seen
	case inside && seen == unknownCase:
		return unknownCase
	}
	return mixedCase
}

func withSmall(seen lettering, inside bool) lettering {
	switch {
	case seen == unknownCase || seen == noCapitals:
		return noCapitals
	case seen == oneCapital || seen == firstCapitals && inside:
		return firstCapitals
	}
	return mixedCase
}
