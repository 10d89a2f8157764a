package ppcre

import (
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/lisp"
)

// The words of parse trees, which are cl-ppcre's.
var (
	kwVoid               = lisp.Keyword("VOID")
	kwEverything         = lisp.Keyword("EVERYTHING")
	kwSequence           = lisp.Keyword("SEQUENCE")
	kwGroup              = lisp.Keyword("GROUP")
	kwAlternation        = lisp.Keyword("ALTERNATION")
	kwRegister           = lisp.Keyword("REGISTER")
	kwNamedRegister      = lisp.Keyword("NAMED-REGISTER")
	kwBackReference      = lisp.Keyword("BACK-REFERENCE")
	kwGreedy             = lisp.Keyword("GREEDY-REPETITION")
	kwNonGreedy          = lisp.Keyword("NON-GREEDY-REPETITION")
	kwCharClass          = lisp.Keyword("CHAR-CLASS")
	kwInvertedCharClass  = lisp.Keyword("INVERTED-CHAR-CLASS")
	kwRange              = lisp.Keyword("RANGE")
	kwProperty           = lisp.Keyword("PROPERTY")
	kwInvertedProperty   = lisp.Keyword("INVERTED-PROPERTY")
	kwFlags              = lisp.Keyword("FLAGS")
	kwRegex              = lisp.Keyword("REGEX")
	kwFilter             = lisp.Keyword("FILTER")
	kwBranch             = lisp.Keyword("BRANCH")
	kwStandalone         = lisp.Keyword("STANDALONE")
	kwLookAhead          = lisp.Keyword("POSITIVE-LOOKAHEAD")
	kwNegativeLookAhead  = lisp.Keyword("NEGATIVE-LOOKAHEAD")
	kwLookBehind         = lisp.Keyword("POSITIVE-LOOKBEHIND")
	kwNegativeLookBehind = lisp.Keyword("NEGATIVE-LOOKBEHIND")
	kwStartAnchor        = lisp.Keyword("START-ANCHOR")
	kwEndAnchor          = lisp.Keyword("END-ANCHOR")
	kwTextStart          = lisp.Keyword("MODELESS-START-ANCHOR")
	kwTextEnd            = lisp.Keyword("MODELESS-END-ANCHOR")
	kwVeryEnd            = lisp.Keyword("MODELESS-END-ANCHOR-NO-NEWLINE")
	kwWordBoundary       = lisp.Keyword("WORD-BOUNDARY")
	kwNoWordBoundary     = lisp.Keyword("NON-WORD-BOUNDARY")
	kwDigitClass         = lisp.Keyword("DIGIT-CLASS")
	kwNonDigitClass      = lisp.Keyword("NON-DIGIT-CLASS")
	kwWordClass          = lisp.Keyword("WORD-CHAR-CLASS")
	kwNonWordClass       = lisp.Keyword("NON-WORD-CHAR-CLASS")
	kwSpaceClass         = lisp.Keyword("WHITESPACE-CHAR-CLASS")
	kwNonSpaceClass      = lisp.Keyword("NON-WHITESPACE-CHAR-CLASS")
	kwFoldCase           = lisp.Keyword("CASE-INSENSITIVE-P")
	kwKeepCase           = lisp.Keyword("CASE-SENSITIVE-P")
	kwManyLines          = lisp.Keyword("MULTI-LINE-MODE-P")
	kwNotManyLines       = lisp.Keyword("NOT-MULTI-LINE-MODE-P")
	kwOneLine            = lisp.Keyword("SINGLE-LINE-MODE-P")
	kwNotOneLine         = lisp.Keyword("NOT-SINGLE-LINE-MODE-P")
)

// classEscapes are the escapes that mean a class of characters.
var classEscapes = map[rune]*lisp.Symbol{
	'd': kwDigitClass, 'D': kwNonDigitClass, 'w': kwWordClass, 'W': kwNonWordClass, 's': kwSpaceClass, 'S': kwNonSpaceClass,
}

var anchorEscapes = map[rune]*lisp.Symbol{
	'A': kwTextStart, 'Z': kwTextEnd, 'z': kwVeryEnd, 'b': kwWordBoundary, 'B': kwNoWordBoundary,
}

