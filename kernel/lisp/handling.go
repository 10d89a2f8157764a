package lisp

// handlingForms are the operators that establish handlers and restarts.
func handlingForms() []standardForm {
	return []standardForm{
		{"handler-case", "(form &rest clauses)", "Evaluate form; the clause for what it signals gives the values instead.", compileHandlerCase},
		{"handler-bind", "(bindings &body body)", "Evaluate body; what it signals is first given to functions.", compileHandlerBind},
		{"ignore-errors", "(&body body)", "Evaluate body; nil and the condition if there is an error.", compileIgnoreErrors},
	}
}

// caseClause is a clause of handler-case.
type caseClause struct {
	run  code
	slot int // of the condition; -1 without a variable
}

func compileHandlerCase(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	protected := cp.handling(func() expression { return cp.compile(parts[0], sc) })
	var cluster []handler
	var clauses []caseClause
	var otherwise code
	inner := sc.withFrame()
	for _, part := range parts[1:] {
		clause := cp.Forms(part)
		if len(clause) < 2 {
			cp.Fail(ProgramError, "a clause of handler-case needs a type and a lambda list: %s", Sketch(part, formLength))
		}
		if clause[0] == kwNoError {
			otherwise = cp.compileLambda("", part.(*Cons).Cdr, sc, lambdaKind{})
			continue
		}
		cp.checkKind(clause[0])
		cluster = append(cluster, handler{kind: clause[0], index: len(clauses)})
		clauses = append(clauses, cp.compileClause(clause, inner))
	}
	return expression{many: true, run: func(c *Call, f *frame) Value {
		v, clause, condition := c.runHandled(cluster, protected.run, f)
		if clause < 0 {
			if otherwise != nil {
				return c.apply(otherwise(c, f).(*Function), every(v))
			}
			return v
		}
		g := c.newFrame(f, inner.layout.slots)
		if slot := clauses[clause].slot; slot >= 0 {
			g.slots[slot] = condition
		}
		return clauses[clause].run(c, g)
	}}
}

// handling compiles what the note handles the errors of.
func (cp *Compiler) handling(compile func() expression) expression {
	cp.handled++
	defer func() { cp.handled-- }()
	return compile()
}

// compileClause compiles (type ([variable]) . body).
func (cp *Compiler) compileClause(clause []Value, inner *scope) caseClause {
	names := cp.Forms(clause[1])
	if len(names) > 1 {
		cp.Fail(ProgramError, "a clause of handler-case takes at most one variable: %s", Sketch(clause[1], formLength))
	}
	bodyScope := inner.nested()
	k := caseClause{slot: -1}
	_, _, forms := cp.declarations(NewList(clause[2:]...), false)
	if len(names) == 1 {
		k.slot = bodyScope.addVariable(cp.checkBindable(names[0]), false).slot
	}
	k.run = cp.body(forms, bodyScope).run
	return k
}

// runHandled runs body under a cluster of handlers. clause is -1 when it returned.
func (c *Call) runHandled(cluster []handler, body code, f *frame) (v Value, clause int, condition Value) {
	point := c.newExitPoint()
	defer func() {
		if e, ok := c.landed(point); ok {
			recover()
			clause, condition = e.index, e.value
		}
	}()
	outer := c.handlers
	c.handlers = &handlerCluster{outer: outer, handlers: cluster, point: point}
	v = body(c, f)
	c.handlers = outer
	return v, -1, nil
}

func compileIgnoreErrors(cp *Compiler, form *Cons, sc *scope) expression {
	body := cp.handling(func() expression { return cp.body(form.Cdr, sc) }).run
	cluster := []handler{{kind: symError}}
	return expression{many: true, run: func(c *Call, f *frame) Value {
		v, clause, condition := c.runHandled(cluster, body, f)
		if clause < 0 {
			return v
		}
		return c.Values(Nil, condition)
	}}
}

