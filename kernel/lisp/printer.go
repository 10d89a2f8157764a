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
	call   *Call
	out    []rune
	escape bool
	base   int
	// plain is an object whose own methods of print-object are not asked.
	plain Value
}

// maximumPrintDepth bounds nesting of printed objects.
const maximumPrintDepth = 10_000

// How names between bars and texts in sketches are escaped.
var (
	barred = strings.NewReplacer(`\`, `\\`, `|`, `\|`)
	quoted = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`)
)

// printed returns what prin1 (escape) or princ prints.
func (c *Call) printed(v Value, escape bool) string { return string(c.printedRunes(v, escape)) }

func (c *Call) printedRunes(v Value, escape bool) []rune {
	if s, ok := v.(*String); ok && !escape {
		c.chargeOutput(len(s.chars))
		return s.chars
	}
	p := printer{call: c, escape: escape, base: 10}
	p.print(v)
	return p.out
}

func (p *printer) text(s string) {
	p.call.chargeOutput(len(s))
	p.out = append(p.out, []rune(s)...)
}

func (p *printer) print(v Value) {
	p.call.step()
	switch x := v.(type) {
	case *Symbol:
		p.symbol(x)
	case *Cons:
		p.list(x)
	case int64, *big.Int, *big.Rat:
		p.rational(x)
	case float32:
		p.text(floatText(float64(x), 32))
	case float64:
		p.text(floatText(x, 64))
	case *String:
		p.str(x)
	case Character:
		p.character(x)
	case *Vector:
		p.vector(x)
	case *Function:
		p.text(functionText(x))
	case *Instance:
		p.instance(x)
	case *restart:
		if !p.escape {
			p.text(p.call.restartText(x))
			return
		}
		p.text(p.call.opaque(v))
	default:
		p.text(p.call.opaque(v))
	}
}

// rational prints integers and ratios in the base. The digits of a long number take
// more than linear time, which is charged first.
func (p *printer) rational(v Value) {
	size := bits(v)
	p.call.work(size / 64 * size / 64 / 8)
	p.call.chargeOutput(size / 4)
	switch x := v.(type) {
	case int64:
		p.text(strings.ToUpper(strconv.FormatInt(x, p.base)))
	case *big.Int:
		p.text(strings.ToUpper(x.Text(p.base)))
	case *big.Rat:
		p.text(strings.ToUpper(x.Num().Text(p.base) + "/" + x.Denom().Text(p.base)))
	}
}

// floatText prints a float as SBCL does while single floats are the default format.
func floatText(x float64, size int) string {
	marker := ""
	if size == 64 {
		marker = "d"
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
		p.call.chargeOutput(len(s.chars))
		p.out = append(p.out, s.chars...)
		return
	}
	p.call.chargeOutput(len(s.chars) + 2)
	p.out = append(p.out, '"')
	for _, r := range s.chars {
		if r == '"' || r == '\\' {
			p.out = append(p.out, '\\')
		}
		p.out = append(p.out, r)
	}
	p.out = append(p.out, '"')
}

func (p *printer) character(ch Character) {
	if !p.escape {
		p.text(string(rune(ch)))
		return
	}
	if ch == ' ' {
		p.text("#\\ ") // as SBCL does: only characters that do not show have a name
		return
	}
	p.text("#\\" + characterName(ch))
}

func (p *printer) symbol(s *Symbol) {
	if !p.escape {
		p.text(s.name)
		return
	}
	p.text(p.call.symbolText(s))
}

// symbolText is what prin1 prints of a symbol, given the current package.
func (c *Call) symbolText(s *Symbol) string {
	name := symbolName(s.name)
	switch s.home {
	case keywordPackage:
		return ":" + name
	case standardPackage, "%LISP":
		return name
	case "":
		return "#:" + name
	}
	if found, ok := c.currentPackage().find(s.name); ok && found == s {
		return name
	}
	if home := c.environment.packages[s.home]; home != nil {
		if _, ok := home.exported(s.name); ok {
			return s.home + ":" + name
		}
	}
	return s.home + "::" + name
}