var flagLetters = map[rune][2]*lisp.Symbol{
	'i': {kwFoldCase, kwKeepCase}, 'm': {kwManyLines, kwNotManyLines}, 's': {kwOneLine, kwNotOneLine},
}

// patternReader turns the text of a pattern into a parse tree.
type patternReader struct {
	call      *lisp.Call
	text      []rune
	pos       int
	registers int // closed so far
	// extended skips blanks and comments; quoting knows \Q and \E, names (?<name>…).
	extended, quoting, names bool
}

// end is what peek and take give behind the text.
const end rune = -1

func (r *patternReader) fail(pos int, format string, args ...any) {
	patternError(r.call, lisp.Value(lisp.StringOf(r.text)), lisp.Count(pos), format, args...)
}

func (r *patternReader) parse() lisp.Value {
	tree := r.alternatives()
	if r.pos < len(r.text) {
		r.fail(r.pos, "a ) closes nothing")
	}
	return tree
}

func (r *patternReader) peek() rune {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return end
}

func (r *patternReader) take() rune {
	ch := r.peek()
	r.pos++
	return ch
}

// skip passes comments, and blanks in extended mode.
func (r *patternReader) skip() {
	for r.pos < len(r.text) {
		r.call.Step()
		switch ch := r.text[r.pos]; {
		case ch == '(' && strings.HasPrefix(string(r.text[r.pos:min(r.pos+3, len(r.text))]), "(?#"):
			length := slices.Index(r.text[r.pos:], ')')
			if length < 0 {
				r.fail(r.pos, "the comment group is not closed")
			}
			r.pos += length + 1
		case r.extended && isPatternBlank(ch):
			r.pos++
		case r.extended && ch == '#':
			length := slices.Index(r.text[r.pos:], '\n')
			if length < 0 {
				r.pos = len(r.text)
				return
			}
			r.pos += length + 1
		default:
			return
		}
	}
}

func isPatternBlank(ch rune) bool { return strings.ContainsRune(" \t\n\r\f", ch) }

// alternatives reads up to a ) or the end.
func (r *patternReader) alternatives() lisp.Value {
	r.call.Descend(8)
	defer r.call.Ascend(8)
	if r.skip(); r.peek() == '|' {
		r.pos++
		return r.list(kwAlternation, kwVoid, r.alternatives())
	}
	first := r.sequence()
	if r.skip(); r.peek() != '|' {
		return first
	}
	r.pos++
	rest := r.alternatives()
	if cell, ok := rest.(*lisp.Cons); ok && cell.Car == kwAlternation {
		cell.Cdr = r.call.Cons(first, cell.Cdr)
		return cell
	}
	return r.list(kwAlternation, first, rest)
}

func (r *patternReader) list(items ...lisp.Value) lisp.Value {
	return r.call.NewList(items)
}

// sequence reads what follows one another; characters side by side become a string.
func (r *patternReader) sequence() lisp.Value {
	var parts []lisp.Value
	var text []rune // of the last part, when that is a string made here
	end := func() {
		if text != nil {
			parts[len(parts)-1] = r.call.StringOf(text)
		}
		text = nil
	}
	for r.skip(); r.pos < len(r.text) && r.peek() != ')' && r.peek() != '|'; r.skip() {
		part := r.quantified()
		ch, isCharacter := part.(lisp.Character)
		if n := len(parts); isCharacter && n > 0 {
			if before, ok := parts[n-1].(lisp.Character); ok {
				text = []rune{rune(before), rune(ch)}
				parts[n-1] = lisp.Nil
				continue
			}
			if text != nil {
				text = lisp.Append(r.call, text, rune(ch))
				continue
			}
		}
		end()
		parts = lisp.Append(r.call, parts, part)
	}
	end()
	switch len(parts) {
	case 0:
		return kwVoid
	case 1:
		return parts[0]
	}
	return r.call.Cons(kwSequence, r.list(parts...))
}

