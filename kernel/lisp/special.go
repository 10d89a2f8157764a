package lisp

// controlForms are the special operators for variables, sequencing and choice.
func controlForms() []standardForm {
	return []standardForm{
		{"quote", "(object)", "The object itself, not evaluated.", compileQuote},
		{"function", "(name)", "The function of that name, or the closure of a lambda expression.", compileFunction},
		{"lambda", "(lambda-list &body body)", "A function without a name that closes over the variables around it.", compileLambdaForm},
		{"progn", "(&rest forms)", "Evaluate forms in order; the values of the last.", func(cp *Compiler, form *Cons, sc *scope) expression { return cp.body(form.Cdr, sc) }},
		{"locally", "(&body body)", "Evaluate body under declarations.", compileLocally},
		{"eval-when", "(situations &body body)", "Evaluate body, unless there are no situations.", compileEvalWhen},
		{"the", "(type form)", "The values of form; the type is trusted.", compileThe},
		{"if", "(test then &optional else)", "Evaluate then if test is true, else otherwise.", compileIf},
		{"when", "(test &body body)", "Evaluate body if test is true.", compileWhen},
		{"unless", "(test &body body)", "Evaluate body if test is false.", compileUnless},
		{"and", "(&rest forms)", "The values of the last form, nil as soon as one is false.", compileJunction(T)},
		{"or", "(&rest forms)", "The first value that is true, the values of the last form if none is.", compileJunction(Nil)},
		{"cond", "(&rest clauses)", "Evaluate the forms of the first clause whose test is true.", compileCond},
		{"let", "(bindings &body body)", "Bind variables at once, then evaluate body.", compileLet},
		{"let*", "(bindings &body body)", "Bind variables one after the other, then evaluate body.", compileLetStar},
		{"setq", "(&rest pairs)", "Give variables values, in order.", compileSetq},
		{"prog1", "(first &rest forms)", "Evaluate all in order; the value of the first.", compileProg1},
		{"progv", "(symbols values &body body)", "Bind the symbols as special variables, then evaluate body.", compileProgv},
		{"load-time-value", "(form &optional read-only-p)", "The value of form, evaluated once.", compileLoadTimeValue},
		{"multiple-value-bind", "(variables form &body body)", "Bind variables to the values of form, then evaluate body.", compileMultipleValueBind},
		{"multiple-value-call", "(function &rest forms)", "Call function with all values of all forms.", compileMultipleValueCall},
		{"multiple-value-list", "(form)", "A list of the values of form.", compileMultipleValueList},
		{"multiple-value-prog1", "(first &rest forms)", "Evaluate all in order; the values of the first.", compileMultipleValueProg1},
		{"nth-value", "(n form)", "The nth value of form, counted from zero.", compileNthValue},
		{"destructuring-bind", "(pattern form &body body)", "Bind the variables of a lambda list to the parts of a list.", compileDestructuringBind},
	}
}

func compileQuote(cp *Compiler, form *Cons, _ *scope) expression {
	return cp.literal(cp.Arguments(form, 1, 1)[0])
}

// compileFunction compiles (function name) and (function (lambda …)).
func compileFunction(cp *Compiler, form *Cons, sc *scope) expression {
	name := cp.Arguments(form, 1, 1)[0]
	if list, ok := name.(*Cons); ok && list.Car == symLambda {
		return simple(cp.compileLambda("", list.Cdr, sc, lambdaKind{}))
	}
	if local, depth, ok := sc.function(name); ok {
		if local.macro != nil {
			cp.Fail(ProgramError, "%s is a local macro here, not a function", Sketch(name, formLength))
		}
		slot := local.slot
		return simple(func(_ *Call, f *frame) Value { return f.up(depth).slots[slot] })
	}
	at := cp.site(form)
	if place, ok := setfName(name); ok {
		g := cp.global(place)
		return simple(func(c *Call, _ *frame) Value {
			if g.setter == nil {
				c.at = at
				return c.undefinedFunction(place, true)
			}
			return g.setter
		})
	}
	symbol, ok := name.(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "%s does not name a function", Sketch(name, formLength))
	}
	if builtin := symbol.fixedFunction(); builtin != nil {
		return constant(builtin)
	}
	g := cp.global(symbol)
	cp.environment.refer(reference{symbol: symbol, arguments: -1, at: at, function: cp.functionName()})
	return simple(func(c *Call, _ *frame) Value {
		if g.function == nil {
			c.at = at
			return c.undefinedFunction(symbol, false)
		}
		return g.function
	})
}

func compileLambdaForm(cp *Compiler, form *Cons, sc *scope) expression {
	return simple(cp.compileLambda("", form.Cdr, sc, lambdaKind{}))
}

