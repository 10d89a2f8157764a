package lisp

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"org-agent/kernel/plist"
)

// printer prints one object. What it prints is charged before it is kept, and nesting
// is bounded, so that circular data ends as an exceeded limit.
type printer struct {
	call *Call
	out  []rune
	printControl
	// labels numbers the objects that occur more than once, when *print-circle* is true.
	labels *labels
	// plain is an object whose own methods of print-object are not asked.
	plain Value
}

// maximumPrintDepth bounds nesting of printed objects.
const maximumPrintDepth = 10_000

// barred escapes names between bars.
var barred = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// Printed returns what prin1 (escape) or princ prints.
func (c *Call) Printed(v Value, escape bool) string { return c.GoText(c.printedRunes(v, escape)) }

// printedRunes are the characters that prin1 or princ prints. They must not be changed.
func (c *Call) printedRunes(v Value, escape bool) []rune {
	if s, ok := v.(*String); ok && !escape {
		c.ChargeOutput(len(s.chars))
		return s.chars
	}
	control := c.printControl()
	control.escape = escape
	control.readably = control.readably && escape
	return c.printedWith(v, control)
}

// printedWith returns what is printed under the given variables.
func (c *Call) printedWith(v Value, control printControl) []rune {
	p := printer{call: c, printControl: control}
	if control.readably {
		p.escape = true
	}
	if control.circle {
		p.labels = c.findShared(v)
	}
	p.print(v)
	return p.out
}

func (p *printer) text(s string) {
	p.call.ChargeOutput(len(s))
	p.out = appendText(p.call, p.out, s)
}

func (p *printer) print(v Value) {
	p.call.Step()
	if p.labels != nil && p.label(v) {
		return
	}
	switch x := v.(type) {
	case *Symbol:
		p.symbol(x)
	case *Cons:
		p.list(x)
	case int64, *big.Int, *big.Rat:
		p.rational(x)
	case float32:
		p.text(floatText(float64(x), 32, p.double))
	case float64:
		p.text(floatText(x, 64, p.double))
	case *Complex:
		p.text("#C(")
		p.print(x.real)
		p.text(" ")
		p.print(x.imaginary)
		p.text(")")
	case *String:
		p.str(x)
	case Character:
		p.character(x)
	case *Vector:
		p.vector(x)
	case *Function:
		p.unreadable(v, functionText(x))
	case *Instance:
		p.instance(x)
	case *restart:
		if !p.escape {
			p.text(p.call.restartText(x))
			return
		}
		p.text(p.call.opaque(v))
	case Object:
		p.text(x.LispText(p.call, p.escape))
	case *Pathname:
		if !p.escape {
			p.text(p.call.Namestring(x))
			return
		}
		p.text("#P")
		p.str(p.call.Text(p.call.Namestring(x)))
	default:
		p.unreadable(v, p.call.opaque(v))
	}
}

// unreadable prints the text of an object that has no notation.
func (p *printer) unreadable(v Value, text string) {
	if p.readably {
		c := p.call
		c.signalError(c.newCondition("PRINT-NOT-READABLE", text+" cannot be printed readably", "OBJECT", v))
	}
	p.text(text)
}

// rational prints integers and ratios in the base.
func (p *printer) rational(v Value) {
	size := bits(v)
	p.call.ChargeOutput(size / 4)
	suffix := ""
	if p.radix {
		switch _, ratio := v.(*big.Rat); {
		case p.base == 10 && !ratio:
			suffix = "."
		default:
			p.text(radixPrefix(p.base))
		}
	}
	switch x := v.(type) {
	case int64:
		p.text(strings.ToUpper(strconv.FormatInt(x, p.base)) + suffix)
	case *big.Int:
		p.text(p.digits(x) + suffix)
	case *big.Rat:
		p.text(p.digits(x.Num()))
		p.text("/")
		p.text(p.digits(x.Denom()))
	}
}

// digits are those of an integer in the base. Long ones take more than linear time.
func (p *printer) digits(n *big.Int) string {
	words := n.BitLen() / 64
	p.call.Work(words * words / 8)
	p.call.chargeExact(n, n, conversionCost)
	p.call.ChargeMany(int(float64(n.BitLen())/math.Log2(float64(p.base)))+2, digitTextBytes)
	return strings.ToUpper(n.Text(p.base))
}

// digitTextBytes is what Go allocates for each digit of a number that is printed.
const digitTextBytes = 6

func radixPrefix(base int) string {
	switch base {
	case 2:
		return "#b"
	case 8:
		return "#o"
	case 16:
		return "#x"
	}
	return "#" + strconv.Itoa(base) + "r"
}

