package lisp

import (
	"math/big"
	"strconv"
	"strings"
)

// printFunctions print objects.
func printFunctions() []Builtin {
	toString := func(name, doc string, escape bool) Builtin {
		return Builtin{Name: name, LambdaList: "(object)", Doc: doc, One: func(c *Call, a Value) Value {
			return c.CopyRunes(c.printedRunes(a, escape))
		}}
	}
	toStream := func(name, doc string, escape bool) Builtin {
		return Builtin{Name: name, LambdaList: "(object &optional stream)", Doc: doc, Named: func(c *Call, args Args) Value {
			object := args.Get("object")
			c.Write(c.OutputStream(args.Get("stream")), c.printedRunes(object, escape))
			return object
		}}
	}
	return []Builtin{
		toString("prin1-to-string", "What prin1 prints.", true),
		toString("princ-to-string", "What princ prints.", false),
		toStream("prin1", "Print so that it can be read.", true),
		toStream("princ", "Print for people.", false),
		{Name: "print", LambdaList: "(object &optional stream)", Doc: "Print on a new line so that it can be read, and a blank.", Named: func(c *Call, args Args) Value {
			object := args.Get("object")
			s := c.OutputStream(args.Get("stream"))
			c.Write(s, []rune{'\n'})
			c.Write(s, c.printedRunes(object, true))
			c.Write(s, []rune{' '})
			return object
		}},
		{Name: "pprint", LambdaList: "(object &optional stream)", Doc: "Print on a new line so that it can be read.", Many: true, Named: func(c *Call, args Args) Value {
			s := c.OutputStream(args.Get("stream"))
			c.Write(s, []rune{'\n'})
			c.Write(s, c.printedRunes(args.Get("object"), true))
			return noValues
		}},
		{Name: "write", LambdaList: "(object &key stream escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", Doc: "Print as the variables and options say.", Named: func(c *Call, args Args) Value {
			object := args.Get("object")
			c.Write(c.OutputStream(args.Get("stream")), c.written(object, args))
			return object
		}},
		{Name: "write-to-string", LambdaList: "(object &key escape readably base radix circle pretty level length case lines array gensym right-margin miser-width pprint-dispatch)", Doc: "Print to a string as the variables and options say.", Named: func(c *Call, args Args) Value {
			return c.StringOf(c.written(args.Get("object"), args))
		}},
		{Name: "format", LambdaList: "(destination control &rest arguments)", Doc: "Write as a control string says; to a string if destination is nil.", Call: formatFunction, Check: checkFormat},
	}
}

// writeOptions are the options of write, and the variables that they bind.
var writeOptions = []struct {
	name     string
	variable *Symbol
}{
	{"escape", symPrintEscape}, {"readably", symPrintReadably}, {"base", symPrintBase}, {"radix", symPrintRadix}, {"circle", symPrintCircle},
	{"pretty", symPrintPretty}, {"level", symPrintLevel}, {"length", symPrintLength}, {"case", symPrintCase}, {"lines", symPrintLines},
	{"array", symPrintArray}, {"gensym", symPrintGensym}, {"right-margin", symPrintMargin}, {"miser-width", symMiserWidth}, {"pprint-dispatch", symDispatch},
}

// written prints with the variables bound to those options that are given.
func (c *Call) written(v Value, args Args) []rune {
	mark := len(c.bindings)
	for _, o := range writeOptions {
		if option := args.Get(o.name); option != nil {
			c.bind(c.global(o.variable), option)
		}
	}
	text := c.printedWith(v, c.printControl())
	c.unbind(mark)
	return text
}

func (c *Call) radix(v Value) int {
	n := c.Index(v)
	if n < 2 || n > 36 {
		c.TypeError(v, "(INTEGER 2 36)")
	}
	return n
}

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
		Insert(c, l.seen, v, 0)
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

// What the standard prints prettily is printed here on one line, as SBCL does while
// *print-pretty* is nil.

var (
	kwType     = Keyword("TYPE")
	kwIdentity = Keyword("IDENTITY")
	kwPrefix   = Keyword("PREFIX")
	kwPerLine  = Keyword("PER-LINE-PREFIX")
	kwSuffix   = Keyword("SUFFIX")

	// The block makes these macros of its body.
	symPprintPop  = internalSymbol("PPRINT-POP")
	symPprintExit = internalSymbol("PPRINT-EXIT")

	symPop    = CL("POP")
	symReturn = CL("RETURN-FROM")
	symWrite  = CL("WRITE-STRING")
)