func compileLocally(cp *Compiler, form *Cons, sc *scope) expression {
	specials, _, body := cp.declarations(form.Cdr, false)
	inner := sc.nested()
	for _, symbol := range specials {
		inner.addVariable(symbol, true)
	}
	return cp.body(body, inner)
}

var (
	kwExecute  = Keyword("EXECUTE")
	situations = map[string]bool{"EXECUTE": true, "LOAD-TOPLEVEL": true, "COMPILE-TOPLEVEL": true, "EVAL": true, "LOAD": true, "COMPILE": true}
)

// compileEvalWhen: notes are evaluated form by form, so that what is for execution runs.
func compileEvalWhen(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	executed := false
	for _, item := range cp.Forms(parts[0]) {
		situation, ok := item.(*Symbol)
		if !ok || !situations[situation.name] {
			cp.Fail(ProgramError, "%s is no situation of eval-when", Sketch(item, formLength))
		}
		executed = executed || situation == kwExecute || situation.name == "EVAL"
	}
	if !executed {
		return constant(Nil)
	}
	return cp.body(form.Cdr.(*Cons).Cdr, sc)
}

// compileThe checks the declaration, if it means something already.
func compileThe(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, 2)
	kind, e := parts[0], cp.compile(parts[1], sc)
	if kind == T || !cp.knownType(kind) {
		return e
	}
	run, at := e.run, cp.site(form)
	if cell, ok := kind.(*Cons); ok && cell.Car == symValues {
		kinds := cp.Forms(cell.Cdr)
		return expression{many: e.many, run: func(c *Call, f *frame) Value {
			v := run(c, f)
			c.at = at
			c.checkValues(every(v), kinds)
			return v
		}}
	}
	return expression{many: e.many, run: func(c *Call, f *frame) Value {
		v := run(c, f)
		c.at = at
		c.checkValue(Single(v), kind)
		return v
	}}
}

func (c *Call) checkValue(v, kind Value) {
	if !c.typep(v, kind) {
		c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" is not of type "+c.Shown(kind)+".", "DATUM", v, "EXPECTED-TYPE", kind))
	}
}

// checkValues checks the required values of (values type…).
func (c *Call) checkValues(values, kinds []Value) {
	for i, kind := range kinds {
		if word, ok := kind.(*Symbol); ok && lambdaWords[word] {
			return
		}
		v := Value(Nil)
		if i < len(values) {
			v = values[i]
		}
		c.checkValue(v, kind)
	}
}

// knownType reports that every name in a type specifier means something.
func (c *Call) knownType(kind Value) bool {
	c.Descend(2)
	defer c.Ascend(2)
	switch x := kind.(type) {
	case *Symbol:
		return c.environment.language.types[x] != nil || c.environment.class(x) != nil || c.environment.types[x] != nil
	case *Cons:
		head, ok := x.Car.(*Symbol)
		if !ok {
			return false
		}
		switch head.name {
		case "MEMBER", "EQL", "SATISFIES", "MOD":
			return true
		case "AND", "OR", "NOT", "VALUES":
			for _, part := range c.Slice(x.Cdr) {
				if word, ok := part.(*Symbol); !(ok && lambdaWords[word]) && !c.knownType(part) {
					return false
				}
			}
			return true
		case "FUNCTION":
			return false
		}
		return c.knownType(head)
	}
	return false
}

func compileIf(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, 3)
	otherwise := constant(Nil)
	test := cp.compile(parts[0], sc).one()
	then := cp.compile(parts[1], sc)
	if len(parts) == 3 {
		otherwise = cp.compile(parts[2], sc)
	}
	yes, no := then.run, otherwise.run
	return expression{many: then.many || otherwise.many, run: func(c *Call, f *frame) Value {
		if test(c, f) != Nil {
			return yes(c, f)
		}
		return no(c, f)
	}}
}

func compileWhen(cp *Compiler, form *Cons, sc *scope) expression {
	test, run, many := cp.guarded(form, sc)
	return expression{many: many, run: func(c *Call, f *frame) Value {
		if test(c, f) == Nil {
			return Nil
		}
		return run(c, f)
	}}
}

// guarded compiles a body behind a test.
func (cp *Compiler) guarded(form *Cons, sc *scope) (test, body code, many bool) {
	cp.Arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	test, guarded := cp.compile(rest.Car, sc).one(), cp.body(rest.Cdr, sc)
	return test, guarded.run, guarded.many
}

