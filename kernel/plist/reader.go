package plist

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Mode is the syntax that a [Reader] accepts.
type Mode int

const (
	// Data is for all text from outside: lists, strings, tokens, 'x and ; comments. It has no #
	// syntax, and [ ] { } | \ , ` # are errors outside of strings.
	Data Mode = iota
	// Lisp is the Common Lisp syntax of notes. #. is always an error.
	Lisp
)

// Prefix is the syntax directly before a form.
type Prefix int

const (
	PrefixQuote     Prefix = iota // 'x
	PrefixFunction                // #'x
	PrefixBackquote               // `x
	PrefixComma                   // ,x
	PrefixCommaAt                 // ,@x and ,.x
	PrefixPathname                // #p"x"
)

// Limits limit one top-level form. A zero field means its default.
type Limits struct {
	Depth int // nested lists and quotes: 64
	Bytes int // of source: 8 MiB
	Atoms int // tokens, strings and empty lists: 100,000
}

func (l Limits) orDefault() Limits {
	if l.Depth == 0 {
		l.Depth = 64
	}
	if l.Bytes == 0 {
		l.Bytes = 8 << 20
	}
	if l.Atoms == 0 {
		l.Atoms = 100_000
	}
	return l
}

// Maker builds the values of a [Reader]. An error ends the reading. If it is not a *[SyntaxError],
// it becomes the Err of one at the place of the form. In Data mode only List, Dotted, Token,
// String, and Prefixed with [PrefixQuote] are called.
type Maker[V any] interface {
	// List builds (items…). The reader reuses items, so the Maker must copy it.
	List(at Position, items []V) (V, error)
	// Dotted builds (items… . tail) with at least one item.
	Dotted(at Position, items []V, tail V) (V, error)
	// Vector builds #(items…).
	Vector(at Position, items []V) (V, error)
	// Token builds a number or symbol from its unchanged spelling. escaped is true if text contains
	// | or \ as written; such a token is never a number. [SymbolParts] splits it.
	Token(at Position, text string, escaped bool) (V, error)
	// Uninterned builds #:text, spelled as for Token.
	Uninterned(at Position, text string, escaped bool) (V, error)
	// Radix builds #b #o #x #NNr. text holds the digits of an integer or a ratio.
	Radix(at Position, radix int, text string) (V, error)
	// String builds a string with this content.
	String(at Position, s string) (V, error)
	// Char builds #\name: one character, or a name such as Space.
	Char(at Position, name string) (V, error)
	// Prefixed builds 'v, #'v and so on.
	Prefixed(at Position, kind Prefix, v V) (V, error)
	// Feature reports whether #+name holds. name is in lower case, without a colon.
	Feature(name string) bool
}

// Dispatcher is a [Maker] that also builds the rest of the # syntax, which is an error for other
// Makers.
type Dispatcher[V any] interface {
	// Dispatch builds #C, #A, #S, #( with a length, or #= before v. number is the number after the
	// #, or -1, and char is in upper case.
	Dispatch(at Position, number int, char byte, v V) (V, error)
	// Label announces the form of #number= before any part of it is built.
	Label(at Position, number int) error
	// Reference builds #number#.
	Reference(at Position, number int) (V, error)
	// Bits builds #*digits.
	Bits(at Position, number int, digits string) (V, error)
}

// Reader reads top-level forms one by one. It belongs to one goroutine.
type Reader[V any] struct {
	src    string
	maker  Maker[V]
	mode   Mode
	limits Limits

	pos        int
	end        int // the last offset that the current form may reach
	atoms      int
	suppressed int // depth of #+ forms that are skipped
	mark       Position
	locate     bool // the maker needs positions
	ascii      bool // src is ASCII, so columns need no counting
	valid      bool // src is UTF-8
	started    bool
	err        error
	values     []V
	frames     []frame
}

type frameKind uint8

const (
	listFrame frameKind = iota
	vectorFrame
	prefixFrame
	skipFrame     // the form that a #+ excludes
	dispatchFrame // the form after #C and the like
)

type frame struct {
	char   byte // of a dispatchFrame
	number int
	kind   frameKind
	prefix Prefix
	start  int // of the items in values
	dot    int // 1 + where the tail is in values, 0 without a dot
	commas int // how many nested commas a form in it may have
	at     Position
}

