package lisp

// What the standard prints prettily is printed here on one line, as SBCL does while
// *print-pretty* is nil.

var (
	kwType     = standardKeyword("TYPE")
	kwIdentity = standardKeyword("IDENTITY")
	kwPrefix   = standardKeyword("PREFIX")
	kwPerLine  = standardKeyword("PER-LINE-PREFIX")
	kwSuffix   = standardKeyword("SUFFIX")

	// The block makes these macros of its body.
	symPprintPop  = internalSymbol("PPRINT-POP")
	symPprintExit = internalSymbol("PPRINT-EXIT")

	symPop    = standardSymbol("POP")
	symReturn = standardSymbol("RETURN-FROM")
	symWrite  = standardSymbol("WRITE-STRING")
)

// prettyFunctions lay nothing out.
func prettyFunctions() []builtin {
	nothing := func(name, list string) builtin {
		return builtin{name: name, list: list, doc: "Does nothing: everything is printed on one line.", call: func(*Call, []Value) Value { return Nil }}
	}
	list := func(name, parameters string) builtin {
		return builtin{name: name, list: parameters, doc: "Print the elements of a list with blanks between, in parentheses unless the third argument is nil.", call: prettyList}
	}
	return []builtin{
		nothing("pprint-newline", "(kind &optional stream)"), nothing("pprint-indent", "(relative-to n &optional stream)"),
		nothing("pprint-tab", "(kind column step &optional stream)"),
		list("pprint-fill", "(stream list &optional colon at)"), list("pprint-linear", "(stream list &optional colon at)"),
		list("pprint-tabular", "(stream list &optional colon at size)"),
	}
}

func prettyList(c *Call, args []Value) Value {
	s := c.outputStream(args[0])
	cell, ok := args[1].(*Cons)
	if !ok && args[1] != Nil {
		c.write(s, c.printedWith(args[1], c.printControl()))
		return Nil
	}
	parentheses := len(args) < 3 || args[2] != Nil
	if parentheses {
		c.writeText(s, "(")
	}
	p := printer{call: c, printControl: c.printControl()}
	if ok {
		p.elements(cell)
		c.write(s, p.out[1:len(p.out)-1])
	}
	if parentheses {
		c.writeText(s, ")")
	}
	return Nil
}

