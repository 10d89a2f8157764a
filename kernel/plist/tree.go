package plist

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/chewxy/sexp"
)

// NewTreeReader returns a Data reader that builds trees. Only the positions of its errors have
// lines and columns.
func NewTreeReader(src string, limits Limits) *Reader[sexp.Sexp] {
	r := NewReader[sexp.Sexp](src, &treeMaker{}, Data, limits)
	r.locate = false
	return r
}

// Read reads the one form in src in Data mode with the default limits. An empty src, or text other
// than white space and comments after the form, is an error.
func Read(src string) (sexp.Sexp, error) {
	r := NewTreeReader(src, Limits{})
	x, err := r.Next()
	if errors.Is(err, io.EOF) {
		return nil, r.failAt(Position{Line: 1, Column: 1}, UnclosedList, "there is no form here")
	}
	if err != nil {
		return nil, err
	}
	offset := r.Offset()
	if _, err := r.Next(); errors.Is(err, io.EOF) {
		return x, nil
	}
	if err := r.blanksFrom(offset); err != nil {
		return nil, err
	}
	return nil, r.fail(r.pos, UnexpectedClose, "something follows the end of the form; remove it")
}

// blanksFrom moves to the end of the white space at offset.
func (r *Reader[V]) blanksFrom(offset int) error {
	r.pos, r.end = offset, len(r.src)
	return r.blanks()
}

// treeMaker builds trees. Names that repeat within one source share their atom, and short lists
// share their arrays. Most of the reader's speed comes from this.
type treeMaker struct {
	names []spelling
	slab  []sexp.Sexp
	next  int // the size of the next slab
}

// spelling is a name as written, with its atom.
type spelling struct {
	text string
	atom sexp.Sexp
}

// spellings is how many names are remembered. It is a power of two.
const spellings = 32

func (m *treeMaker) Token(_ Position, text string, _ bool) (sexp.Sexp, error) {
	if c := text[0]; c <= '9' && c != '*' && c != '/' {
		return atom(text) // probably a number, and numbers seldom repeat
	}
	if m.names == nil {
		m.names = make([]spelling, spellings)
	}
	n := len(text)
	slot := &m.names[(n*31^int(text[n-1])*7^int(text[n/2])*3^int(text[min(1, n-1)]))%spellings]
	if slot.text == text {
		return slot.atom, nil
	}
	x, err := atom(text)
	if err == nil {
		*slot = spelling{text, x}
	}
	return x, err
}

func (m *treeMaker) String(_ Position, s string) (sexp.Sexp, error) { return String(s), nil }

func (m *treeMaker) List(_ Position, items []sexp.Sexp) (sexp.Sexp, error) {
	return sexp.List(m.copy(items)), nil
}

func (m *treeMaker) copy(items []sexp.Sexp) []sexp.Sexp {
	n := len(items)
	if n == 0 {
		return nil
	}
	if n > cap(m.slab)-len(m.slab) {
		if n > 256 {
			return append([]sexp.Sexp(nil), items...)
		}
		m.next = min(max(2*m.next, 16), 1024)
		m.slab = make([]sexp.Sexp, 0, max(n, m.next))
	}
	start := len(m.slab)
	m.slab = append(m.slab, items...)
	return m.slab[start:len(m.slab):len(m.slab)]
}

func (m *treeMaker) Dotted(_ Position, items []sexp.Sexp, tail sexp.Sexp) (sexp.Sexp, error) {
	if list, ok := tail.(sexp.List); ok {
		return sexp.List(append(append(make([]sexp.Sexp, 0, len(items)+len(list)), items...), list...)), nil
	}
	for i := len(items) - 1; i >= 0; i-- {
		tail = &Pair{items[i], tail}
	}
	return tail, nil
}

func (m *treeMaker) Prefixed(_ Position, _ Prefix, x sexp.Sexp) (sexp.Sexp, error) {
	return sexp.List{sexp.Symbol("quote"), x}, nil
}

// Data mode never calls the other methods, which are for Lisp.

func (m *treeMaker) Vector(Position, []sexp.Sexp) (sexp.Sexp, error) { return nil, errNotData }
func (m *treeMaker) Uninterned(Position, string, bool) (sexp.Sexp, error) {
	return nil, errNotData
}
func (m *treeMaker) Radix(Position, int, string) (sexp.Sexp, error) { return nil, errNotData }
func (m *treeMaker) Char(Position, string) (sexp.Sexp, error)       { return nil, errNotData }
func (m *treeMaker) Feature(string) bool                            { return false }

var errNotData = errors.New("this syntax is Lisp's, not data's")

// atom returns the value of a Data token.
func atom(text string) (sexp.Sexp, error) {
	if text[0] == ':' {
		return Keyword(fold(validText(text[1:]))), nil
	}
	switch dataNumber(text) {
	case Integer:
		return integer(text), nil
	case Decimal:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(f, 0) {
			return nil, fmt.Errorf("the number %.40s is out of range; write a smaller one", text)
		}
		return Float(f), nil
	}
	name := fold(text)
	if name == "nil" {
		return sexp.List(nil), nil
	}
	return sexp.Symbol(name), nil
}

// dataNumber returns the kind of number as Emacs reads it: 1/2 and 1d0 are not numbers.
func dataNumber(text string) NumberKind {
	c := text[0]
	if c > '9' || c == '/' {
		return NotNumber
	}
	kind := NumberSyntax(text)
	if kind == Ratio || kind == Decimal && strings.ContainsAny(text, "sSfFdDlL") {
		return NotNumber
	}
	return kind
}

// integer returns the value of an Integer token.
func integer(text string) sexp.Sexp {
	text = strings.TrimSuffix(text, ".")
	if len(text) < 20 {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(i)
		}
	}
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	text = sign + strings.TrimLeft(strings.TrimLeft(text, "+-"), "0")
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Int(i)
	}
	if text == sign {
		return Int(0)
	}
	return BigInt(text)
}