func compileHandlerBind(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	var kinds []Value
	var functions []code
	for _, part := range cp.Forms(parts[0]) {
		binding := cp.Forms(part)
		if len(binding) != 2 {
			cp.Fail(ProgramError, "malformed handler binding: %s", Sketch(part, formLength))
		}
		cp.checkKind(binding[0])
		kinds = append(kinds, binding[0])
		functions = append(functions, cp.compile(binding[1], sc).one())
	}
	body := cp.handling(func() expression { return cp.body(form.Cdr.(*Cons).Cdr, sc) })
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		cluster := &handlerCluster{outer: c.handlers}
		for i, function := range functions {
			cluster.handlers = append(cluster.handlers, handler{kind: kinds[i], function: c.handlerFunction(function(c, f))})
		}
		outer := c.handlers
		c.handlers = cluster
		v := body.run(c, f)
		c.handlers = outer
		return v
	}}
}

// handlerFunction takes the function of a handler. One that is not defined is looked for
// again when there is something to handle.
func (c *Call) handlerFunction(v Value) *Function {
	if symbol, ok := v.(*Symbol); ok && c.global(symbol).function == nil {
		return &Function{name: symbol.name, least: 1, most: 1, one: func(c *Call, condition Value) Value {
			return Single(c.apply(c.Function(symbol), []Value{condition}))
		}}
	}
	return c.Function(v)
}

// checkKind refuses what cannot be the type of a condition.
func (cp *Compiler) checkKind(kind Value) {
	switch kind.(type) {
	case *Symbol, *Cons, *Class:
	default:
		cp.TypeError(kind, "(OR SYMBOL CONS CLASS)")
	}
}

var (
	kwNoError = Keyword("NO-ERROR")
)

// conditionFunctions are the builtins about conditions and restarts.
func conditionFunctions() []Builtin {
	return []Builtin{
		{Name: "error", LambdaList: "(datum &rest arguments)", Doc: "Signal an error; it does not return.", Check: checkClassNamed, Call: func(c *Call, args []Value) Value {
			c.signalError(c.condition(args, SimpleError))
			return nil
		}},
		{Name: "signal", LambdaList: "(datum &rest arguments)", Doc: "Signal a condition; return nil if nobody handles it.", Check: checkClassNamed, Call: func(c *Call, args []Value) Value {
			c.signal(c.condition(args, simpleCondition))
			return Nil
		}},
		{Name: "make-condition", LambdaList: "(type &rest arguments)", Doc: "Make a condition of a class.", Check: checkClassNamed, Call: func(c *Call, args []Value) Value {
			return c.condition(args, SimpleError)
		}},
		{Name: "invoke-debugger", LambdaList: "(condition)", Doc: "End the call with a condition: there is no debugger.", One: func(c *Call, a Value) Value {
			condition, ok := a.(*Instance)
			if !ok || condition.class.kind != conditionClass {
				c.TypeError(a, "CONDITION")
			}
			c.unhandled(condition)
			return nil
		}},
		conditionReader("simple-condition-format-control", "FORMAT-CONTROL"),
		conditionReader("simple-condition-format-arguments", "FORMAT-ARGUMENTS"),
		conditionReader("type-error-datum", "DATUM"),
		conditionReader("type-error-expected-type", "EXPECTED-TYPE"),
		conditionReader("cell-error-name", "NAME"),
		conditionReader("unbound-slot-instance", "INSTANCE"),
		conditionReader("stream-error-stream", "STREAM"),
		conditionReader("print-not-readable-object", "OBJECT"),
		conditionReader("package-error-package", "PACKAGE"),
		conditionReader("file-error-pathname", "PATHNAME"),
		conditionReader("arithmetic-error-operation", "OPERATION"),
		conditionReader("arithmetic-error-operands", "OPERANDS"),
	}
}

func conditionReader(name, slot string) Builtin {
	return Builtin{Name: name, LambdaList: "(condition)", Doc: "The part of a condition that the name says.", One: func(c *Call, a Value) Value {
		if condition, ok := a.(*Instance); ok && condition.class.kind == conditionClass {
			return condition.Slot(slot)
		}
		c.TypeError(a, "CONDITION")
		return nil
	}}
}

