package lisp

import (
	"strconv"
)

// printControl is the variables that say how objects are printed, as one print finds
// them.
type printControl struct {
	escape, readably, radix, circle, gensym, array, pretty bool
	// double says that double floats are read without an exponent marker.
	double bool
	base   int
	// length and level are -1 without a limit.
	length, level int
	letters       *Symbol // of *print-case*
	reading       *Symbol // of readtable-case
}

var (
	symPrintArray    = CL("*PRINT-ARRAY*")
	symPrintBase     = CL("*PRINT-BASE*")
	symPrintCase     = CL("*PRINT-CASE*")
	symPrintCircle   = CL("*PRINT-CIRCLE*")
	symPrintGensym   = CL("*PRINT-GENSYM*")
	symPrintLength   = CL("*PRINT-LENGTH*")
	symPrintLevel    = CL("*PRINT-LEVEL*")
	symPrintLines    = CL("*PRINT-LINES*")
	symPrintPretty   = CL("*PRINT-PRETTY*")
	symPrintRadix    = CL("*PRINT-RADIX*")
	symPrintReadably = CL("*PRINT-READABLY*")
	symPrintMargin   = CL("*PRINT-RIGHT-MARGIN*")
	symMiserWidth    = CL("*PRINT-MISER-WIDTH*")
	symDispatch      = CL("*PRINT-PPRINT-DISPATCH*")
	symFloatFormat   = CL("*READ-DEFAULT-FLOAT-FORMAT*")

	kwDowncase   = Keyword("DOWNCASE")
	kwCapitalize = Keyword("CAPITALIZE")
)

// plainControl is the variables as they are at first, with another base.
func plainControl(base int) printControl {
	return printControl{gensym: true, array: true, base: base, length: -1, level: -1, letters: kwUpcase, reading: kwUpcase}
}

// printControl reads the variables. Most notes never touch them: a variable without a
// record in the environment has its first value.
func (c *Call) printControl() printControl {
	control := plainControl(10)
	control.escape = true
	flag := func(symbol *Symbol, target *bool) {
		if v := c.touched(symbol); v != nil {
			*target = isTrue(v)
		}
	}
	flag(symPrintEscape, &control.escape)
	flag(symPrintReadably, &control.readably)
	flag(symPrintRadix, &control.radix)
	flag(symPrintCircle, &control.circle)
	flag(symPrintGensym, &control.gensym)
	flag(symPrintArray, &control.array)
	flag(symPrintPretty, &control.pretty)
	control.double = c.DoubleFloats()
	control.reading = c.readtable().letters
	if v := c.touched(symPrintBase); v != nil {
		control.base = c.radix(v)
	}
	if v := c.touched(symPrintLength); v != nil && v != Nil {
		control.length = c.Index(v)
	}
	if v := c.touched(symPrintLevel); v != nil && v != Nil {
		control.level = c.Index(v)
	}
	if v := c.touched(symPrintCase); v != nil {
		control.letters, _ = v.(*Symbol)
		if control.letters != kwUpcase && control.letters != kwDowncase && control.letters != kwCapitalize {
			c.TypeError(v, "(MEMBER :UPCASE :DOWNCASE :CAPITALIZE)")
		}
	}
	return control
}

// DoubleFloats reports that *read-default-float-format* is a double float.
func (c *Call) DoubleFloats() bool {
	v, ok := c.touched(symFloatFormat).(*Symbol)
	return ok && (v.name == "DOUBLE-FLOAT" || v.name == "LONG-FLOAT")
}

// touched is the value of a standard variable, nil if the note never named it.
func (c *Call) touched(symbol *Symbol) Value {
	g, ok := c.environment.globals[symbol]
	if !ok {
		return nil
	}
	return c.special(g)
}

// labels numbers objects for *print-circle*.
type labels struct {
	// seen holds 0 for what occurs once and is not printed yet, -1 for what occurs
	// more often, and the number of what has been printed with one.
	seen map[Value]int
	next int
}

// findShared looks for objects that occur more than once in v.
func (c *Call) findShared(v Value) *labels {
	l := &labels{seen: map[Value]int{}}
	pending := []Value{v}
	for len(pending) > 0 {
		v := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		c.Step()
		switch x := v.(type) {
		case *Cons, *Vector, *Instance, *String:
		case *Symbol:
			if x.home != "" {
				continue
			}
		default:
			continue
		}
		if _, again := l.seen[v]; again {
			l.seen[v] = -1
			continue
		}
		c.Charge(EntryBytes)
		l.seen[v] = 0
		switch x := v.(type) {
		case *Cons:
			pending = append(pending, x.Cdr, x.Car)
		case *Vector:
			pending = Append(c, pending, x.elements...)
		case *Instance:
			if x.class.kind == structureClass {
				pending = append(pending, x.slots...)
			}
		}
	}
	return l
}

// shared reports that an object has or gets a number. A list of which the rest is
// shared continues behind a dot.
func (l *labels) shared(v Value) bool { return l != nil && l.seen[v] != 0 }

// label prints #n= or #n#; it reports that nothing is left to be printed.
func (p *printer) label(v Value) bool {
	switch v.(type) {
	case *Cons, *Vector, *Instance, *Symbol, *String:
	default:
		return false
	}
	switch n := p.labels.seen[v]; {
	case n > 0:
		p.text("#" + strconv.Itoa(n) + "#")
		return true
	case n < 0:
		p.labels.next++
		p.labels.seen[v] = p.labels.next
		p.text("#" + strconv.Itoa(p.labels.next) + "=")
	}
	return false
}