// NewReader returns a reader of src. A leading byte order mark is white space. Each byte that is
// not UTF-8 reads as U+FFFD.
func NewReader[V any](src string, maker Maker[V], mode Mode, limits Limits) *Reader[V] {
	r := &Reader[V]{src: src, maker: maker, mode: mode, limits: limits.orDefault(), locate: true}
	r.mark = Position{Line: 1, Column: 1}
	r.ascii = isASCII(src)
	r.valid = r.ascii || utf8.ValidString(src)
	r.values, r.frames = make([]V, 0, 32), make([]frame, 0, 8)
	if strings.HasPrefix(src, byteOrderMark) {
		r.pos = len(byteOrderMark)
	}
	return r
}

const byteOrderMark = "\uFEFF"

// Offset returns how far the source has been read, in bytes: directly after the last form, or at an
// error.
func (r *Reader[V]) Offset() int { return r.pos }

// Next returns the next top-level form, io.EOF if only white space and comments are left, or a
// *[SyntaxError]. After an error it returns the same error.
func (r *Reader[V]) Next() (V, error) {
	var zero V
	if r.err != nil {
		return zero, r.err
	}
	r.values, r.frames = r.values[:0], r.frames[:0]
	r.atoms, r.started, r.end = 0, false, len(r.src)
	v, err := r.form()
	if err != nil {
		r.err = err
		return zero, err
	}
	return v, nil
}

// form reads one top-level form without recursion, so that nesting needs no stack.
func (r *Reader[V]) form() (V, error) {
	var zero V
	for {
		if err := r.blanks(); err != nil {
			return zero, err
		}
		if r.pos >= r.end {
			return zero, r.endError()
		}
		if !r.started {
			r.started = true
			if r.end-r.pos > r.limits.Bytes {
				r.end = r.pos + r.limits.Bytes
			}
		}
		v, made, err := r.step(r.src[r.pos])
		if err != nil {
			return zero, err
		}
		if !made {
			continue
		}
		done, err := r.finish(&v)
		if err != nil {
			return zero, err
		}
		if done {
			return v, nil
		}
	}
}

// step reads one token, or opens or closes a list. made is true if v is complete.
func (r *Reader[V]) step(c byte) (v V, made bool, err error) {
	switch c {
	case '(':
		return v, false, r.open(frame{kind: listFrame}, 1)
	case ')':
		v, err = r.close()
		return v, true, err
	case '"':
		v, err = r.str()
		return v, true, err
	case '\'':
		return v, false, r.open(frame{kind: prefixFrame, prefix: PrefixQuote}, 1)
	}
	if r.mode == Lisp {
		return r.lispStep(c)
	}
	v, made, err = r.dataToken()
	return v, made, err
}

// open enters a list or the form after a prefix.
func (r *Reader[V]) open(f frame, width int) error {
	if len(r.frames) >= r.limits.Depth {
		return r.fail(r.pos, LimitExceeded, "nested deeper than %d levels; make it flatter", r.limits.Depth)
	}
	if f.kind == prefixFrame && f.prefix == PrefixQuote {
		// 'x prints as (quote x), which must then be within the limit.
		if err := r.count(r.pos); err != nil {
			return err
		}
	}
	var around frame
	if n := len(r.frames); n > 0 {
		around = r.frames[n-1]
	}
	f.commas = around.commas
	if f.kind == prefixFrame {
		switch f.prefix {
		case PrefixBackquote:
			f.commas++
		case PrefixCommaAt:
			if around.kind == prefixFrame && around.prefix == PrefixBackquote {
				return r.fail(r.pos, BadToken, "there is no list around this ,@ to splice into; write `(,@…)")
			}
			fallthrough
		case PrefixComma:
			if f.commas--; f.commas < 0 && r.suppressed == 0 {
				return r.fail(r.pos, BadToken, "this comma is not inside a backquote")
			}
		}
	}
	f.start, f.at = len(r.values), r.place(r.pos)
	r.frames = append(r.frames, f)
	r.pos += width
	return nil
}