// prettyFunctions lay nothing out.
func prettyFunctions() []Builtin {
	nothing := func(name, list string) Builtin {
		return Builtin{Name: name, LambdaList: list, Doc: "Does nothing: everything is printed on one line.", Named: func(*Call, Args) Value { return Nil }}
	}
	list := func(name, parameters string) Builtin {
		return Builtin{Name: name, LambdaList: parameters, Doc: "Print the elements of a list with blanks between, in parentheses unless the third argument is nil.", Named: prettyList}
	}
	return []Builtin{
		nothing("pprint-newline", "(kind &optional stream)"), nothing("pprint-indent", "(relative-to n &optional stream)"),
		nothing("pprint-tab", "(kind column step &optional stream)"),
		list("pprint-fill", "(stream list &optional colon at)"), list("pprint-linear", "(stream list &optional colon at)"),
		list("pprint-tabular", "(stream list &optional colon at size)"),
	}
}

func prettyList(c *Call, args Args) Value {
	s, list := c.OutputStream(args.Get("stream")), args.Get("list")
	cell, ok := list.(*Cons)
	if !ok && list != Nil {
		c.Write(s, c.printedWith(list, c.printControl()))
		return Nil
	}
	parentheses := args.Get("colon") != Nil
	if parentheses {
		c.WriteText(s, "(")
	}
	p := printer{call: c, printControl: c.printControl()}
	if ok {
		p.elements(cell)
		c.Write(s, p.out[1:len(p.out)-1])
	}
	if parentheses {
		c.WriteText(s, ")")
	}
	return Nil
}

// beginUnreadable and endUnreadable print what stands around the body of
// print-unreadable-object. The address is left out: notes see none.
var (
	beginUnreadable = &Function{name: "BEGIN-UNREADABLE", least: 3, most: 3, call: func(c *Call, args []Value) Value {
		s := c.OutputStream(args[1])
		if v := c.touched(symPrintReadably); v != nil && v != Nil {
			c.signalError(c.newCondition("PRINT-NOT-READABLE", c.Shown(args[0])+" cannot be printed readably", "OBJECT", args[0]))
		}
		c.WriteText(s, "#<")
		if args[2] != Nil {
			c.Write(s, c.printedWith(typeHead(c.typeOf(args[0])), c.printControl()))
			c.WriteText(s, " ")
		}
		return Nil
	}}
	endUnreadable = &Function{name: "END-UNREADABLE", least: 2, most: 2, two: func(c *Call, stream, identity Value) Value {
		if identity != Nil {
			c.WriteText(c.OutputStream(stream), " {}")
		}
		c.WriteText(c.OutputStream(stream), ">")
		return Nil
	}}
)

func typeHead(kind Value) Value {
	if cell, ok := kind.(*Cons); ok {
		return cell.Car
	}
	return kind
}

// prettyMacros print around a body.
func prettyMacros() []Macro {
	return []Macro{
		{"print-unreadable-object", "((object stream &key type identity) &body body)", "Print #<, the type, what body prints, and >.", func(cp *Compiler, form *Cons) Value {
			spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
			if len(spec) < 2 {
				cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
			}
			kind, identity := Value(Nil), Value(Nil)
			for i := 2; i+1 < len(spec); i += 2 {
				switch spec[i] {
				case kwType:
					kind = spec[i+1]
				case kwIdentity:
					identity = spec[i+1]
				}
			}
			object, stream := cp.Gensym("OBJECT"), cp.Gensym("STREAM")
			body := form.Cdr.(*Cons).Cdr
			return Form(symLet, NewList(NewList(object, spec[0]), NewList(stream, spec[1])),
				Form(symFuncall, Form(symQuote, beginUnreadable), object, stream, kind),
				FormStar(symProgn, body), Form(symFuncall, Form(symQuote, endUnreadable), stream, identity), Nil)
		}},
		{"formatter", "(control)", "The function of a stream and arguments that writes as the control string says.", func(cp *Compiler, form *Cons) Value {
			control, ok := cp.Arguments(form, 1, 1)[0].(*String)
			if !ok {
				cp.Fail(TypeErrorClass, "formatter wants a string")
			}
			return Form(symFuncall, Form(symQuote, makeFormatter), control)
		}},
		{"pprint-pop", "()", "The next element of the list that pprint-logical-block prints.", func(*Compiler, *Cons) Value { return Form(symPprintPop) }},
		{"pprint-exit-if-list-exhausted", "()", "Leave pprint-logical-block when its list is at an end.", func(*Compiler, *Cons) Value { return Form(symPprintExit) }},
		{"pprint-logical-block", "((stream object &key prefix per-line-prefix suffix) &body body)", "Print around body, which takes elements by pprint-pop.", expandLogicalBlock},
	}
}

