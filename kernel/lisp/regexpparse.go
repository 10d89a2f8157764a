package lisp

import (
	"slices"
	"strings"
	"unicode"
)

// The words of parse trees, which are cl-ppcre's.
var (
	kwVoid               = standardKeyword("VOID")
	kwEverything         = standardKeyword("EVERYTHING")
	kwSequence           = standardKeyword("SEQUENCE")
	kwGroup              = standardKeyword("GROUP")
	kwAlternation        = standardKeyword("ALTERNATION")
	kwRegister           = standardKeyword("REGISTER")
	kwNamedRegister      = standardKeyword("NAMED-REGISTER")
	kwBackReference      = standardKeyword("BACK-REFERENCE")
	kwGreedy             = standardKeyword("GREEDY-REPETITION")
	kwNonGreedy          = standardKeyword("NON-GREEDY-REPETITION")
	kwCharClass          = standardKeyword("CHAR-CLASS")
	kwInvertedCharClass  = standardKeyword("INVERTED-CHAR-CLASS")
	kwRange              = standardKeyword("RANGE")
	kwProperty           = standardKeyword("PROPERTY")
	kwInvertedProperty   = standardKeyword("INVERTED-PROPERTY")
	kwFlags              = standardKeyword("FLAGS")
	kwRegex              = standardKeyword("REGEX")
	kwFilter             = standardKeyword("FILTER")
	kwBranch             = standardKeyword("BRANCH")
	kwStandalone         = standardKeyword("STANDALONE")
	kwLookAhead          = standardKeyword("POSITIVE-LOOKAHEAD")
	kwNegativeLookAhead  = standardKeyword("NEGATIVE-LOOKAHEAD")
	kwLookBehind         = standardKeyword("POSITIVE-LOOKBEHIND")
	kwNegativeLookBehind = standardKeyword("NEGATIVE-LOOKBEHIND")
	kwStartAnchor        = standardKeyword("START-ANCHOR")
	kwEndAnchor          = standardKeyword("END-ANCHOR")
	kwTextStart          = standardKeyword("MODELESS-START-ANCHOR")
	kwTextEnd            = standardKeyword("MODELESS-END-ANCHOR")
	kwVeryEnd            = standardKeyword("MODELESS-END-ANCHOR-NO-NEWLINE")
	kwWordBoundary       = standardKeyword("WORD-BOUNDARY")
	kwNoWordBoundary     = standardKeyword("NON-WORD-BOUNDARY")
	kwDigitClass         = standardKeyword("DIGIT-CLASS")
	kwNonDigitClass      = standardKeyword("NON-DIGIT-CLASS")
	kwWordClass          = standardKeyword("WORD-CHAR-CLASS")
	kwNonWordClass       = standardKeyword("NON-WORD-CHAR-CLASS")
	kwSpaceClass         = standardKeyword("WHITESPACE-CHAR-CLASS")
	kwNonSpaceClass      = standardKeyword("NON-WHITESPACE-CHAR-CLASS")
	kwFoldCase           = standardKeyword("CASE-INSENSITIVE-P")
	kwKeepCase           = standardKeyword("CASE-SENSITIVE-P")
	kwManyLines          = standardKeyword("MULTI-LINE-MODE-P")
	kwNotManyLines       = standardKeyword("NOT-MULTI-LINE-MODE-P")
	kwOneLine            = standardKeyword("SINGLE-LINE-MODE-P")
	kwNotOneLine         = standardKeyword("NOT-SINGLE-LINE-MODE-P")
)

// classEscapes are the escapes that mean a class of characters.
var classEscapes = map[rune]*Symbol{
	'd': kwDigitClass, 'D': kwNonDigitClass, 'w': kwWordClass, 'W': kwNonWordClass, 's': kwSpaceClass, 'S': kwNonSpaceClass,
}

var anchorEscapes = map[rune]*Symbol{
	'A': kwTextStart, 'Z': kwTextEnd, 'z': kwVeryEnd, 'b': kwWordBoundary, 'B': kwNoWordBoundary,
}

var flagLetters = map[rune][2]*Symbol{
	'i': {kwFoldCase, kwKeepCase}, 'm': {kwManyLines, kwNotManyLines}, 's': {kwOneLine, kwNotOneLine},
}

// patternReader turns the text of a pattern into a parse tree.
type patternReader struct {
	call      *Call
	text      []rune
	pos       int
	registers int // closed so far
	// extended skips blanks and comments; quoting knows \Q and \E, names (?<name>…).
	extended, quoting, names bool
}

// end is what peek and take give behind the text.
const end rune = -1

func (r *patternReader) fail(pos int, format string, args ...any) {
	r.call.patternError(Value(runesString(r.text)), count(pos), format, args...)
}

