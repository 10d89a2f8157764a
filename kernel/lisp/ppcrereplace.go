package lisp

import (
	"slices"
	"unicode"
)

func replaceFunctions() []builtin {
	return []builtin{
		{name: "cl-ppcre:regex-replace", list: "(pattern target replacement &key start end preserve-case simple-calls element-type)", doc: "The target with the first match replaced, and whether there was one.", many: true, check: checkPattern, named: func(c *Call, args Args) Value {
			return c.replaceMatches(replacementOf(args), 1)
		}},
		{name: "cl-ppcre:regex-replace-all", list: "(pattern target replacement &key start end preserve-case simple-calls element-type)", doc: "The target with all matches replaced, and whether there was one.", many: true, check: checkPattern, named: func(c *Call, args Args) Value {
			return c.replaceMatches(replacementOf(args), -1)
		}},
	}
}

// The parts of a replacement that stand for something in the match.
var (
	kwMatch       = standardKeyword("MATCH")
	kwBeforeMatch = standardKeyword("BEFORE-MATCH")
	kwAfterMatch  = standardKeyword("AFTER-MATCH")
	kwBackslash   = standardKeyword("BACKSLASH")
)

// replacing is what takes the place of matches.
type replacing struct {
	call         *Call
	target       Value
	match        patternMatch
	parts        []Value
	simple, keep bool
}

// replacement is what is replaced in what, and how.
type replacement struct {
	pattern, target, with, start, end Value
	preserveCase, simpleCalls         bool
}

func replacementOf(args Args) replacement {
	return replacement{args.Get("pattern"), args.Get("target"), args.Get("replacement"), args.Get("start"), args.Get("end"), args.True("preserve-case"), args.True("simple-calls")}
}

// replaceMatches replaces at most limit matches, all if it is negative. The result is
// of the part that was searched.
func (c *Call) replaceMatches(what replacement, limit int) Value {
	found := c.matches(what.pattern, what.target, what.start, what.end)
	r := &replacing{call: c, target: what.target, keep: what.preserveCase, simple: what.simpleCalls}
	text := patternMatch{of: found.search}
	var out []rune
	add := func(part []rune) {
		c.chargeMany(len(part), 2*runeBytes)
		out = append(out, part...)
	}
	last, n := found.search.from, 0
	for match := range found.all() {
		if n == 0 {
			r.parts = c.replacementParts(what.with)
		}
		add(text.of.text[last:match.start])
		r.match = match
		piece := r.text()
		if r.keep {
			piece = slices.Clone(piece)
			likeCase(piece, text.of.text[found.search.from:found.search.to], match.start-found.search.from, match.end-found.search.from)
		}
		add(piece)
		last = match.end
		if n++; n == limit {
			break
		}
	}
	add(text.of.text[last:found.search.to])
	if what.target == Nil && n == 0 {
		return c.values(Nil, Nil)
	}
	return c.values(runesString(out), Boolean(n > 0))
}

// replacementParts takes a replacement apart: strings, registers counted from 0,
// keywords and functions.
func (c *Call) replacementParts(v Value) []Value {
	if template, ok := v.(*String); ok {
		return c.templateParts(template.chars)
	}
	if isList(v) && v != Nil {
		return c.slice(v)
	}
	if v == Nil {
		return nil
	}
	_, isFunction := v.(*Function)
	if _, ok := v.(*Symbol); !ok && !isFunction {
		c.fail(simpleError, "%s is no replacement: that is a string, a list or a function", c.shown(v))
	}
	return []Value{v}
}

// templateParts reads \1 \{12} \& \` \' and \\.
func (c *Call) templateParts(text []rune) []Value {
	var parts []Value
	last := 0
	c.chargeMany(len(text), valueBytes)
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		part, length := c.templatePart(text[i+1:])
		if length == 0 {
			continue
		}
		if i > last {
			parts = append(parts, runesString(slices.Clone(text[last:i])))
		}
		parts = append(parts, part)
		i += length
		last = i + 1
	}
	return append(parts, runesString(slices.Clone(text[last:])))
}

// templatePart reads what is behind a backslash; length is 0 if that is nothing special.
func (c *Call) templatePart(text []rune) (part Value, length int) {
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
		c.invocationError("a replacement cannot refer to register 0: registers count from 1, and the whole match is \\&")
	}
	return count(n - 1), length
}

// text is what takes the place of the match.
func (r *replacing) text() []rune {
	if len(r.parts) == 1 {
		return r.part(r.parts[0])
	}
	var out []rune
	for _, part := range r.parts {
		piece := r.part(part)
		r.call.chargeMany(len(piece), runeBytes)
		out = append(out, piece...)
	}
	return out
}

func (r *replacing) part(part Value) []rune {
	c, m := r.call, r.match.of
	switch x := part.(type) {
	case *String:
		return x.chars
	case int64:
		if x < 0 || x >= int64(m.scanner.registers) {
			c.invocationError("the replacement refers to register " + sketch(Integer(x+1), 20) + ", which the pattern does not have")
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
	fn := c.function(part)
	c.descend(8) // a function that replaces in turn
	defer c.ascend(8)
	if r.simple {
		return c.str(single(c.apply(fn, append([]Value{r.match.text()}, r.match.groups()...)))).chars
	}
	bounds := r.match.bounds()
	return c.str(single(c.apply(fn, append([]Value{r.target, count(m.from), count(m.to)}, bounds...)))).chars
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
		mapRunes(piece, upper)
	case noCapitals:
		mapRunes(piece, lower)
	case firstCapitals:
		capitalize(piece)
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
		if lower(r) == upper(r) {
			inside = false
			continue
		}
		if lower(r) != r {
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

func mapRunes(text []rune, change func(rune) rune) {
	for i, r := range text {
		text[i] = change(r)
	}
}
