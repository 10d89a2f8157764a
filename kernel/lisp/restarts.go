package lisp

// restart is an active restart, inside of outer.
type restart struct {
	outer    *restart
	name     Value
	point    *exitPoint
	index    int
	function *Function // of restart-bind
	// report, interactive and test are what the options of the same names say.
	report            Value
	interactive, test *Function
	// conditions are those the restart was made for; none: it serves all.
	conditions []Value
}

var (
	kwReport              = Keyword("REPORT")
	kwInteractive         = Keyword("INTERACTIVE")
	kwTest                = Keyword("TEST")
	kwReportFunction      = Keyword("REPORT-FUNCTION")
	kwInteractiveFunction = Keyword("INTERACTIVE-FUNCTION")
	kwTestFunction        = Keyword("TEST-FUNCTION")

	symAbort         = CL("ABORT")
	symContinue      = CL("CONTINUE")
	symMuffleWarning = CL("MUFFLE-WARNING")
	symUseValue      = CL("USE-VALUE")
	symStoreValue    = CL("STORE-VALUE")
)

// restartForms are the operators that establish restarts.
func restartForms() []standardForm {
	return []standardForm{
		{"restart-case", "(form &rest clauses)", "Evaluate a form with restarts that continue in clauses.", compileRestartCase},
		{"restart-bind", "(bindings &body body)", "Evaluate body with restarts that call functions.", compileRestartBind},
		{"with-condition-restarts", "(condition restarts &body body)", "Evaluate body with restarts that serve only a condition.", compileWithConditionRestarts},
	}
}

// serves reports that a restart is visible for a condition, nil for any.
func (c *Call) serves(r *restart, condition Value) bool {
	if condition != nil && condition != Nil && len(r.conditions) > 0 {
		mine := false
		for _, other := range r.conditions {
			mine = mine || other == condition
		}
		if !mine {
			return false
		}
	}
	if condition == nil {
		condition = Nil
	}
	return r.test == nil || c.Call1(r.test, condition) != Nil
}

// findRestart finds the innermost active restart, nil if there is none.
func (c *Call) findRestart(designator, condition Value) *restart {
	if _, ok := designator.(*restart); !ok {
		if _, ok := designator.(*Symbol); !ok || designator == Nil {
			c.TypeError(designator, "RESTART")
		}
	}
	for r := c.restarts; r != nil; r = r.outer {
		c.Step()
		if (r.name == designator || designator == Value(r)) && c.serves(r, condition) {
			return r
		}
	}
	return nil
}

func (c *Call) invokeRestart(designator, condition Value, args []Value) Value {
	r := c.findRestart(designator, condition)
	if r == nil {
		c.Fail(controlError, "No restart %s is active.", c.Shown(designator))
	}
	return c.take(r, args)
}

func (c *Call) take(r *restart, args []Value) Value {
	if r.function != nil {
		return c.apply(r.function, args)
	}
	c.leave(r.point, c.NewList(args), r.index)
	return nil
}

// restartText is what princ prints of a restart.
func (c *Call) restartText(r *restart) string {
	switch report := r.report.(type) {
	case *String:
		return report.String()
	case *Function:
		stream := c.NewOutput()
		c.Call1(report, stream)
		return c.Collected(stream)
	}
	return c.Shown(r.name)
}

// restartClause is a clause of restart-case, or a binding of restart-bind, compiled.
type restartClause struct {
	name                      Value
	function                  code
	report, interactive, test code
}

func (k *restartClause) make(c *Call, f *frame, outer *restart) *restart {
	r := Allocate(c, restart{outer: outer, name: k.name})
	if k.report != nil {
		r.report = k.report(c, f)
	}
	if k.interactive != nil {
		r.interactive = c.Function(k.interactive(c, f))
	}
	if k.test != nil {
		r.test = c.Function(k.test(c, f))
	}
	return r
}

func compileRestartCase(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	protected := cp.compile(cp.associated(parts[0], sc, len(parts)-1), sc).run
	var clauses []*restartClause
	for _, part := range parts[1:] {
		clauses = append(clauses, cp.restartClause(part, sc))
	}
	return expression{many: true, run: func(c *Call, f *frame) Value {
		outer := c.restarts
		inner := outer
		for i := len(clauses) - 1; i >= 0; i-- {
			inner = clauses[i].make(c, f, inner)
			inner.index = i
		}
		v, clause, args := c.runRestartable(inner, outer, protected, f)
		if clause < 0 {
			return v
		}
		return c.apply(clauses[clause].function(c, f).(*Function), c.Slice(args))
	}}
}