// floatText prints a float as SBCL does. The type that is not the default format shows
// by its exponent marker; double says that double floats are the default.
func floatText(x float64, size int, double bool) string {
	marker := ""
	switch {
	case size == 64 && !double:
		marker = "d"
	case size == 32 && double:
		marker = "f"
	}
	switch {
	case math.IsNaN(x):
		return "#<NOT-A-NUMBER>"
	case math.IsInf(x, 1):
		return map[int]string{32: "#.SB-EXT:SINGLE-FLOAT-POSITIVE-INFINITY", 64: "#.SB-EXT:DOUBLE-FLOAT-POSITIVE-INFINITY"}[size]
	case math.IsInf(x, -1):
		return map[int]string{32: "#.SB-EXT:SINGLE-FLOAT-NEGATIVE-INFINITY", 64: "#.SB-EXT:DOUBLE-FLOAT-NEGATIVE-INFINITY"}[size]
	}
	magnitude := math.Abs(x)
	if x == 0 || magnitude >= 1e-3 && magnitude < 1e7 {
		text := strconv.FormatFloat(x, 'f', -1, size)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		if marker != "" {
			text += marker + "0"
		}
		return text
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, size), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	if marker == "" {
		marker = "e"
	}
	return mantissa + marker + strconv.Itoa(n)
}

func (p *printer) str(s *String) {
	if !p.escape {
		p.call.ChargeOutput(len(s.chars))
		p.out = Append(p.call, p.out, s.chars...)
		return
	}
	p.call.ChargeOutput(len(s.chars) + 2)
	p.out = Append(p.call, p.out, '"')
	for _, r := range s.chars {
		if r == '"' || r == '\\' {
			p.out = Append(p.call, p.out, '\\')
		}
		p.out = Append(p.call, p.out, r)
	}
	p.out = Append(p.call, p.out, '"')
}

func (p *printer) character(ch Character) {
	if !p.escape {
		p.text(string(rune(ch)))
		return
	}
	if ch == ' ' && !p.readably {
		p.text("#\\ ") // as SBCL does: only characters that do not show have a name
		return
	}
	p.text("#\\" + characterName(ch))
}

func (p *printer) symbol(s *Symbol) {
	if !p.escape {
		p.text(p.cased(s.name))
		return
	}
	prefix, colons := p.call.symbolPrefix(s)
	switch {
	case colons == "#:" && !p.gensym:
		colons = ""
	case prefix != "":
		prefix = p.name(prefix)
	}
	p.text(prefix + colons)
	p.text(p.name(s.name))
}

// name is a name as it can be read.
func (p *printer) name(name string) string {
	p.call.Charge(2 * len(name))
	if plainName(name, p.reading) && (p.base <= 10 || !plist.RadixNumber(name, p.base)) {
		return p.cased(name)
	}
	return barredName(name)
}

// symbolText is what prin1 prints of a symbol in messages, given the current package.
func (c *Call) symbolText(s *Symbol) string {
	prefix, colons := c.symbolPrefix(s)
	if prefix != "" {
		prefix = symbolName(prefix)
	}
	return prefix + colons + symbolName(s.name)
}

// symbolPrefix is what stands before a symbol's name, given the current package: the
// name of a package and colons.
func (c *Call) symbolPrefix(s *Symbol) (pkg, colons string) {
	switch s.home {
	case keywordPackage:
		return "", ":"
	case "%LISP":
		return "", ""
	case standardPackage:
		if pkg := c.CurrentPackage(); pkg != c.environment.user {
			if found, ok := pkg.Find(s.name); !ok || found != s {
				return standardPackage, ":"
			}
		}
		return "", ""
	case "":
		return "", "#:"
	}
	if found, ok := c.CurrentPackage().Find(s.name); ok && found == s {
		return "", ""
	}
	if home := c.environment.packages[s.home]; home != nil {
		if _, ok := home.exported(s.name); ok {
			return s.home, ":"
		}
	}
	return s.home, "::"
}

// symbolName puts a name that would read differently between bars.
func symbolName(name string) string {
	if plainName(name, kwUpcase) {
		return name
	}
	return barredName(name)
}

func barredName(name string) string { return "|" + barred.Replace(name) + "|" }

// plainName reports that a name is read as it is by a readtable of that case.
func plainName(name string, reading *Symbol) bool {
	if potentialNumber(name) || strings.Trim(name, ".") == "" {
		return false
	}
	for _, r := range name {
		if strings.ContainsRune("()\"';`,:|\\#", r) || unicode.IsSpace(r) || r < ' ' || changesCase(r, reading) {
			return false
		}
	}
	return true
}

// potentialNumber reports that a token looks like a number of some implementation:
// digits, signs, points, and letters that stand alone.
func potentialNumber(name string) bool {
	digit, letter := false, false
	for i := 0; i < len(name); i++ {
		ch := name[i]
		isLetter := 'A' <= ch && ch <= 'Z'
		switch {
		case '0' <= ch && ch <= '9':
			digit = true
		case isLetter && i > 0 && !letter, strings.IndexByte("./^_", ch) >= 0:
		case ch == '+' || ch == '-':
			if i == len(name)-1 {
				return false
			}
		default:
			return false
		}
		letter = isLetter
	}
	return digit && name[0] != '/'
}

// nested prints something deeper.
func (p *printer) nested(print func()) {
	c := p.call
	c.printing++
	if c.printing > maximumPrintDepth {
		c.abort(storageCondition, fmt.Sprintf("an object nested more than %d deep cannot be printed", maximumPrintDepth))
	}
	print()
	c.printing--
}

