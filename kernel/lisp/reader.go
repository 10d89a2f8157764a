package lisp

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"org-agent/kernel/plist"
)

// reader reads forms of one source into conses and symbols of the note. It is the
// Maker of plist's reader in Lisp mode.
type reader struct {
	call   *Call
	source *plist.Reader[Value]
	file   string
	// text is the source, for hints.
	text      string
	firstLine int
	// keep says that symbols stay in their package, and that conses share storage: those
	// of source do, as all of it is kept anyhow; those of data do not.
	keep bool
	// pkg is the package that was current when the form began. spellings are tokens and
	// the symbols they mean there, each at the place that its letters say; changes is the
	// state of the note's packages then.
	pkg       *Package
	changes   int
	spellings []spelling
	// cells is storage for the conses to come, of which together are made at once.
	cells    []Cons
	together int
	// base and double are *read-base* and *read-default-float-format* of the form.
	base   int
	double bool
	// table is *readtable* of the form, letters its case.
	table   *readtable
	letters *Symbol
	// labels are the objects that #n= named in the form; forward says that one was
	// referred to before it was whole.
	labels  map[int]*placeholder
	forward bool
}

// spelling is a token as it is written and the symbol it means.
type spelling struct {
	text   string
	symbol *Symbol
}

var symReadBase = CL("*READ-BASE*")

// Limits of one form of source.
const (
	sourceDepth = 1000
	sourceAtoms = 1_000_000
	sourceBytes = 8 << 20
)

const (
	// readerBytes is what a reader takes, with that of package plist.
	readerBytes = 1700
	// shortToken is the length up to which a token takes nothing beside the symbol or number that it
	// is, and longTokenBytes what a longer one takes for each of its bytes.
	shortToken     = 32
	longTokenBytes = 6
)

func (c *Call) newReader(source, file string, firstLine int, keep bool) *reader {
	c.Charge(readerBytes)
	r := &reader{call: c, file: file, text: source, firstLine: max(firstLine, 1), keep: keep}
	size := 16
	for keep && size < 256 && size < len(source)/24 {
		size *= 2
	}
	r.spellings = MakeSlice[spelling](c, size)
	r.together = min(len(source)/16, 85) // 4 kB at most, and no more than a small source fills
	r.source = plist.NewReader[Value](source, r, plist.Lisp, plist.Limits{Depth: sourceDepth, Atoms: sourceAtoms, Bytes: sourceBytes})
	return r
}

// next reads one form; io.EOF at the end.
func (r *reader) next() (Value, error) {
	pkg, changes, table := r.call.CurrentPackage(), r.call.environment.packageChanges, r.call.readtable()
	if pkg != r.pkg || changes != r.changes || table.letters != r.letters {
		clear(r.spellings)
		r.pkg, r.changes, r.letters = pkg, changes, table.letters
	}
	r.table = table
	r.labels, r.forward = nil, false
	r.double = r.call.DoubleFloats()
	r.base = 10
	if v, ok := r.call.touched(symReadBase).(int64); ok && v >= 2 && v <= 36 {
		r.base = int(v)
	}
	if v := r.call.touched(symReadSuppress); v != nil && v != Nil {
		return Nil, r.source.Skip()
	}
	return r.source.Next()
}

// CurrentPackage is the value of *package*.
func (c *Call) CurrentPackage() *Package {
	if p, ok := c.special(c.global(symPackage)).(*Package); ok {
		return p
	}
	return c.environment.user
}

// readFailed ends the call with what the reader found wrong.
func (c *Call) readFailed(err error, r *reader) {
	c.resumeExit(err)
	e := &Error{Class: readerError, Message: err.Error(), File: r.file, Cause: err}
	var syntax *plist.SyntaxError
	if errors.As(err, &syntax) {
		e.Line, e.Column, e.Message = syntax.Line+r.firstLine-1, syntax.Column, syntax.Message
	}
	if syntax != nil && syntax.Kind == plist.UnclosedList {
		e.Hint = r.nextDefinition(syntax.Line)
	}
	var own *Error
	if errors.As(err, &own) {
		e.Class, e.Message, e.Hint = own.Class, own.Message, own.Hint
	}
	c.exit = exit{failed: e, orderly: true}
	panic(unwinding{})
}

// nextDefinition is a hint for a form that is not closed: the first line behind its
// beginning that looks like another one.
func (r *reader) nextDefinition(line int) string {
	for i, text := range strings.Split(r.text, "\n") {
		if i >= line && strings.HasPrefix(text, "(") {
			return fmt.Sprintf("another form seems to begin in line %d: the ) is missing before it", i+r.firstLine)
		}
	}
	return ""
}

// resumeExit lets an end of the call pass that happened while reading.
func (c *Call) resumeExit(err error) {
	var failed *Error
	if errors.As(err, &failed) && failed.Limit() {
		c.exit = exit{failed: failed}
		panic(unwinding{})
	}
}

// elementBytes is what a vector takes for each element, with the numbers that it may be set to.
const elementBytes = ValueBytes + numberBytes