// beginUnreadable and endUnreadable print what stands around the body of
// print-unreadable-object. The address is left out: notes see none.
var (
	beginUnreadable = &Function{name: "BEGIN-UNREADABLE", least: 3, most: 3, call: func(c *Call, args []Value) Value {
		s := c.outputStream(args[1])
		if v := c.touched(symPrintReadably); v != nil && v != Nil {
			c.signalError(c.newCondition("PRINT-NOT-READABLE", c.shown(args[0])+" cannot be printed readably", "OBJECT", args[0]))
		}
		c.writeText(s, "#<")
		if args[2] != Nil {
			c.write(s, c.printedWith(typeHead(c.typeOf(args[0])), c.printControl()))
			c.writeText(s, " ")
		}
		return Nil
	}}
	endUnreadable = &Function{name: "END-UNREADABLE", least: 2, most: 2, two: func(c *Call, stream, identity Value) Value {
		if identity != Nil {
			c.writeText(c.outputStream(stream), " {}")
		}
		c.writeText(c.outputStream(stream), ">")
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
func prettyMacros() []standardMacro {
	return []standardMacro{
		{"print-unreadable-object", "((object stream &key type identity) &body body)", "Print #<, the type, what body prints, and >.", func(cp *compiler, form *Cons) Value {
			spec := cp.forms(cp.arguments(form, 1, -1)[0])
			if len(spec) < 2 {
				cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
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
			object, stream := cp.gensym("OBJECT"), cp.gensym("STREAM")
			body := form.Cdr.(*Cons).Cdr
			return call(symLet, NewList(NewList(object, spec[0]), NewList(stream, spec[1])),
				call(symFuncall, call(symQuote, beginUnreadable), object, stream, kind),
				callStar(symProgn, body), call(symFuncall, call(symQuote, endUnreadable), stream, identity), Nil)
		}},
		{"formatter", "(control)", "The function of a stream and arguments that writes as the control string says.", func(cp *compiler, form *Cons) Value {
			control, ok := cp.arguments(form, 1, 1)[0].(*String)
			if !ok {
				cp.fail(typeErrorClass, "formatter wants a string")
			}
			return call(symFuncall, call(symQuote, makeFormatter), control)
		}},
		{"pprint-pop", "()", "The next element of the list that pprint-logical-block prints.", func(*compiler, *Cons) Value { return call(symPprintPop) }},
		{"pprint-exit-if-list-exhausted", "()", "Leave pprint-logical-block when its list is at an end.", func(*compiler, *Cons) Value { return call(symPprintExit) }},
		{"pprint-logical-block", "((stream object &key prefix per-line-prefix suffix) &body body)", "Print around body, which takes elements by pprint-pop.", expandLogicalBlock},
	}
}

// expandLogicalBlock makes pprint-pop and pprint-exit-if-list-exhausted macros of the
// body; the block ends when the list does, or *print-length* says so.
func expandLogicalBlock(cp *compiler, form *Cons) Value {
	spec := cp.forms(cp.arguments(form, 1, -1)[0])
	if len(spec) < 2 {
		cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
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
	stream, rest, count, block := cp.gensym("STREAM"), cp.gensym("REST"), cp.gensym("COUNT"), cp.gensym("BLOCK")
	if s, ok := spec[0].(*Symbol); ok && s != Nil && s != T {
		stream = s
	}
	leave := call(symReturn, block, Nil)
	exhausted := call(symWhen, call(standardSymbol("NULL"), rest), leave)
	pop := call(symCond,
		NewList(call(standardSymbol("AND"), symPrintLength, call(symGreaterEqual, count, symPrintLength)), call(symWrite, NewString("..."), stream), leave),
		NewList(call(standardSymbol("CONSP"), rest), call(standardSymbol("INCF"), count), call(symPop, rest)),
		NewList(rest, call(symWrite, NewString(". "), stream), call(standardSymbol("WRITE"), rest, standardKeyword("STREAM"), stream), leave))
	body := call(symBlock, block, callStar(standardSymbol("MACROLET"), form.Cdr.(*Cons).Cdr, NewList(
		NewList(symPprintPop, Nil, call(symQuote, pop)),
		NewList(symPprintExit, Nil, call(symQuote, exhausted)))))
	bindings := NewList(NewList(stream, call(standardSymbol("OR"), spec[0], symStandardOutput)), NewList(rest, spec[1]), NewList(count, Integer(0)))
	return call(symLet, bindings, call(symIf, call(standardSymbol("LISTP"), rest),
		call(symProgn, call(symWrite, prefix, stream), body, call(symWrite, suffix, stream)),
		call(standardSymbol("WRITE"), rest, standardKeyword("STREAM"), stream)), Nil)
}

// makeFormatter makes the function of a control string; it returns the arguments that
// are left.
var makeFormatter = &Function{name: "MAKE-FORMATTER", least: 1, most: 1, one: func(c *Call, a Value) Value {
	control := c.str(a)
	directives, err := parseFormat(control.chars)
	if err != nil {
		c.fail(simpleError, "in the format string %s: %v", c.shown(control), err)
	}
	c.chargeMany(len(control.chars)+1, closureBytes)
	return &Function{name: "FORMATTER", least: 1, most: -1, call: func(c *Call, args []Value) Value {
		f := &formatter{call: c, out: c.outputStream(args[0]), args: append([]Value(nil), args[1:]...)}
		c.chargeMany(len(args), valueBytes)
		c.descend(8)
		f.run(directives)
		c.ascend(8)
		return c.newList(f.args[min(f.next, len(f.args)):])
	}}
}}