// quantified reads one part and how often it is to be there.
func (r *patternReader) quantified() lisp.Value {
	part := r.part()
	least, most, ok := r.quantifier()
	if !ok {
		return part
	}
	kind := kwGreedy
	if mark := r.pos; r.pos < len(r.text) {
		if r.skip(); r.peek() == '?' {
			r.pos++
			kind = kwNonGreedy
		} else {
			r.pos = mark
		}
	}
	return r.list(kind, least, most, part)
}

// quantifier reads * + ? {n} {n,} {n,m} if one is there.
func (r *patternReader) quantifier() (least, most lisp.Value, ok bool) {
	mark := r.pos
	r.skip()
	switch r.take() {
	case '*':
		return lisp.Integer(0), lisp.Nil, true
	case '+':
		return lisp.Integer(1), lisp.Nil, true
	case '?':
		return lisp.Integer(0), lisp.Integer(1), true
	case '{':
		if least, ok = r.number(10, -1); !ok {
			break
		}
		most = least
		if r.peek() == ',' {
			r.pos++
			if most, ok = r.number(10, -1); !ok {
				most = lisp.Nil
			}
		}
		if r.take() == '}' {
			return least, most, true
		}
	}
	r.pos = mark
	return nil, nil, false
}

// number reads digits, at most width of them; what is too large to be counted is the
// largest that can be.
func (r *patternReader) number(radix, width int) (n lisp.Value, ok bool) {
	value := 0
	for ; width != 0 && r.pos < len(r.text) && r.text[r.pos] < 128; width-- {
		weight := lisp.DigitWeight(r.text[r.pos])
		if weight < 0 || weight >= radix {
			break
		}
		value, ok = min(value*radix+weight, 1<<40), true
		r.pos++
	}
	return lisp.Count(value), ok
}

// part reads what a quantifier applies to.
func (r *patternReader) part() lisp.Value {
	start := r.pos
	switch ch := r.take(); ch {
	case '(':
		return r.group(start)
	case '[':
		return r.class()
	case '\\':
		return r.escape()
	case '.':
		return kwEverything
	case '^':
		return kwStartAnchor
	case '$':
		return kwEndAnchor
	case '*', '+', '?':
		r.fail(start, "the quantifier %c stands behind nothing it could repeat", ch)
	case '{':
		r.pos--
		if _, _, ok := r.quantifier(); ok {
			r.fail(start, "the quantifier %s stands behind nothing it could repeat", string(r.text[start:r.pos]))
		}
		r.pos++
		return lisp.Character(ch)
	default:
		return lisp.Character(ch)
	}
	return nil
}

// groupKinds are the groups that begin with (? and this text.
var groupKinds = []struct {
	text string
	kind *lisp.Symbol
}{
	{"<=", kwLookBehind}, {"<!", kwNegativeLookBehind}, {"=", kwLookAhead}, {"!", kwNegativeLookAhead}, {">", kwStandalone}, {"(", kwBranch},
}

// group reads what is behind an opening parenthesis at start.
func (r *patternReader) group(start int) lisp.Value {
	extended := r.extended
	closed := func(head ...lisp.Value) lisp.Value {
		tree := r.alternatives()
		if r.take() != ')' {
			r.fail(start, "the parenthesis is not closed")
		}
		r.extended = extended
		return r.list(append(head, tree)...)
	}
	if r.peek() != '?' {
		tree := closed(kwRegister)
		r.registers++
		return tree
	}
	r.pos++
	flags := r.flags()
	rest := string(r.text[r.pos:min(r.pos+2, len(r.text))])
	switch {
	case rest == "":
		r.fail(start, "the pattern ends behind (?")
	case rest[0] == ')':
		r.pos++
		if len(flags) == 0 {
			return kwVoid
		}
		return r.list(append([]lisp.Value{kwFlags}, flags...)...)
	case rest[0] == ':':
		r.pos++
		return closed(append([]lisp.Value{kwGroup}, flags...)...)
	case len(flags) > 0:
		r.fail(start, "%s is no kind of group", string(r.text[start:min(r.pos+1, len(r.text))]))
	}
	for _, k := range groupKinds {
		if !strings.HasPrefix(rest, k.text) {
			continue
		}
		if _, known := lookKinds[k.kind]; known {
			r.pos += len(k.text)
			return closed(k.kind)
		}
		patternError(r.call, lisp.Nil, lisp.Nil, "%s", missingFeature(k.kind)+": (?"+k.text)
	}
	if name, found := strings.CutPrefix(rest, "<"); found && name != "" && unicode.IsLetter([]rune(name)[0]) {
		if !r.names {
			r.fail(start, "%s begins a named register, which is read only where cl-ppcre:*allow-named-registers* is true", "(?"+rest)
		}
		r.pos++
		tree := closed(kwNamedRegister, r.registerName())
		r.registers++
		return tree
	}
	r.fail(start, "(?%s is no kind of group", rest)
	return nil
}