func (r *reader) cons(at plist.Position, car, cdr Value) *Cons {
	return &Cons{Car: car, Cdr: cdr, line: int32(at.Line + r.firstLine - 1), column: int32(at.Column)}
}

func (r *reader) List(at plist.Position, items []Value) (Value, error) {
	return r.Dotted(at, items, Nil)
}

func (r *reader) Dotted(at plist.Position, items []Value, tail Value) (Value, error) {
	if err := r.charge(len(items) * (ConsBytes + 2*ValueBytes)); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return tail, nil
	}
	if !r.keep {
		tail = listStar(items, tail)
		first := tail.(*Cons)
		first.line, first.column = int32(at.Line+r.firstLine-1), int32(at.Column)
		return first, nil
	}
	cells := r.storage(len(items))
	for i := range cells {
		cells[i].Car = items[i]
		if i+1 < len(cells) {
			cells[i].Cdr = &cells[i+1]
		}
	}
	cells[len(cells)-1].Cdr = tail
	cells[0].line, cells[0].column = int32(at.Line+r.firstLine-1), int32(at.Column)
	return &cells[0], nil
}

// storage returns n conses that lie together.
func (r *reader) storage(n int) []Cons {
	if n > len(r.cells) {
		if n > r.together/4 {
			return make([]Cons, n)
		}
		r.cells = make([]Cons, r.together)
	}
	cells := r.cells[:n:n]
	r.cells = r.cells[n:]
	return cells
}

// charge accounts for what is read. It returns an error because nothing may panic
// through plist.
func (r *reader) charge(n int) error {
	c := r.call
	if int64(n) > c.bytes {
		if failed := c.grant(int64(n)); failed != nil {
			return c.describe(failed)
		}
	}
	c.bytes -= int64(n)
	return nil
}

func (r *reader) Vector(at plist.Position, items []Value) (Value, error) {
	if err := r.charge(len(items)*(elementBytes+2*ValueBytes) + ObjectBytes); err != nil {
		return nil, err
	}
	return NewVector(append([]Value(nil), items...)), nil
}

func (r *reader) String(_ plist.Position, s string) (Value, error) {
	if err := r.charge(len(s)*RuneBytes + ObjectBytes); err != nil {
		return nil, err
	}
	return NewString(s), nil
}

func (r *reader) Char(_ plist.Position, name string) (Value, error) {
	if ch, ok := characterNamed(name); ok {
		return ch, nil
	}
	return nil, &Error{Class: readerError, Message: fmt.Sprintf("there is no character named %s", name)}
}

func (r *reader) Prefixed(at plist.Position, kind plist.Prefix, v Value) (Value, error) {
	var operator *Symbol
	switch kind {
	case plist.PrefixQuote:
		operator = symQuote
	case plist.PrefixFunction:
		operator = symFunction
	case plist.PrefixBackquote:
		operator = symQuasiquote
	case plist.PrefixComma:
		operator = symUnquote
	case plist.PrefixCommaAt:
		operator = symUnquoteSplicing
	default:
		s, ok := v.(*String)
		if !ok {
			return nil, &Error{Class: readerError, Message: "#P wants a string"}
		}
		if err := r.charge(len(s.chars)*ObjectBytes + ObjectBytes); err != nil {
			return nil, err
		}
		return parsePathname(s.String()), nil
	}
	if err := r.charge(2 * ConsBytes); err != nil {
		return nil, err
	}
	return r.cons(at, operator, NewList(v)), nil
}

var symFeatures = CL("*FEATURES*")

// Feature looks for a keyword in *features*, whatever the case of its letters.
func (r *reader) Feature(name string) bool {
	features := r.call.touched(symFeatures)
	if features == nil {
		return name == "org-agent" || name == "common-lisp"
	}
	items, _ := Slice(features, 1000)
	return slices.ContainsFunc(items, func(v Value) bool {
		s, ok := v.(*Symbol)
		return ok && s.Keyword() && strings.EqualFold(s.name, name)
	})
}

func (r *reader) Uninterned(_ plist.Position, text string, escaped bool) (Value, error) {
	_, _, name := r.table.symbolParts(text, escaped)
	if err := r.charge(ObjectBytes + 2*len(name)); err != nil {
		return nil, err
	}
	return &Symbol{name: strings.Clone(name)}, nil
}

func (r *reader) Radix(_ plist.Position, radix int, text string) (Value, error) {
	numerator, denominator, ratio := strings.Cut(text, "/")
	n, ok := new(big.Int).SetString(numerator, radix)
	if !ok {
		return nil, &Error{Class: readerError, Message: fmt.Sprintf("%s is not a number in base %d", text, radix)}
	}
	if !ratio {
		return normal(n), nil
	}
	d, ok := new(big.Int).SetString(denominator, radix)
	if !ok || d.Sign() == 0 {
		return nil, &Error{Class: readerError, Message: fmt.Sprintf("%s is not a number in base %d", text, radix)}
	}
	return normalRatio(new(big.Rat).SetFrac(n, d)), nil
}