// close leaves a list or vector and builds its value.
func (r *Reader[V]) close() (v V, err error) {
	if len(r.frames) == 0 {
		return v, r.fail(r.pos, UnexpectedClose, "this ) closes nothing; remove it or add its ( before")
	}
	f := r.frames[len(r.frames)-1]
	if f.kind != listFrame && f.kind != vectorFrame {
		return v, r.fail(r.pos, UnexpectedClose, "a form is missing before this )")
	}
	items := r.values[f.start:]
	tail := -1
	if f.dot > 0 {
		tail = f.dot - 1 - f.start
		if len(items) != tail+1 {
			return v, r.fail(r.pos, BadToken, "exactly one form must stand between the dot and this )")
		}
	}
	if len(items) == 0 {
		if err := r.count(r.pos); err != nil {
			return v, err
		}
	}
	r.pos++
	r.frames = r.frames[:len(r.frames)-1]
	if r.suppressed == 0 {
		switch {
		case f.kind == vectorFrame:
			v, err = r.maker.Vector(f.at, items)
		case tail >= 0:
			v, err = r.maker.Dotted(f.at, items[:tail], items[tail])
		default:
			v, err = r.maker.List(f.at, items)
		}
	}
	r.values = r.values[:f.start]
	return v, r.wrapError(f.at, err)
}

// finish adds a complete value to its list. done is true if the value is the whole form.
func (r *Reader[V]) finish(v *V) (done bool, err error) {
	for len(r.frames) > 0 {
		f := r.frames[len(r.frames)-1]
		switch f.kind {
		case prefixFrame:
			r.frames = r.frames[:len(r.frames)-1]
			if r.suppressed == 0 {
				*v, err = r.maker.Prefixed(f.at, f.prefix, *v)
				if err = r.wrapError(f.at, err); err != nil {
					return false, err
				}
			}
		case dispatchFrame:
			r.frames = r.frames[:len(r.frames)-1]
			if dispatcher, ok := r.maker.(Dispatcher[V]); ok && r.suppressed == 0 {
				*v, err = dispatcher.Dispatch(f.at, f.number, f.char, *v)
				if err = r.wrapError(f.at, err); err != nil {
					return false, err
				}
			}
		case skipFrame:
			r.frames = r.frames[:len(r.frames)-1]
			r.suppressed--
			return false, nil
		default:
			r.values = append(r.values, *v)
			return false, nil
		}
	}
	return true, nil
}

// blanks skips white space and comments.
func (r *Reader[V]) blanks() error {
	for r.pos < r.end {
		switch c := r.src[r.pos]; {
		case classes[c]&blank != 0:
			r.pos++
		case c == ';':
			n := strings.IndexByte(r.src[r.pos:r.end], '\n')
			if n < 0 {
				r.pos = r.end
				return nil
			}
			r.pos += n + 1
		case c == '#' && r.mode == Lisp && r.pos+1 < r.end && r.src[r.pos+1] == '|':
			if err := r.blockComment(); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			n := blankRune(r.src[r.pos:r.end])
			if n == 0 {
				return nil
			}
			r.pos += n
		default:
			return nil
		}
	}
	return nil
}

