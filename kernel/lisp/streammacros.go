package lisp

var (
	symUnwindProtect = standardSymbol("UNWIND-PROTECT")
	symClose         = standardSymbol("CLOSE")
)

// streamMacros make a stream for a body.
func streamMacros() []standardMacro {
	return []standardMacro{
		{"with-output-to-string", "((variable &optional string &key element-type) &body body)", "The string of what body writes.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 1, -1)
			spec := cp.forms(parts[0])
			body := form.Cdr.(*Cons).Cdr
			if len(spec) > 1 && spec[1] != Nil {
				stream := call(symFuncall, call(symQuote, appendingStream), spec[1])
				if len(spec) > 3 { // the element type is evaluated, and that is all
					stream = call(standardSymbol("PROG1"), stream, spec[3])
				}
				return callStar(symLet, body, NewList(NewList(spec[0], stream)))
			}
			_, _, rest := cp.declarations(body, false)
			declared := declarationForms(body, rest)
			return callStar(symLet, listStar(append(declared, callStar(symProgn, rest), call(standardSymbol("GET-OUTPUT-STREAM-STRING"), spec[0])), Nil),
				NewList(NewList(spec[0], call(standardSymbol("MAKE-STRING-OUTPUT-STREAM")))))
		}},
		{"with-input-from-string", "((variable string &key index start end) &body body)", "Read from a string; index is set to where reading stopped.", expandInputFromString},
		{"with-open-stream", "((variable stream) &body body)", "Close a stream after body.", func(cp *compiler, form *Cons) Value {
			binding := cp.arguments(form, 1, -1)[0]
			variable := cp.forms(binding)[0]
			return protectedBody(cp, form.Cdr.(*Cons).Cdr, NewList(binding), call(symClose, variable))
		}},
		{"with-standard-io-syntax", "(&body body)", "Evaluate body with the variables of reader and printer at their standard values.", func(_ *compiler, form *Cons) Value {
			var bindings builder
			for _, row := range []struct {
				symbol *Symbol
				value  Value
			}{
				{symPackage, call(standardSymbol("FIND-PACKAGE"), NewString(userPackage))}, {symPrintArray, T}, {symPrintBase, Integer(10)}, {symPrintCase, kwUpcase},
				{symPrintCircle, Nil}, {symPrintEscape, T}, {symPrintGensym, T}, {symPrintLength, Nil}, {symPrintLevel, Nil}, {symPrintLines, Nil},
				{symPrintPretty, Nil}, {symPrintRadix, Nil}, {symPrintReadably, T}, {symPrintMargin, Nil}, {symMiserWidth, Nil}, {symReadBase, Integer(10)},
				{symFloatFormat, call(symQuote, standardSymbol("SINGLE-FLOAT"))}, {symReadSuppress, Nil}, {standardSymbol("*READ-EVAL*"), T},
				{symReadtable, call(symQuote, standardReadtable)}, {symDispatch, Nil},
			} {
				bindings.add(NewList(row.symbol, row.value))
			}
			return callStar(symLet, form.Cdr, bindings.list())
		}},
	}
}

// protectedBody is (let bindings declarations (unwind-protect (progn body) cleanup)).
func protectedBody(cp *compiler, body Value, bindings Value, cleanup ...Value) Value {
	_, _, rest := cp.declarations(body, false)
	forms := append(declarationForms(body, rest), callStar(symUnwindProtect, NewList(cleanup...), callStar(symProgn, rest)))
	return callStar(symLet, NewList(forms...), bindings)
}

func expandInputFromString(cp *compiler, form *Cons) Value {
	spec := cp.forms(cp.arguments(form, 1, -1)[0])
	if len(spec) < 2 {
		cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
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
		return callStar(symLet, body, NewList(NewList(spec[0], call(standardSymbol("MAKE-STRING-INPUT-STREAM"), spec[1], start, end))))
	}
	text, from := cp.gensym("TEXT"), cp.gensym("START")
	bindings := NewList(NewList(text, spec[1]), NewList(from, start), NewList(spec[0], call(standardSymbol("MAKE-STRING-INPUT-STREAM"), text, from, end)))
	_, _, rest := cp.declarations(body, false)
	forms := append(declarationForms(body, rest), call(standardSymbol("MULTIPLE-VALUE-PROG1"), callStar(symProgn, rest),
		call(symSetf, index, call(symPlus, from, call(standardSymbol("FILE-POSITION"), spec[0])))))
	return callStar(symLetStar, NewList(forms...), bindings)
}

// appendingStream makes a stream that appends to a string with a fill pointer.
var appendingStream = &Function{name: "APPENDING-STREAM", least: 1, most: 1, one: func(c *Call, a Value) Value {
	s := c.str(a)
	if s.capacity < 0 {
		c.typeError(a, "STRING")
	}
	return &Stream{target: s}
}}