// expandLogicalBlock makes pprint-pop and pprint-exit-if-list-exhausted macros of the
// body; the block ends when the list does, or *print-length* says so.
func expandLogicalBlock(cp *Compiler, form *Cons) Value {
	spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
	if len(spec) < 2 {
		cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
	}
	prefix, suffix := Value(NewString("")), Value(NewString(""))
	for i := 2; i+1 < len(spec); i += 2 {
		switch spec[i] {
		case kwPrefix, kwPerLine:
			prefix = spec[i+1]
		case kwSuffix:
			suffix = spec[i+1]
		}
	}
	stream, rest, count, block := cp.Gensym("STREAM"), cp.Gensym("REST"), cp.Gensym("COUNT"), cp.Gensym("BLOCK")
	if s, ok := spec[0].(*Symbol); ok && s != Nil && s != T {
		stream = s
	}
	leave := Form(symReturn, block, Nil)
	exhausted := Form(symWhen, Form(CL("NULL"), rest), leave)
	pop := Form(symCond,
		NewList(Form(CL("AND"), symPrintLength, Form(symGreaterEqual, count, symPrintLength)), Form(symWrite, NewString("..."), stream), leave),
		NewList(Form(CL("CONSP"), rest), Form(CL("INCF"), count), Form(symPop, rest)),
		NewList(rest, Form(symWrite, NewString(". "), stream), Form(CL("WRITE"), rest, Keyword("STREAM"), stream), leave))
	body := Form(symBlock, block, FormStar(CL("MACROLET"), form.Cdr.(*Cons).Cdr, NewList(
		NewList(symPprintPop, Nil, Form(symQuote, pop)),
		NewList(symPprintExit, Nil, Form(symQuote, exhausted)))))
	bindings := NewList(NewList(stream, Form(CL("OR"), spec[0], symStandardOutput)), NewList(rest, spec[1]), NewList(count, Integer(0)))
	return Form(symLet, bindings, Form(symIf, Form(CL("LISTP"), rest),
		Form(symProgn, Form(symWrite, prefix, stream), body, Form(symWrite, suffix, stream)),
		Form(CL("WRITE"), rest, Keyword("STREAM"), stream)), Nil)
}

// makeFormatter makes the function of a control string; it returns the arguments that
// are left.
var makeFormatter = &Function{name: "MAKE-FORMATTER", least: 1, most: 1, one: func(c *Call, a Value) Value {
	// The control string may change, and the directives are parts of it.
	directives := c.directives(c.CopyRunes(c.TakeString(a).chars))
	return Allocate(c, Function{name: "FORMATTER", least: 1, most: -1, call: func(c *Call, args []Value) Value {
		f := &formatter{call: c, out: c.OutputStream(args[0]), args: Clone(c, args[1:])}
		c.Descend(8)
		f.run(directives)
		c.Ascend(8)
		return c.NewList(f.args[min(f.next, len(f.args)):])
	}})
}}

// quoted escapes texts in sketches.
var quoted = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`)

// Sketch prints v shortened to about limit characters, for messages. It needs no call
// and follows nothing far.
func Sketch(v Value, limit int) string {
	var b strings.Builder
	sketchInto(&b, v, limit, 6)
	return SketchText(b.String(), limit)
}

// SketchText shortens a text to limit characters.
func SketchText(text string, limit int) string {
	n, last := 0, 0
	for i := range text {
		if n++; n == limit {
			last = i
		} else if n > limit {
			return text[:last] + "…"
		}
	}
	return text
}

func sketchInto(b *strings.Builder, v Value, limit, depth int) {
	switch x := v.(type) {
	case nil:
		b.WriteString("…")
	case *Symbol:
		switch {
		case x.Keyword():
			b.WriteByte(':')
		case x.ofLibrary:
			b.WriteString(x.home + ":")
		}
		b.WriteString(symbolName(SketchText(x.name, limit)))
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
		b.WriteString(floatText(float64(x), 32, false))
	case float64:
		b.WriteString(floatText(x, 64, false))
	case *Complex:
		b.WriteString("#C(")
		sketchInto(b, x.real, limit, depth)
		b.WriteByte(' ')
		sketchInto(b, x.imaginary, limit, depth)
		b.WriteByte(')')
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