func (r *reader) Token(at plist.Position, text string, escaped bool) (Value, error) {
	if len(text) > shortToken {
		if err := r.charge(len(text) * longTokenBytes); err != nil {
			return nil, err
		}
	}
	if escaped {
		return r.symbol(text, true)
	}
	if c := text[0]; r.base != 10 || c <= '9' && (c >= '0' || c == '+' || c == '-' || c == '.') {
		if v, err := r.numeral(at, text); v != nil || err != nil {
			return v, err
		}
	}
	n := len(text)
	seen := &r.spellings[(n*31^int(text[n-1])*7^int(text[n/2])*3^int(text[min(1, n-1)]))%len(r.spellings)]
	if seen.text == text {
		return seen.symbol, nil
	}
	symbol, err := r.symbol(text, false)
	if err != nil {
		return nil, err
	}
	*seen = spelling{text, symbol}
	return symbol, nil
}

// numeral reads a token that may be a number; the value is nil if it is none.
func (r *reader) numeral(at plist.Position, text string) (Value, error) {
	if r.base != 10 {
		if plist.RadixNumber(text, r.base) {
			return r.Radix(at, r.base, text)
		}
	} else if n, ok := smallInteger(text); ok {
		return n, nil
	}
	kind := plist.NumberSyntax(text)
	if kind == plist.NotNumber || r.base != 10 && kind != plist.Decimal && !strings.HasSuffix(text, ".") {
		return nil, nil
	}
	return r.number(kind, text)
}

func (r *reader) symbol(text string, escaped bool) (*Symbol, error) {
	if name, keyword := strings.CutPrefix(text, ":"); !escaped && r.letters == kwUpcase && strings.IndexByte(name, ':') < 0 {
		var room [32]byte
		p := r.pkg
		if keyword {
			p = r.call.environment.keywords
		}
		return r.intern(p, string(plist.AppendUpper(room[:0], name)))
	}
	pkg, colons, name := r.table.symbolParts(text, escaped)
	switch {
	case !escaped && strings.Contains(name, ":"):
		return nil, &Error{Class: readerError, Message: fmt.Sprintf("%s has too many colons; write | around a name that holds some", SketchText(text, 40))}
	case colons == 0:
		return r.intern(r.pkg, name)
	case pkg == "":
		return r.intern(r.call.environment.keywords, name)
	}
	return r.qualified(pkg, name, text)
}

func smallInteger(text string) (Value, bool) {
	if len(text) > 18 || text[0] < '0' || text[0] > '9' {
		return nil, false
	}
	n := int64(0)
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			return nil, false
		}
		n = n*10 + int64(text[i]-'0')
	}
	return Integer(n), true
}

// MaximumDigits bounds numbers in source: reading one takes quadratic time.
const MaximumDigits = 20_000

func (r *reader) number(kind plist.NumberKind, text string) (Value, error) {
	if len(text) > MaximumDigits {
		return nil, &Error{Class: readerError, Message: fmt.Sprintf("a number has more than %d digits", MaximumDigits)}
	}
	if err := r.charge(len(text) * digitBytes); err != nil {
		return nil, err
	}
	v, ok := parseNumber(kind, text, r.double)
	if !ok {
		return nil, &Error{Class: readerError, Message: fmt.Sprintf("the number %s cannot be represented", Sketch(NewString(text), 40))}
	}
	return v, nil
}

func (r *reader) intern(p *Package, name string) (*Symbol, error) {
	if symbol, ok := p.Find(name); ok {
		if r.keep {
			p.keep(symbol)
		}
		return symbol, nil
	}
	if err := r.charge(symbolBytes + len(name)); err != nil {
		return nil, err
	}
	// The name may lie in the source, which must not live as long as the symbol.
	symbol, _ := p.add(strings.Clone(name), r.keep)
	return symbol, nil
}

// qualified resolves package:name and package::name alike.
func (r *reader) qualified(pkg, name, text string) (*Symbol, error) {
	e := r.call.environment
	p := e.packages[pkg]
	switch {
	case p == nil && networkPackages[pkg] != "":
		return nil, &Error{Class: packageError, Message: strings.ToLower(pkg+":"+name) + " is not for notes: " + networkPackages[pkg]}
	case p == nil:
		return nil, &Error{Class: packageError, Message: fmt.Sprintf("the package %s does not exist (reading %s)", pkg, SketchText(text, 40)), Hint: packageHint(pkg, e)}
	case p.name == standardPackage:
		if symbol, ok := standardTable[name]; ok {
			return symbol, nil
		}
		return nil, &Error{Class: readerError, Message: fmt.Sprintf("COMMON-LISP has no symbol %s", name)}
	case p == e.kernel:
		if symbol, ok := p.Find(name); ok {
			return symbol, nil
		}
		// Notes name their own functions so, too.
		return r.intern(e.user, name)
	}
	return r.intern(p, name)
}