// flags reads the letters of modifiers. x changes how the text itself is read.
func (r *patternReader) flags() []lisp.Value {
	var flags []lisp.Value
	off := 0
	for {
		switch ch := r.peek(); ch {
		case '-':
			off = 1
		case 'x':
			r.extended = off == 0
		case 'i', 'm', 's':
			flags = lisp.Append(r.call, flags, lisp.Value(flagLetters[ch][off]))
		default:
			return flags
		}
		r.pos++
	}
}

// registerName reads NAME> and passes it.
func (r *patternReader) registerName() lisp.Value {
	length := slices.Index(r.text[r.pos:], '>')
	if length < 0 {
		r.fail(r.pos-1, "the name of the register is not closed by >")
	}
	name := r.text[r.pos : r.pos+length]
	for _, ch := range name {
		if !unicode.IsLetter(ch) && !unicode.IsDigit(ch) && ch != '-' {
			r.fail(r.pos, "the name of a register has letters, digits and - only, not %c", ch)
		}
	}
	r.pos += length + 1
	return r.call.CopyRunes(name)
}

// escape reads what is behind a backslash outside of a class.
func (r *patternReader) escape() lisp.Value {
	ch := r.peek()
	if symbol := classEscapes[ch]; symbol != nil {
		r.pos++
		return symbol
	}
	if symbol := anchorEscapes[ch]; symbol != nil {
		r.pos++
		return symbol
	}
	switch {
	case ch == 'k' && r.names && r.pos+1 < len(r.text) && r.text[r.pos+1] == '<':
		r.pos += 2
		return r.list(kwBackReference, r.registerName())
	case ch == 'p' || ch == 'P':
		return r.property()
	case ch >= '1' && ch <= '9':
		mark := r.pos
		n, _ := r.number(10, -1)
		if number := int(n.(int64)); number < 10 || number <= r.registers {
			return r.list(kwBackReference, n)
		}
		r.pos = mark
		return r.octal()
	}
	return r.character()
}

// property reads p{Name} or P{Name}.
func (r *patternReader) property() lisp.Value {
	start, kind := r.pos-1, kwProperty
	if r.take() == 'P' {
		kind = kwInvertedProperty
	}
	length := slices.Index(r.text[r.pos:], '}')
	if r.peek() != '{' || length < 0 {
		r.fail(start, `\p wants the name of a property in braces, as \p{L}`)
	}
	name := r.call.CopyRunes(r.text[r.pos+1 : r.pos+length])
	r.pos += length + 1
	return r.list(kind, name)
}

// octal reads up to three digits; as in Perl eight bits of them count.
func (r *patternReader) octal() lisp.Value {
	n, _ := r.number(8, 3)
	return lisp.Character(n.(int64) & 0xff)
}

// character reads an escape that means one character.
func (r *patternReader) character() lisp.Value {
	switch ch := r.take(); {
	case ch == end:
		return lisp.Character('\\') // a backslash that ends a pattern is itself
	case ch == 'E' && r.quoting:
		return kwVoid
	case ch == 'c':
		control := r.take()
		if control == end {
			r.fail(r.pos-1, `a character is missing behind \c`)
		}
		return lisp.Character(lisp.Upper(control) ^ 0x40)
	case ch == 'x':
		n, _ := r.number(16, 2)
		return lisp.Character(n.(int64))
	case ch >= '0' && ch <= '9':
		r.pos--
		return r.octal()
	default:
		if i := strings.IndexRune("tnrfbae", ch); i >= 0 {
			return lisp.Character("\t\n\r\f\b\a\x1b"[i])
		}
		return lisp.Character(ch)
	}
}