func compileUnless(cp *Compiler, form *Cons, sc *scope) expression {
	test, run, many := cp.guarded(form, sc)
	return expression{many: many, run: func(c *Call, f *frame) Value {
		if test(c, f) != Nil {
			return Nil
		}
		return run(c, f)
	}}
}

// compileJunction compiles and, whose value without forms is true and which a false form
// ends, or or, where it is the other way.
func compileJunction(empty *Symbol) specialForm {
	conjunction := empty == T
	return func(cp *Compiler, form *Cons, sc *scope) expression {
		items := cp.Forms(form.Cdr)
		if len(items) == 0 {
			return constant(empty)
		}
		tests := cp.compileAll(items[:len(items)-1], sc)
		last := cp.compile(items[len(items)-1], sc)
		run := last.run
		return expression{many: last.many, run: func(c *Call, f *frame) Value {
			for _, test := range tests {
				if v := test(c, f); (v == Nil) == conjunction {
					return v
				}
			}
			return run(c, f)
		}}
	}
}

type condClause struct {
	test code
	body expression
	bare bool // (cond (test)): the test is the value
}

func compileCond(cp *Compiler, form *Cons, sc *scope) expression {
	var clauses []condClause
	many := false
	for _, item := range cp.Forms(form.Cdr) {
		clause, ok := item.(*Cons)
		if !ok {
			cp.Fail(ProgramError, "a cond clause must be a list that is not empty: %s", Sketch(item, formLength))
		}
		k := condClause{test: cp.compile(clause.Car, sc).one(), bare: clause.Cdr == Nil}
		if !k.bare {
			k.body = cp.body(clause.Cdr, sc)
		}
		many = many || k.body.many
		clauses = append(clauses, k)
	}
	return expression{many: many, run: func(c *Call, f *frame) Value {
		for i := range clauses {
			v := clauses[i].test(c, f)
			if v == Nil {
				continue
			}
			if clauses[i].bare {
				return v
			}
			return clauses[i].body.run(c, f)
		}
		return Nil
	}}
}

func compileSetq(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Forms(form.Cdr)
	if len(parts)%2 != 0 {
		cp.Fail(ProgramError, "setq needs pairs of a variable and a value: %s", Sketch(form, formLength))
	}
	var steps []code
	for i := 0; i < len(parts); i += 2 {
		symbol := cp.checkBindable(parts[i])
		if cp.symbolMacro(symbol, sc) {
			steps = append(steps, cp.compile(NewList(symSetf, symbol, parts[i+1]), sc).one())
			continue
		}
		steps = append(steps, cp.assignment(symbol, cp.compile(parts[i+1], sc).one(), sc))
	}
	return simple(func(c *Call, f *frame) Value {
		v := Value(Nil)
		for _, step := range steps {
			v = step(c, f)
		}
		return v
	})
}

// assignment returns code that evaluates value, stores and returns it.
func (cp *Compiler) assignment(symbol *Symbol, value code, sc *scope) code {
	v, depth, ok := sc.variable(symbol)
	if ok && !v.special {
		slot := v.slot
		if depth == 0 {
			return func(c *Call, f *frame) Value {
				x := value(c, f)
				f.slots[slot] = x
				return x
			}
		}
		return func(c *Call, f *frame) Value {
			x := value(c, f)
			f.up(depth).slots[slot] = x
			return x
		}
	}
	g := cp.global(symbol)
	if !ok && !g.special && g.value == nil {
		cp.environment.refer(reference{symbol: symbol, variable: true, assigned: true, at: cp.site(symbol), function: cp.functionName()})
	}
	return func(c *Call, f *frame) Value {
		x := value(c, f)
		c.setSpecial(g, x)
		return x
	}
}

func compileProg1(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	first := cp.compile(parts[0], sc).one()
	rest := cp.body(form.Cdr.(*Cons).Cdr, sc).run
	return simple(func(c *Call, f *frame) Value {
		v := first(c, f)
		rest(c, f)
		return v
	})
}

func compileProgv(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	symbols, values := cp.compile(parts[0], sc).one(), cp.compile(parts[1], sc).one()
	body := cp.body(form.Cdr.(*Cons).Cdr.(*Cons).Cdr, sc)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		names, given := c.Slice(symbols(c, f)), c.Slice(values(c, f))
		mark := len(c.bindings)
		for i, name := range names {
			var v Value
			if i < len(given) {
				v = given[i]
			}
			c.bind(c.global(c.TakeSymbol(name)), v)
		}
		v := body.run(c, f)
		c.unbind(mark)
		return v
	}}
}

func compileLoadTimeValue(cp *Compiler, form *Cons, _ *scope) expression {
	return constant(Single(cp.evaluate(cp.Arguments(form, 1, 2)[0])))
}