// str reads a string. \n \t \r are newline, tab and return; any other \x is x.
func (r *Reader[V]) str() (v V, err error) {
	start := r.pos
	if err := r.count(start); err != nil {
		return v, err
	}
	rest := r.src[start+1 : r.end]
	n := strings.IndexByte(rest, '"')
	if n >= 0 && strings.IndexByte(rest[:n], '\\') < 0 {
		r.pos += n + 2
		return r.string(start, rest[:n])
	}
	var b strings.Builder
	for i := 0; i < len(rest); {
		j := strings.IndexAny(rest[i:], `"\`)
		if j < 0 {
			break
		}
		b.WriteString(rest[i : i+j])
		i += j
		if rest[i] == '"' {
			r.pos = start + 1 + i + 1
			return r.string(start, b.String())
		}
		if i+1 < len(rest) {
			b.WriteByte(unescape(rest[i+1]))
		}
		i += 2
	}
	r.pos = r.end
	if err := r.cut(); err != nil {
		return v, err
	}
	return v, r.fail(start, UnclosedString, "this string is not closed; add its closing quote")
}

func (r *Reader[V]) string(start int, s string) (v V, err error) {
	if r.suppressed > 0 {
		return v, nil
	}
	if !r.valid {
		s = validText(s)
	}
	at := r.place(start)
	v, err = r.maker.String(at, s)
	return v, r.wrapError(at, err)
}

// token passes the spelling of a token to the maker, or processes a single dot.
func (r *Reader[V]) token(start int, text string, escaped bool) (v V, made bool, err error) {
	if text == "." && (r.suppressed == 0 || r.dotFits()) {
		return v, false, r.dot(start)
	}
	if err := r.count(start); err != nil {
		return v, false, err
	}
	if r.suppressed > 0 {
		return v, true, nil
	}
	at := r.place(start)
	v, err = r.maker.Token(at, text, escaped)
	return v, true, r.wrapError(at, err)
}

// dotFits reports whether a dot can stand here.
func (r *Reader[V]) dotFits() bool {
	if len(r.frames) == 0 {
		return false
	}
	f := &r.frames[len(r.frames)-1]
	return f.kind == listFrame && f.dot == 0 && len(r.values) > f.start
}

func (r *Reader[V]) dot(start int) error {
	if r.dotFits() {
		r.frames[len(r.frames)-1].dot = 1 + len(r.values)
		return nil
	}
	return r.fail(start, BadToken, "a dot stands only before the last element of a list")
}

// count subtracts one atom from the limit of the form.
func (r *Reader[V]) count(at int) error {
	if r.atoms >= r.limits.Atoms {
		return r.fail(at, LimitExceeded, "more than %d atoms in one form; split it", r.limits.Atoms)
	}
	r.atoms++
	return nil
}

// endError returns the error for the end of the source.
func (r *Reader[V]) endError() error {
	if err := r.cut(); err != nil {
		return err
	}
	if len(r.frames) == 0 {
		return io.EOF // also after a #+ without a form to exclude
	}
	outer := r.frames[0]
	missing := 0
	for _, f := range r.frames {
		if f.kind == listFrame || f.kind == vectorFrame {
			missing++
		}
	}
	if missing == 0 {
		return r.failAt(outer.at, UnclosedList, "a form is missing after this")
	}
	return r.failAt(outer.at, UnclosedList, "this list is not closed: %d ) missing at the end", missing)
}

// cut returns the error for a form that exceeds the limit of bytes.
func (r *Reader[V]) cut() error {
	if r.end == len(r.src) {
		return nil
	}
	return r.fail(r.pos, LimitExceeded, "a form longer than %d bytes; split it", r.limits.Bytes)
}

// wrapError wraps an error of the maker.
func (r *Reader[V]) wrapError(at Position, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*SyntaxError); ok {
		return err
	}
	return &SyntaxError{Position: r.exact(at), Kind: BadToken, Message: err.Error(), Err: err}
}

func (r *Reader[V]) fail(offset int, kind ErrorKind, format string, args ...any) error {
	return r.failAt(Position{Offset: offset}, kind, format, args...)
}

func (r *Reader[V]) failAt(at Position, kind ErrorKind, format string, args ...any) error {
	return &SyntaxError{Position: r.exact(at), Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// place returns the position of offset, which must not be before an earlier one. If the maker needs
// no positions, only the offset is set.
func (r *Reader[V]) place(offset int) Position {
	if !r.locate {
		return Position{Offset: offset}
	}
	r.mark = r.mark.advance(r.src, offset, r.ascii)
	return r.mark
}

// exact completes a position for an error.
func (r *Reader[V]) exact(at Position) Position {
	if at.Line > 0 {
		return at
	}
	return Position{Line: 1, Column: 1}.advance(r.src, at.Offset, r.ascii)
}

// advance returns the position of offset in src, which is not before p.
func (p Position) advance(src string, offset int, ascii bool) Position {
	span := src[p.Offset:offset]
	p.Offset = offset
	if lines := strings.Count(span, "\n"); lines > 0 {
		p.Line += lines
		p.Column = 1
		span = span[strings.LastIndexByte(span, '\n')+1:]
	}
	if ascii {
		p.Column += len(span)
		return p
	}
	for _, c := range []byte(span) {
		if c&0xC0 != 0x80 {
			p.Column++
		}
	}
	return p
}