// symbolName puts a name that would read differently between bars.
func symbolName(name string) string {
	if name == "" {
		return "||"
	}
	plain := plist.NumberSyntax(name) == plist.NotNumber && strings.Trim(name, ".") != ""
	for _, r := range name {
		if strings.ContainsRune("()\"';`,:|\\#", r) && (r != '#' || name[0] == '#') || unicode.IsSpace(r) || r < ' ' || unicode.IsLower(r) && unicode.ToUpper(r) != r {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	return "|" + barred.Replace(name) + "|"
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

// list prints a cons. SBCL abbreviates quote forms only when it prints prettily, which
// notes never see; only forms of the reader's own operators have no other notation.
func (p *printer) list(cell *Cons) {
	if head, ok := cell.Car.(*Symbol); ok && head.home == "%LISP" {
		if prefix, ok := prefixes[head]; ok {
			if rest, ok := cell.Cdr.(*Cons); ok && rest.Cdr == Nil {
				p.text(prefix)
				p.nested(func() { p.print(rest.Car) })
				return
			}
		}
	}
	p.nested(func() { p.elements(cell) })
}

func (p *printer) elements(cell *Cons) {
	p.text("(")
	for {
		p.print(cell.Car)
		next, ok := cell.Cdr.(*Cons)
		if !ok {
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
	if v.bits() {
		p.text("#*")
		for _, bit := range v.elements {
			p.print(bit)
		}
		return
	}
	if v.dimensions != nil {
		p.text("#" + strconv.Itoa(len(v.dimensions)) + "A")
		p.nested(func() { p.row(v, v.dimensions, 0) })
		return
	}
	p.text("#")
	p.nested(func() { p.row(v, []int{len(v.elements)}, 0) })
}

func (p *printer) row(v *Vector, dimensions []int, offset int) {
	if len(dimensions) == 0 {
		p.print(v.elements[offset])
		return
	}
	stride := 1
	for _, d := range dimensions[1:] {
		stride *= d
	}
	p.text("(")
	for i := range dimensions[0] {
		if i > 0 {
			p.text(" ")
		}
		p.row(v, dimensions[1:], offset+i*stride)
	}
	p.text(")")
}

func (p *printer) instance(i *Instance) {
	switch i.class.kind {
	case conditionClass:
		if !p.escape {
			p.text(p.call.report(i))
			return
		}
	case structureClass:
		p.nested(func() { p.structure(i) })
		return
	}
	if p.call.printObject(p, i) {
		return
	}
	p.text("#<" + p.call.symbolText(i.class.name) + ">")
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
		p.text(" :" + symbolName(i.class.slots[j].name.name) + " ")
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
		return "#<STRING-STREAM>"
	case *Class:
		return "#<" + metaclass(x).name + " " + c.symbolText(x.name) + ">"
	case *method:
		return "#<STANDARD-METHOD " + x.function.name + ">"
	case *scanner:
		return "#<SCANNER>"
	case *restart:
		return "#<RESTART " + sketch(x.name, 40) + ">"
	case *multiple:
		return c.printed(single(x), true)
	}
	return "#<OBJECT>"
}

// sketch prints v shortened to about limit characters, for messages. It needs no call
// and follows nothing far.
func sketch(v Value, limit int) string {
	var b strings.Builder
	sketchInto(&b, v, limit, 6)
	return sketchText(b.String(), limit)
}

func sketchText(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

func sketchInto(b *strings.Builder, v Value, limit, depth int) {
	switch x := v.(type) {
	case nil:
		b.WriteString("…")
	case *Symbol:
		switch x.home {
		case keywordPackage:
			b.WriteByte(':')
		case "CL-PPCRE", "UIOP":
			b.WriteString(x.home + ":")
		}
		b.WriteString(symbolName(sketchText(x.name, limit)))
	case *String:
		text := string(x.chars[:min(len(x.chars), limit)])
		b.WriteString(`"` + quoted.Replace(text) + `"`)
	case *Cons:
		sketchList(b, x, limit, depth)
	case int64:
		b.WriteString(strconv.FormatInt(x, 10))
	case *big.Int:
		if x.BitLen() > 4*limit {
			b.WriteString("an integer of " + strconv.Itoa(x.BitLen()) + " bits")
			return
		}
		b.WriteString(x.String())
	case *big.Rat:
		if x.Num().BitLen()+x.Denom().BitLen() > 4*limit {
			b.WriteString("a long ratio")
			return
		}
		b.WriteString(x.String())
	case float32:
		b.WriteString(floatText(float64(x), 32))
	case float64:
		b.WriteString(floatText(x, 64))
	case Character:
		b.WriteString("#\\" + characterName(x))
	case *Function:
		b.WriteString(functionText(x))
	case *Instance:
		b.WriteString("#<" + x.class.name.name + ">")
	case *Vector:
		b.WriteString("#<VECTOR>")
	case *HashTable:
		b.WriteString("#<HASH-TABLE>")
	default:
		b.WriteString("#<OBJECT>")
	}
}

func sketchList(b *strings.Builder, cell *Cons, limit, depth int) {
	if head, ok := cell.Car.(*Symbol); ok {
		if prefix, ok := prefixes[head]; ok {
			if rest, ok := cell.Cdr.(*Cons); ok && rest.Cdr == Nil {
				b.WriteString(prefix)
				sketchInto(b, rest.Car, limit, depth)
				return
			}
		}
	}
	if depth == 0 || b.Len() > limit {
		b.WriteString("(…)")
		return
	}
	b.WriteByte('(')
	for b.Len() <= limit {
		sketchInto(b, cell.Car, limit, depth-1)
		next, ok := cell.Cdr.(*Cons)
		if !ok {
			break
		}
		b.WriteByte(' ')
		cell = next
	}
	if _, more := cell.Cdr.(*Cons); !more && cell.Cdr != Nil {
		b.WriteString(" . ")
		sketchInto(b, cell.Cdr, limit, depth-1)
	}
	b.WriteByte(')')
}
