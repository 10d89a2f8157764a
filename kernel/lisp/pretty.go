package lisp

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
		return Builtin{Name: name, LambdaList: list, Doc: "Does nothing: everything is printed on one line.", Call: func(*Call, []Value) Value { return Nil }}
	}
	list := func(name, parameters string) Builtin {
		return Builtin{Name: name, LambdaList: parameters, Doc: "Print the elements of a list with blanks between, in parentheses unless the third argument is nil.", Call: prettyList}
	}
	return []Builtin{
		nothing("pprint-newline", "(kind &optional stream)"), nothing("pprint-indent", "(relative-to n &optional stream)"),
		nothing("pprint-tab", "(kind column step &optional stream)"),
		list("pprint-fill", "(stream list &optional colon at)"), list("pprint-linear", "(stream list &optional colon at)"),
		list("pprint-tabular", "(stream list &optional colon at size)"),
	}
}

func prettyList(c *Call, args []Value) Value {
	s := c.OutputStream(args[0])
	cell, ok := args[1].(*Cons)
	if !ok && args[1] != Nil {
		c.Write(s, c.printedWith(args[1], c.printControl()))
		return Nil
	}
	parentheses := len(args) < 3 || args[2] != Nil
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
	control := c.TakeString(a)
	directives, err := parseFormat(control.chars)
	if err != nil {
		c.Fail(SimpleError, "in the format string %s: %v", c.Shown(control), err)
	}
	c.ChargeMany(len(control.chars)+1, ObjectBytes)
	return &Function{name: "FORMATTER", least: 1, most: -1, call: func(c *Call, args []Value) Value {
		f := &formatter{call: c, out: c.OutputStream(args[0]), args: append([]Value(nil), args[1:]...)}
		c.ChargeMany(len(args), ValueBytes)
		c.Descend(8)
		f.run(directives)
		c.Ascend(8)
		return c.NewList(f.args[min(f.next, len(f.args)):])
	}}
}}