// restartClause compiles (name lambda-list {option value} . body).
func (cp *Compiler) restartClause(part Value, sc *scope) *restartClause {
	clause := cp.Forms(part)
	if len(clause) < 2 {
		cp.Fail(ProgramError, "a clause of restart-case needs a name and a lambda list: %s", Sketch(part, formLength))
	}
	k := &restartClause{name: cp.TakeSymbol(clause[0])}
	body := clause[2:]
	for len(body) > 1 && (body[0] == kwReport || body[0] == kwInteractive || body[0] == kwTest) {
		value := body[1]
		if _, text := value.(*String); !text {
			value = Form(symFunction, value)
		}
		compiled := cp.compile(value, sc).one()
		switch body[0] {
		case kwReport:
			k.report = compiled
		case kwInteractive:
			k.interactive = compiled
		case kwTest:
			k.test = compiled
		}
		body = body[2:]
	}
	k.function = cp.compileLambda("", &Cons{Car: clause[1], Cdr: NewList(body...)}, sc, lambdaKind{})
	return k
}

// associated rewrites a form that signals, so that the restarts around it are known to
// serve its condition.
func (cp *Compiler) associated(form Value, sc *scope, count int) Value {
	for {
		cp.Step()
		expansion, ok := cp.expandOnce(form, sc)
		if !ok {
			break
		}
		form = expansion
	}
	cell, ok := form.(*Cons)
	if !ok {
		return form
	}
	head, ok := cell.Car.(*Symbol)
	fallback, known := map[string]string{"ERROR": SimpleError, "CERROR": SimpleError, "SIGNAL": simpleCondition, "WARN": simpleWarning}[cp.nameOf(head)]
	if !ok || !known || head.home != standardPackage {
		return form
	}
	first := 0
	if head.name == "CERROR" {
		first = 1
	}
	signal := cp.language.functions[head]
	associating := &Function{name: head.name, least: 1 + first, most: -1, many: true, call: func(c *Call, args []Value) Value {
		condition := c.condition(args[first:], fallback)
		r := c.restarts
		for range count {
			r.conditions = append(r.conditions, condition)
			r = r.outer
		}
		if first > 0 { // the format control of cerror is given the arguments, too
			return c.continuable(args[0], condition, args[2:])
		}
		return c.apply(signal, []Value{condition})
	}}
	return &Cons{Car: symFuncall, Cdr: &Cons{Car: associating, Cdr: cell.Cdr}, line: cell.line, column: cell.column}
}

func (cp *Compiler) nameOf(symbol *Symbol) string {
	if symbol == nil {
		return ""
	}
	return symbol.name
}

// runRestartable runs body under the restarts from inner to outer, which continue
// here. clause is -1 when it returned.
func (c *Call) runRestartable(inner, outer *restart, body code, f *frame) (v Value, clause int, args Value) {
	point := c.newExitPoint()
	defer func() {
		if e, ok := c.landed(point); ok {
			recover()
			clause, args = e.index, e.value
		}
	}()
	for r := inner; r != outer; r = r.outer {
		r.point = point
	}
	c.restarts = inner
	v = body(c, f)
	c.restarts = outer
	return v, -1, nil
}

func compileRestartBind(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 1, -1)
	var clauses []*restartClause
	for _, part := range cp.Forms(parts[0]) {
		binding := cp.Forms(part)
		if len(binding) < 2 || len(binding)%2 != 0 {
			cp.Fail(ProgramError, "malformed restart binding: %s", Sketch(part, formLength))
		}
		k := &restartClause{name: cp.TakeSymbol(binding[0]), function: cp.compile(binding[1], sc).one()}
		for i := 2; i < len(binding); i += 2 {
			value := cp.compile(binding[i+1], sc).one()
			switch binding[i] {
			case kwReportFunction:
				k.report = value
			case kwInteractiveFunction:
				k.interactive = value
			case kwTestFunction:
				k.test = value
			default:
				cp.Fail(ProgramError, "unknown option %s of restart-bind", Sketch(binding[i], formLength))
			}
		}
		clauses = append(clauses, k)
	}
	body := cp.body(form.Cdr.(*Cons).Cdr, sc)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		outer := c.restarts
		inner := outer
		for i := len(clauses) - 1; i >= 0; i-- {
			inner = clauses[i].make(c, f, inner)
			inner.function = c.Function(clauses[i].function(c, f))
		}
		c.restarts = inner
		v := body.run(c, f)
		c.restarts = outer
		return v
	}}
}

func compileWithConditionRestarts(cp *Compiler, form *Cons, sc *scope) expression {
	parts := cp.Arguments(form, 2, -1)
	condition, restarts := cp.compile(parts[0], sc).one(), cp.compile(parts[1], sc).one()
	body := cp.body(form.Cdr.(*Cons).Cdr.(*Cons).Cdr, sc)
	return expression{many: body.many, run: func(c *Call, f *frame) Value {
		served := condition(c, f)
		var changed []*restart
		for _, v := range c.Slice(restarts(c, f)) {
			r := c.restart(v)
			r.conditions = append(r.conditions, served)
			changed = append(changed, r)
		}
		v := body.run(c, f)
		for _, r := range changed {
			r.conditions = r.conditions[:len(r.conditions)-1]
		}
		return v
	}}
}