func (r *patternReader) parse() Value {
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
		r.call.step()
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
func (r *patternReader) alternatives() Value {
	r.call.descend(8)
	defer r.call.ascend(8)
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
	if cell, ok := rest.(*Cons); ok && cell.Car == kwAlternation {
		cell.Cdr = r.call.cons(first, cell.Cdr)
		return cell
	}
	return r.list(kwAlternation, first, rest)
}

func (r *patternReader) list(items ...Value) Value {
	r.call.charge(len(items) * consBytes)
	return NewList(items...)
}

// sequence reads what follows one another; characters side by side become a string.
func (r *patternReader) sequence() Value {
	var parts []Value
	joined := false // the last part is a string made here
	for r.skip(); r.pos < len(r.text) && r.peek() != ')' && r.peek() != '|'; r.skip() {
		r.call.charge(consBytes)
		part := r.quantified()
		ch, isCharacter := part.(Character)
		if n := len(parts); isCharacter && n > 0 {
			if before, ok := parts[n-1].(Character); ok {
				parts[n-1], joined = runesString([]rune{rune(before), rune(ch)}), true
				continue
			}
			if joined {
				text := parts[n-1].(*String)
				text.chars = append(text.chars, rune(ch))
				continue
			}
		}
		parts, joined = append(parts, part), false
	}
	switch len(parts) {
	case 0:
		return kwVoid
	case 1:
		return parts[0]
	}
	return r.list(append([]Value{kwSequence}, parts...)...)
}

// quantified reads one part and how often it is to be there.
func (r *patternReader) quantified() Value {
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
func (r *patternReader) quantifier() (least, most Value, ok bool) {
	mark := r.pos
	r.skip()
	switch r.take() {
	case '*':
		return Integer(0), Nil, true
	case '+':
		return Integer(1), Nil, true
	case '?':
		return Integer(0), Integer(1), true
	case '{':
		if least, ok = r.number(10, -1); !ok {
			break
		}
		most = least
		if r.peek() == ',' {
			r.pos++
			if most, ok = r.number(10, -1); !ok {
				most = Nil
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
func (r *patternReader) number(radix, width int) (n Value, ok bool) {
	value := 0
	for ; width != 0 && r.pos < len(r.text) && r.text[r.pos] < 128; width-- {
		weight := digitWeight(r.text[r.pos])
		if weight < 0 || weight >= radix {
			break
		}
		value, ok = min(value*radix+weight, 1<<40), true
		r.pos++
	}
	return count(value), ok
}

// part reads what a quantifier applies to.
func (r *patternReader) part() Value {
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
		return Character(ch)
	default:
		return Character(ch)
	}
	return nil
}

// groupKinds are the groups that begin with (? and this text.
var groupKinds = []struct {
	text string
	kind *Symbol
}{
	{"<=", kwLookBehind}, {"<!", kwNegativeLookBehind}, {"=", kwLookAhead}, {"!", kwNegativeLookAhead}, {">", kwStandalone}, {"(", kwBranch},
}

// group reads what is behind an opening parenthesis at start.
func (r *patternReader) group(start int) Value {
	extended := r.extended
	closed := func(head ...Value) Value {
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
		return r.list(append([]Value{kwFlags}, flags...)...)
	case rest[0] == ':':
		r.pos++
		return closed(append([]Value{kwGroup}, flags...)...)
	case len(flags) > 0:
		r.fail(start, "%s is no kind of group", string(r.text[start:min(r.pos+1, len(r.text))]))
	}
	for _, k := range groupKinds {
		if strings.HasPrefix(rest, k.text) {
			r.call.patternError(Nil, Nil, "%s", missingFeature(k.kind)+": (?"+k.text)
		}
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
func (r *patternReader) flags() []Value {
	var flags []Value
	off := 0
	for {
		switch ch := r.peek(); ch {
		case '-':
			off = 1
		case 'x':
			r.extended = off == 0
		case 'i', 'm', 's':
			r.call.charge(valueBytes)
			flags = append(flags, flagLetters[ch][off])
		default:
			return flags
		}
		r.pos++
	}
}

// registerName reads NAME> and passes it.
func (r *patternReader) registerName() Value {
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
	return r.call.newString(slices.Clone(name))
}

// escape reads what is behind a backslash outside of a class.
func (r *patternReader) escape() Value {
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
func (r *patternReader) property() Value {
	start, kind := r.pos-1, kwProperty
	if r.take() == 'P' {
		kind = kwInvertedProperty
	}
	length := slices.Index(r.text[r.pos:], '}')
	if r.peek() != '{' || length < 0 {
		r.fail(start, `\p wants the name of a property in braces, as \p{L}`)
	}
	name := r.call.newString(slices.Clone(r.text[r.pos+1 : r.pos+length]))
	r.pos += length + 1
	return r.list(kind, name)
}

// octal reads up to three digits; as in Perl eight bits of them count.
func (r *patternReader) octal() Value {
	n, _ := r.number(8, 3)
	return Character(n.(int64) & 0xff)
}

// character reads an escape that means one character.
func (r *patternReader) character() Value {
	switch ch := r.take(); {
	case ch == end:
		return Character('\\') // a backslash that ends a pattern is itself
	case ch == 'E' && r.quoting:
		return kwVoid
	case ch == 'c':
		control := r.take()
		if control == end {
			r.fail(r.pos-1, `a character is missing behind \c`)
		}
		return Character(upper(control) ^ 0x40)
	case ch == 'x':
		n, _ := r.number(16, 2)
		return Character(n.(int64))
	case ch >= '0' && ch <= '9':
		r.pos--
		return r.octal()
	default:
		if i := strings.IndexRune("tnrfbae", ch); i >= 0 {
			return Character("\t\n\r\f\b\a\x1b"[i])
		}
		return Character(ch)
	}
}
