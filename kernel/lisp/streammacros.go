package lisp

var (
	symUnwindProtect = CL("UNWIND-PROTECT")
	symClose         = CL("CLOSE")
)

// streamMacros make a stream for a body.
func streamMacros() []Macro {
	return []Macro{
		{"with-output-to-string", "((variable &optional string &key element-type) &body body)", "The string of what body writes.", func(cp *Compiler, form *Cons) Value {
			parts := cp.Arguments(form, 1, -1)
			spec := cp.Forms(parts[0])
			body := form.Cdr.(*Cons).Cdr
			if len(spec) > 1 && spec[1] != Nil {
				stream := Form(symFuncall, Form(symQuote, appendingStream), spec[1])
				if len(spec) > 3 { // the element type is evaluated, and that is all
					stream = Form(CL("PROG1"), stream, spec[3])
				}
				return FormStar(symLet, body, NewList(NewList(spec[0], stream)))
			}
			_, _, rest := cp.declarations(body, false)
			declared := declarationForms(body, rest)
			return FormStar(symLet, listStar(append(declared, FormStar(symProgn, rest), Form(CL("GET-OUTPUT-STREAM-STRING"), spec[0])), Nil),
				NewList(NewList(spec[0], Form(CL("MAKE-STRING-OUTPUT-STREAM")))))
		}},
		{"with-input-from-string", "((variable string &key index start end) &body body)", "Read from a string; index is set to where reading stopped.", expandInputFromString},
		{"with-open-stream", "((variable stream) &body body)", "Close a stream after body.", func(cp *Compiler, form *Cons) Value {
			binding := cp.Arguments(form, 1, -1)[0]
			variable := cp.Forms(binding)[0]
			return protectedBody(cp, form.Cdr.(*Cons).Cdr, NewList(binding), Form(symClose, variable))
		}},
		{"with-standard-io-syntax", "(&body body)", "Evaluate body with the variables of reader and printer at their standard values.", func(cp *Compiler, form *Cons) Value {
			bindings := NewListBuilder(cp.Call)
			for _, row := range []struct {
				symbol *Symbol
				value  Value
			}{
				{symPackage, Form(CL("FIND-PACKAGE"), NewString(userPackage))}, {symPrintArray, T}, {symPrintBase, Integer(10)}, {symPrintCase, kwUpcase},
				{symPrintCircle, Nil}, {symPrintEscape, T}, {symPrintGensym, T}, {symPrintLength, Nil}, {symPrintLevel, Nil}, {symPrintLines, Nil},
				{symPrintPretty, Nil}, {symPrintRadix, Nil}, {symPrintReadably, T}, {symPrintMargin, Nil}, {symMiserWidth, Nil}, {symReadBase, Integer(10)},
				{symFloatFormat, Form(symQuote, CL("SINGLE-FLOAT"))}, {symReadSuppress, Nil}, {CL("*READ-EVAL*"), T},
				{symReadtable, Form(symQuote, standardReadtable)}, {symDispatch, Nil},
			} {
				bindings.Add(NewList(row.symbol, row.value))
			}
			return FormStar(symLet, form.Cdr, bindings.List())
		}},
	}
}

// protectedBody is (let bindings declarations (unwind-protect (progn body) cleanup)).
func protectedBody(cp *Compiler, body Value, bindings Value, cleanup ...Value) Value {
	_, _, rest := cp.declarations(body, false)
	forms := append(declarationForms(body, rest), FormStar(symUnwindProtect, NewList(cleanup...), FormStar(symProgn, rest)))
	return FormStar(symLet, NewList(forms...), bindings)
}

func expandInputFromString(cp *Compiler, form *Cons) Value {
	spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
	if len(spec) < 2 {
		cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
	}
	start, end, index := Value(Integer(0)), Value(Nil), Value(nil)
	for i := 2; i+1 < len(spec); i += 2 {
		switch spec[i] {
		case kwStart:
			start = spec[i+1]
		case kwEnd:
			end = spec[i+1]
		case kwIndex:
			index = spec[i+1]
		}
	}
	body := form.Cdr.(*Cons).Cdr
	if index == nil {
		return FormStar(symLet, body, NewList(NewList(spec[0], Form(CL("MAKE-STRING-INPUT-STREAM"), spec[1], start, end))))
	}
	text, from := cp.Gensym("TEXT"), cp.Gensym("START")
	bindings := NewList(NewList(text, spec[1]), NewList(from, start), NewList(spec[0], Form(CL("MAKE-STRING-INPUT-STREAM"), text, from, end)))
	_, _, rest := cp.declarations(body, false)
	forms := append(declarationForms(body, rest), Form(CL("MULTIPLE-VALUE-PROG1"), FormStar(symProgn, rest),
		Form(symSetf, index, Form(symPlus, from, Form(CL("FILE-POSITION"), spec[0])))))
	return FormStar(symLetStar, NewList(forms...), bindings)
}

// appendingStream makes a stream that appends to a string with a fill pointer.
var appendingStream = &Function{name: "APPENDING-STREAM", least: 1, most: 1, one: func(c *Call, a Value) Value {
	s := c.TakeString(a)
	if s.capacity < 0 {
		c.TypeError(a, "STRING")
	}
	return Allocate(c, Stream{target: s})
}}