func (c *Call) restart(v Value) *restart {
	r, ok := v.(*restart)
	if !ok {
		c.TypeError(v, "RESTART")
	}
	return r
}

// restartFunctions find and take restarts.
func restartFunctions() []Builtin {
	return []Builtin{
		{Name: "invoke-restart", LambdaList: "(restart &rest arguments)", Doc: "Continue at an active restart.", Many: true, Call: func(c *Call, args []Value) Value {
			return c.invokeRestart(args[0], nil, args[1:])
		}},
		{Name: "invoke-restart-interactively", LambdaList: "(restart)", Doc: "Continue at an active restart with the arguments it asks for.", Many: true, One: func(c *Call, a Value) Value {
			r := c.findRestart(a, nil)
			if r == nil {
				c.Fail(controlError, "No restart %s is active.", c.Shown(a))
			}
			var args []Value
			if r.interactive != nil {
				args = c.Slice(Single(c.apply(r.interactive, nil)))
			}
			return c.take(r, args)
		}},
		{Name: "find-restart", LambdaList: "(name &optional condition)", Doc: "The active restart of that name, or nil.", Named: func(c *Call, args Args) Value {
			if r := c.findRestart(args.Get("name"), args.Get("condition")); r != nil {
				return r
			}
			return Nil
		}},
		{Name: "compute-restarts", LambdaList: "(&optional condition)", Doc: "All active restarts, innermost first.", Named: func(c *Call, args Args) Value {
			condition := args.Get("condition")
			b := NewListBuilder(c)
			for r := c.restarts; r != nil; r = r.outer {
				if c.serves(r, condition) {
					b.Add(r)
				}
			}
			return b.List()
		}},
		{Name: "restart-name", LambdaList: "(restart)", Doc: "The name of a restart.", One: func(c *Call, a Value) Value { return c.restart(a).name }},
		restartFunction("abort", symAbort, true),
		restartFunction("continue", symContinue, false),
		restartFunction("muffle-warning", symMuffleWarning, true),
		valueRestart("use-value", symUseValue),
		valueRestart("store-value", symStoreValue),
		{Name: "cerror", LambdaList: "(continue-format datum &rest arguments)", Doc: "Signal an error that can be continued.", Call: func(c *Call, args []Value) Value {
			return c.continuable(args[0], c.condition(args[1:], SimpleError), args[2:])
		}},
		{Name: "warn", LambdaList: "(datum &rest arguments)", Doc: "Signal a warning, or print it if nobody handles it.", Check: checkClassNamed, Call: warn},
	}
}

func restartFunction(name string, symbol *Symbol, must bool) Builtin {
	return Builtin{Name: name, LambdaList: "(&optional condition)", Doc: "Invoke the restart of this name.", Many: true, Named: func(c *Call, args Args) Value {
		condition := args.Get("condition")
		if !must && c.findRestart(symbol, condition) == nil {
			return Nil
		}
		return c.invokeRestart(symbol, condition, nil)
	}}
}

func valueRestart(name string, symbol *Symbol) Builtin {
	return Builtin{Name: name, LambdaList: "(value &optional condition)", Doc: "Invoke the restart of this name with a value, if it is active.", Many: true, Named: func(c *Call, args Args) Value {
		condition := args.Get("condition")
		if c.findRestart(symbol, condition) == nil {
			return Nil
		}
		return c.invokeRestart(symbol, condition, []Value{args.Get("value")})
	}}
}

// continuable signals an error within the restart continue, which a format control
// and its arguments report.
func (c *Call) continuable(control Value, condition *Instance, args []Value) Value {
	args = Clone(c, args)
	report := Allocate(c, Function{name: "REPORT", least: 1, most: 1, one: func(c *Call, stream Value) Value {
		return c.apply(c.environment.language.functions[CL("FORMAT")], Append(c, []Value{stream, control}, args...))
	}})
	r := Allocate(c, restart{outer: c.restarts, name: symContinue, report: report, conditions: []Value{condition}})
	c.runRestartable(r, c.restarts, func(c *Call, _ *frame) Value {
		c.signalError(condition)
		return nil
	}, nil)
	return Nil
}

func warn(c *Call, args []Value) Value {
	condition := c.condition(args, simpleWarning)
	if !condition.class.isA(c.environment.language.classes[CL("WARNING")]) {
		c.TypeError(condition, "WARNING")
	}
	r := &restart{outer: c.restarts, name: symMuffleWarning, report: NewString("Skip warning."), conditions: []Value{condition}}
	_, clause, _ := c.runRestartable(r, c.restarts, func(c *Call, _ *frame) Value {
		c.signal(condition)
		return Nil
	}, nil)
	if clause < 0 {
		out := c.stream(symErrorOutput)
		for _, text := range []string{"WARNING: ", c.Report(condition), "\n"} {
			c.WriteText(out, text)
		}
	}
	return Nil
}