var (
	symRestartCase = CL("RESTART-CASE")
	symSimpleType  = CL(simpleTypeErr)
)

// expandAssert tries the test again when the restart continue is taken.
func expandAssert(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	signal := Form(symError, NewString("The assertion ~S failed."), Form(symQuote, parts[0]))
	if len(parts) > 2 {
		signal = &Cons{Car: symError, Cdr: NewList(parts[2:]...)}
	}
	return Form(symForever, Form(symUntil, parts[0]), Form(symRestartCase, signal, NewList(symContinue, Nil, kwReport, NewString("Retry assertion."), Nil)))
}

// storing is the restart-case clause that stores a value into a place.
func storing(cp *Compiler, place Value) Value {
	value := cp.Gensym("VALUE")
	return NewList(symStoreValue, NewList(value), kwReport, NewString("Supply a new value."), Form(symSetf, place, value))
}

// storable reports that something can be stored into a place that is only to be checked.
func (cp *Compiler) storable(place Value) bool {
	switch x := place.(type) {
	case *Symbol:
		return x != Nil && x != T && !x.Keyword()
	case *Cons:
		head, ok := x.Car.(*Symbol)
		if !ok {
			return false
		}
		return head.fixedFunction() == nil || cp.language.setters[head] != nil || cp.language.places[head] != nil
	}
	return false
}

// expandCheckType tests the place again when the restart store-value is taken, which is
// there for a place that can be stored into.
func expandCheckType(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 2, 3)
	described := Value(NewString("of type " + Sketch(parts[1], formLength)))
	if len(parts) == 3 {
		described = parts[2]
	}
	value := cp.Gensym("VALUE")
	signal := Form(symError, Form(symQuote, symSimpleType), kwDatum, value, kwExpectedType, Form(symQuote, parts[1]),
		kwFormatControl, NewString("The value of ~S is ~S, which is not ~A."), kwFormatArguments, Form(symList, Form(symQuote, parts[0]), value, described))
	if !cp.storable(parts[0]) {
		return Form(symLet, NewList(NewList(value, parts[0])), Form(symUnless, Form(symTypep, value, Form(symQuote, parts[1])), signal))
	}
	round := Form(symLet, NewList(NewList(value, parts[0])),
		Form(symUnless, Form(symTypep, value, Form(symQuote, parts[1])), Form(symRestartCase, signal, storing(cp, parts[0]))))
	return Form(symForever, Form(symUntil, Form(symTypep, parts[0], Form(symQuote, parts[1]))), round)
}

// retried is ccase or ctypecase: the exhaustive form over the value of a place, again
// and again until no new value is stored.
func (cp *Compiler) retried(form *Cons, exhaustive *Symbol) Value {
	parts := cp.Arguments(form, 1, -1)
	if !cp.storable(parts[0]) {
		return FormStar(exhaustive, form.Cdr.(*Cons).Cdr, parts[0])
	}
	block, value := cp.Gensym("BLOCK"), cp.Gensym("VALUE")
	keys := NewListBuilder(cp.Call)
	clauses := NewListBuilder(cp.Call)
	for _, part := range parts[1:] {
		clause := cp.Clause(part)
		clauses.Add(NewList(clause.Car, Form(symReturnFrom, block, &Cons{Car: symProgn, Cdr: clause.Cdr})))
		keys.Add(NewList(clause.Car))
	}
	// The clauses stand outside of the restart: it is for the failure alone.
	tried := cp.Gensym("MATCHES")
	matches := Form(CL("IGNORE-ERRORS"), Form(symProgn, FormStar(exhaustive, keys.List(), value), T))
	round := Form(symLet, NewList(NewList(value, parts[0])),
		Form(symLet, NewList(NewList(tried, matches)),
			Form(symIf, tried, FormStar(exhaustive, clauses.List(), value),
				Form(symRestartCase, FormStar(exhaustive, keys.List(), value), storing(cp, parts[0])))))
	return Form(symBlock, block, Form(symForever, round))
}