var prefixes = map[*Symbol]string{
	symQuote: "'", symFunction: "#'", symQuasiquote: "`", symUnquote: ",", symUnquoteSplicing: ",@",
}

// list prints a cons. SBCL abbreviates quote forms only when it prints prettily; forms
// of the reader's own operators have no other notation.
func (p *printer) list(cell *Cons) {
	if head, ok := cell.Car.(*Symbol); ok && (head.home == "%LISP" || p.pretty && p.escape) {
		if prefix, ok := prefixes[head]; ok {
			if rest, ok := cell.Cdr.(*Cons); ok && rest.Cdr == Nil {
				p.text(prefix)
				p.nested(func() { p.print(rest.Car) })
				return
			}
		}
	}
	p.leveled(func() { p.elements(cell) })
}

// leveled prints something that *print-level* counts.
func (p *printer) leveled(print func()) {
	if p.level >= 0 && p.call.printing >= p.level && !p.readably {
		p.text("#")
		return
	}
	p.nested(print)
}

// cut reports that n elements are as many as *print-length* allows.
func (p *printer) cut(n int) bool { return p.length >= 0 && n >= p.length && !p.readably }

func (p *printer) elements(cell *Cons) {
	p.text("(")
	for n := 0; ; n++ {
		if p.cut(n) {
			p.text("...)")
			return
		}
		p.print(cell.Car)
		next, ok := cell.Cdr.(*Cons)
		if !ok || p.labels.shared(next) {
			break
		}
		p.text(" ")
		cell = next
	}
	if cell.Cdr != Nil {
		p.text(" . ")
		p.print(cell.Cdr)
	}
	p.text(")")
}

func (p *printer) vector(v *Vector) {
	if !p.array && !p.readably {
		p.text("#<" + Sketch(p.call.typeOf(v), 80) + ">")
		return
	}
	if v.bits() {
		p.text("#*")
		for _, bit := range v.elements {
			p.print(bit)
		}
		return
	}
	dimensions := v.dimensions
	if dimensions == nil {
		dimensions = []int{len(v.elements)}
		p.leveled(func() { p.text("#"); p.row(v, dimensions, 0) })
		return
	}
	if len(dimensions) == 0 {
		p.text("#0A")
		p.print(v.elements[0])
		return
	}
	p.text("#" + strconv.Itoa(len(dimensions)) + "A")
	p.leveled(func() { p.row(v, dimensions, 0) })
}

func (p *printer) row(v *Vector, dimensions []int, offset int) {
	stride := 1
	for _, d := range dimensions[1:] {
		stride *= d
	}
	p.text("(")
	for i := range dimensions[0] {
		if i > 0 {
			p.text(" ")
		}
		if p.cut(i) {
			p.text("...")
			break
		}
		if len(dimensions) == 1 {
			p.print(v.elements[offset+i])
			continue
		}
		p.leveled(func() { p.row(v, dimensions[1:], offset+i*stride) })
	}
	p.text(")")
}

func (p *printer) instance(i *Instance) {
	switch i.class.kind {
	case conditionClass:
		if !p.escape {
			p.text(p.call.Report(i))
			return
		}
	case structureClass:
		p.leveled(func() { p.structure(i) })
		return
	}
	if p.call.printObject(p, i) {
		return
	}
	p.unreadable(i, "#<"+p.call.symbolText(i.class.name)+">")
}

func (p *printer) structure(i *Instance) {
	if i.class.printer != nil || p.call.environment.printsObjects() {
		if p.call.printObject(p, i) {
			return
		}
	}
	p.text("#S(")
	p.print(i.class.name)
	for j := range i.class.slots {
		if p.cut(j) {
			p.text(" ...")
			break
		}
		p.text(" :" + p.name(i.class.slots[j].name.name) + " ")
		v := i.slots[j]
		if v == nil {
			v = Nil
		}
		p.print(v)
	}
	p.text(")")
}

func functionText(f *Function) string {
	if f.generic != nil {
		return "#<STANDARD-GENERIC-FUNCTION " + f.name + ">"
	}
	if f.name == "" {
		return "#<FUNCTION>"
	}
	return "#<FUNCTION " + f.name + ">"
}

// opaque prints objects that have no notation.
func (c *Call) opaque(v Value) string {
	switch x := v.(type) {
	case *HashTable:
		return fmt.Sprintf("#<HASH-TABLE :TEST %s :COUNT %d>", x.test.name(), x.count())
	case *Package:
		return fmt.Sprintf("#<PACKAGE %q>", x.name)
	case *Stream:
		return "#<" + streamTypes[x.kind] + ">"
	case *Class:
		return "#<" + metaclass(x).name + " " + c.symbolText(x.name) + ">"
	case *method:
		return "#<STANDARD-METHOD " + x.function.name + ">"
	case *restart:
		return "#<RESTART " + Sketch(x.name, 40) + ">"
	case *multiple:
		return c.Printed(Single(x), true)
	}
	return "#<OBJECT>"
}
