package lisp

var symMacroexpandHook = CL("*MACROEXPAND-HOOK*")

// macro is a macro of the standard, the kernel or a note.
type macro struct {
	name string
	doc  string
	list string
	// expand returns the expansion of form.
	expand func(cp *Compiler, form *Cons) Value
	// function is the expander of a macro that a note defined.
	function *Function
}

// Macro is one row of a table of macros.
type Macro struct {
	Name       string
	LambdaList string
	Doc        string
	Expand     func(cp *Compiler, form *Cons) Value
}

// macro returns the global macro named by symbol, nil if there is none.
func (e *Environment) macro(symbol *Symbol) *macro {
	if symbol.operator != nil && symbol.operator.macro != nil {
		return symbol.operator.macro
	}
	return e.ownMacro(symbol)
}

// ownMacro returns the macro that the note or the kernel defined, nil if there is none.
func (e *Environment) ownMacro(symbol *Symbol) *macro {
	if symbol.home == standardPackage || symbol.home == keywordPackage {
		return nil
	}
	if g, ok := e.globals[symbol]; ok {
		return g.macro
	}
	return e.config.Interface.offers[symbol].macro
}

// expand expands a macro form once. What it conses has no position and takes that of
// the form.
func (cp *Compiler) expand(m *macro, form *Cons) Value {
	if m.function != nil {
		return Single(cp.apply(m.function, []Value{form}))
	}
	return m.expand(cp, form)
}

// scopeArgument takes an environment as &environment gives it.
func (c *Call) scopeArgument(v Value) *scope {
	switch x := v.(type) {
	case nil:
		return nil
	case *scope:
		return x
	}
	if v != Nil {
		c.TypeError(v, "NULL")
	}
	return nil
}

// expandOnce is macroexpand-1 in a scope.
func (c *Call) expandOnce(form Value, sc *scope) (Value, bool) {
	switch x := form.(type) {
	case *Symbol:
		if v, _, ok := sc.variable(x); ok {
			return orForm(v.expansion, form)
		}
		if g, ok := c.environment.globals[x]; ok && g.expansion != nil {
			return g.expansion, true
		}
	case *Cons:
		head, ok := x.Car.(*Symbol)
		if !ok {
			break
		}
		if local, _, ok := sc.function(head); ok {
			if local.macro == nil {
				return form, false
			}
			return c.newCompiler("").expandIn(local.macro, x, sc), true
		}
		if expansion, ok := conventional(x, head); ok {
			return expansion, true
		}
		if m := c.environment.macro(head); m != nil {
			return c.newCompiler("").expandIn(m, x, sc), true
		}
	}
	return form, false
}

func orForm(expansion, form Value) (Value, bool) {
	if expansion == nil {
		return form, false
	}
	return expansion, true
}

// conventional expands the macros that the compiler takes as special forms, the way
// macroexpand-1 shows them.
func conventional(form *Cons, head *Symbol) (Value, bool) {
	rest, ok := form.Cdr.(*Cons)
	if !ok {
		return nil, false
	}
	switch head {
	case symWhen:
		return Form(symIf, rest.Car, progn(rest.Cdr)), true
	case symUnless:
		return Form(symIf, rest.Car, Nil, progn(rest.Cdr)), true
	}
	return nil, false
}

// progn makes one form of a body.
func progn(body Value) Value {
	if cell, ok := body.(*Cons); ok && cell.Cdr == Nil {
		return cell.Car
	}
	return &Cons{Car: symProgn, Cdr: body}
}

// Form builds (operator args…).
func Form(operator Value, args ...Value) Value {
	return &Cons{Car: operator, Cdr: NewList(args...)}
}

// FormStar builds (operator args… . rest).
func FormStar(operator Value, rest Value, args ...Value) Value {
	return &Cons{Car: operator, Cdr: listStar(args, rest)}
}

// expandIn expands a macro form in a scope, which macros that take places apart look
// into, by way of *macroexpand-hook*.
func (cp *Compiler) expandIn(m *macro, form *Cons, sc *scope) Value {
	outer := cp.around
	cp.around = sc
	hook := cp.touched(symMacroexpandHook)
	if hook == nil || hook == symFuncall {
		expansion := cp.expand(m, form)
		cp.around = outer
		return expansion
	}
	expander := m.function
	if expander == nil {
		expander = &Function{name: m.name, least: 2, most: 2, two: func(c *Call, form, _ Value) Value { return m.expand(cp, c.cell(form)) }}
	}
	environment := Value(Nil)
	if sc != nil {
		environment = sc
	}
	expansion := Single(cp.funcall(hook, []Value{expander, form, environment}))
	cp.around = outer
	return expansion
}

// conditionalMacros choose by value or type.
func conditionalMacros() []Macro {
	return []Macro{
		{"case", "(key &rest clauses)", "Choose a clause by EQL.", func(cp *Compiler, form *Cons) Value { return cp.expandCase(form, false) }},
		{"ecase", "(key &rest clauses)", "Like case; an error if no clause matches.", func(cp *Compiler, form *Cons) Value { return cp.expandCase(form, true) }},
		{"ccase", "(place &rest clauses)", "Like ecase, with a restart that stores a value.", func(cp *Compiler, form *Cons) Value { return cp.retried(form, CL("ECASE")) }},
		{"typecase", "(object &rest clauses)", "Choose a clause by type.", func(cp *Compiler, form *Cons) Value { return cp.expandTypecase(form, false) }},
		{"etypecase", "(object &rest clauses)", "Like typecase; an error if no clause matches.", func(cp *Compiler, form *Cons) Value { return cp.expandTypecase(form, true) }},
		{"ctypecase", "(place &rest clauses)", "Like etypecase, with a restart that stores a value.", func(cp *Compiler, form *Cons) Value { return cp.retried(form, CL("ETYPECASE")) }},
		{"prog2", "(first second &rest forms)", "Evaluate all; the value of the second.", func(cp *Compiler, form *Cons) Value {
			cp.Arguments(form, 2, -1)
			rest := form.Cdr.(*Cons)
			return Form(symProgn, rest.Car, &Cons{Car: symProg1, Cdr: rest.Cdr})
		}},
		{"assert", "(test &optional places datum &rest arguments)", "An error unless test is true.", expandAssert},
		{"check-type", "(place type &optional name)", "An error unless the value of place is of a type.", expandCheckType},
	}
}

func (cp *Compiler) expandCase(form *Cons, exhaustive bool) Value {
	parts := cp.Arguments(form, 1, -1)
	key := cp.Gensym("KEY")
	clauses := NewListBuilder(cp.Call)
	all := NewListBuilder(cp.Call)
	for i, part := range parts[1:] {
		clause := cp.Clause(part)
		if (clause.Car == T || clause.Car == symOtherwise) && !exhaustive {
			if i != len(parts)-2 {
				cp.Fail(ProgramError, "the clause %s must be the last", Sketch(clause.Car, 20))
			}
			clauses.Add(&Cons{Car: T, Cdr: bodyOrNil(clause.Cdr)})
			continue
		}
		keys := clause.Car
		if !IsList(keys) {
			keys = NewList(keys)
		}
		for _, k := range cp.Forms(keys) {
			all.Add(k)
		}
		clauses.Add(&Cons{Car: cp.caseTest(key, keys), Cdr: bodyOrNil(clause.Cdr)})
	}
	if exhaustive {
		clauses.Add(NewList(T, cp.noClause(key, &Cons{Car: symMember, Cdr: all.List()}, form)))
	}
	return Form(symLet, NewList(NewList(key, parts[0])), &Cons{Car: symCond, Cdr: clauses.List()})
}

// Clause takes a clause of a macro form, which is a list that is not empty.
func (cp *Compiler) Clause(part Value) *Cons {
	clause, ok := part.(*Cons)
	if !ok {
		cp.Fail(ProgramError, "a clause must be a list: %s", Sketch(part, formLength))
	}
	return clause
}

func (cp *Compiler) caseTest(key *Symbol, keys Value) Value {
	if cell, ok := keys.(*Cons); ok && cell.Cdr == Nil {
		return Form(symEql, key, Form(symQuote, cell.Car))
	}
	return Form(symMember, key, Form(symQuote, keys))
}

func bodyOrNil(body Value) Value {
	if body == Nil {
		return NewList(Nil)
	}
	return body
}

// noClause signals that no clause of an exhaustive case matched.
func (cp *Compiler) noClause(key *Symbol, kind, form *Cons) Value {
	return Form(symError, Form(symQuote, CL(simpleTypeErr)), kwDatum, key, kwExpectedType, Form(symQuote, kind),
		kwFormatControl, NewString("~S fell through "+form.Car.(*Symbol).name+" expression. Wanted one of ~S."),
		kwFormatArguments, Form(symList, key, Form(symQuote, kind.Cdr)))
}

func (cp *Compiler) expandTypecase(form *Cons, exhaustive bool) Value {
	parts := cp.Arguments(form, 1, -1)
	key := cp.Gensym("KEY")
	clauses := NewListBuilder(cp.Call)
	all := NewListBuilder(cp.Call)
	for _, part := range parts[1:] {
		clause := cp.Clause(part)
		if (clause.Car == T || clause.Car == symOtherwise) && !exhaustive {
			clauses.Add(&Cons{Car: T, Cdr: bodyOrNil(clause.Cdr)})
			continue
		}
		all.Add(clause.Car)
		clauses.Add(&Cons{Car: Form(symTypep, key, Form(symQuote, clause.Car)), Cdr: bodyOrNil(clause.Cdr)})
	}
	if exhaustive {
		clauses.Add(NewList(T, cp.noClause(key, &Cons{Car: symOr, Cdr: all.List()}, form)))
	}
	return Form(symLet, NewList(NewList(key, parts[0])), &Cons{Car: symCond, Cdr: clauses.List()})
}

// placeMacros change places.
func placeMacros() []Macro {
	return []Macro{
		{"push", "(object place)", "Put an object in front of a list.", func(cp *Compiler, form *Cons) Value {
			parts := cp.Arguments(form, 2, 2)
			object := cp.Gensym("OBJECT")
			p := cp.expandPlace(parts[1], cp.around)
			return Form(symLet, NewList(NewList(object, parts[0])), p.storing(Form(symCons, object, p.read)))
		}},
		{"pushnew", "(object place &key test test-not key)", "Put an object in front of a list unless it is in it.", func(cp *Compiler, form *Cons) Value {
			parts := cp.Arguments(form, 2, -1)
			object := cp.Gensym("OBJECT")
			p := cp.expandPlace(parts[1], cp.around)
			return Form(symLet, NewList(NewList(object, parts[0])), p.storing(FormStar(CL("ADJOIN"), NewList(parts[2:]...), object, p.read)))
		}},
		{"pop", "(place)", "Take the first object off a list.", func(cp *Compiler, form *Cons) Value {
			p := cp.expandPlace(cp.Arguments(form, 1, 1)[0], cp.around)
			list := cp.Gensym("LIST")
			return p.around(Form(symLet, NewList(NewList(list, p.read)), Form(symLet, NewList(NewList(p.stores[0], Form(symCdr, list))), p.write), Form(symCar, list)))
		}},
		{"incf", "(place &optional delta)", "Add to a number.", func(cp *Compiler, form *Cons) Value { return cp.modify(form, symPlus) }},
		{"decf", "(place &optional delta)", "Subtract from a number.", func(cp *Compiler, form *Cons) Value { return cp.modify(form, symMinus) }},
		{"remf", "(place indicator)", "Remove a property.", func(cp *Compiler, form *Cons) Value {
			parts := cp.Arguments(form, 2, 2)
			p := cp.expandPlace(parts[0], cp.around)
			found := cp.Gensym("FOUND")
			return p.around(Form(symMVBind, NewList(p.stores[0], found), Form(symFuncall, Form(symQuote, removeFunction), p.read, parts[1]), p.write, found))
		}},
		{"psetf", "(&rest pairs)", "Set places in parallel.", func(cp *Compiler, form *Cons) Value { return cp.parallel(form) }},
		{"psetq", "(&rest pairs)", "Set variables in parallel.", func(cp *Compiler, form *Cons) Value { return cp.parallel(form) }},
		{"rotatef", "(&rest places)", "Move values to the left, the first to the last.", func(cp *Compiler, form *Cons) Value { return cp.rotate(form, true) }},
		{"shiftf", "(place &rest places-and-value)", "Move values to the left; the value of the first.", func(cp *Compiler, form *Cons) Value { return cp.rotate(form, false) }},
		{"multiple-value-setq", "(variables form)", "Set variables to values.", func(cp *Compiler, form *Cons) Value {
			parts := cp.Arguments(form, 2, 2)
			if parts[0] == Nil {
				return Form(symValues, parts[1])
			}
			return Form(symValues, Form(symSetf, &Cons{Car: symValues, Cdr: parts[0]}, parts[1]))
		}},
		{"define-modify-macro", "(name lambda-list function &optional doc)", "Define a macro that changes a place by a function.", expandDefineModifyMacro},
		{"defstruct", "(name &rest slots)", "Define a structure.", expandDefstruct},
	}
}

// removeFunction is what remf calls: the list without a property, and whether it was
// there.
var removeFunction = &Function{name: "REMF", least: 2, most: 2, many: true, call: func(c *Call, args []Value) Value {
	list, found := c.removeProperty(args[0], args[1])
	return c.Values(list, Boolean(found))
}}

func (cp *Compiler) modify(form *Cons, operator *Symbol) Value {
	parts := cp.Arguments(form, 1, 2)
	delta := Value(Integer(1))
	if len(parts) == 2 {
		delta = parts[1]
	}
	_, computed := delta.(*Cons)
	if symbol, ok := parts[0].(*Symbol); ok && !computed && !cp.symbolMacro(symbol, cp.around) {
		return Form(symSetq, symbol, Form(operator, symbol, delta))
	}
	p := cp.expandPlace(parts[0], cp.around)
	if computed { // before the place is read, which it may change
		temporary := cp.Gensym("DELTA")
		p.temporaries, p.values = append(p.temporaries, temporary), append(p.values, delta)
		delta = temporary
	}
	return p.storing(Form(operator, p.read, delta))
}

func (cp *Compiler) parallel(form *Cons) Value {
	parts := cp.Forms(form.Cdr)
	if len(parts)%2 != 0 {
		cp.Fail(ProgramError, "pairs of a place and a value are needed: %s", Sketch(form, formLength))
	}
	result := Value(Nil)
	for i := len(parts) - 2; i >= 0; i -= 2 {
		p := cp.expandPlace(parts[i], cp.around)
		result = p.around(p.bound(parts[i+1], result, p.write, Nil))
	}
	return result
}

// rotate is rotatef, or shiftf when the last part is a value.
func (cp *Compiler) rotate(form *Cons, cycle bool) Value {
	parts := cp.Forms(form.Cdr)
	if !cycle && len(parts) < 2 {
		cp.Fail(ProgramError, "shiftf needs a place and a value: %s", Sketch(form, formLength))
	}
	if len(parts) == 0 {
		return Nil
	}
	n := len(parts)
	last := Value(Nil)
	if !cycle {
		n--
		last = parts[n]
	}
	places := make([]*place, n)
	for i := range places {
		places[i] = cp.expandPlace(parts[i], cp.around)
	}
	if cycle {
		last = places[0].read
	}
	// All values are read, the new ones into the store variables, before any is written.
	var body, result Value = Nil, Nil
	var kept []*Symbol
	if !cycle {
		values := NewListBuilder(cp.Call)
		for range places[0].stores {
			kept = append(kept, cp.Gensym("FIRST"))
			values.Add(kept[len(kept)-1])
		}
		result = &Cons{Car: symValues, Cdr: values.List()}
	}
	writes := NewListBuilder(cp.Call)
	writes.Add(symProgn)
	for _, p := range places {
		writes.Add(p.write)
	}
	writes.Add(result)
	body = writes.List()
	for i := n - 1; i >= 0; i-- {
		next := last
		if i+1 < n {
			next = places[i+1].read
		}
		body = places[i].bound(next, body)
	}
	if !cycle {
		body = bindValues(kept, places[0].read, body)
	}
	for i := n - 1; i >= 0; i-- {
		body = places[i].around(body)
	}
	return body
}

// expandDefineModifyMacro defines a macro whose expansion evaluates the place once.
func expandDefineModifyMacro(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 3, 4)
	target := cp.Gensym("PLACE")
	list := cp.parseLambdaList(parts[1], false)
	if list.hasKeys || len(list.aux) > 0 {
		cp.Fail(ProgramError, "a modify macro takes only required, optional and rest parameters: %s", Sketch(parts[1], formLength))
	}
	passed := NewListBuilder(cp.Call)
	for _, name := range list.required {
		passed.Add(name)
	}
	for _, p := range list.optional {
		passed.Add(p.name)
	}
	rest := list.rest
	if rest == nil {
		rest = Nil
	}
	expansion := FormStar(symListStar, passed.listStar(NewList(rest)), Form(symQuote, symModify), target, Form(symQuote, parts[2]))
	body := []Value{expansion}
	if len(parts) == 4 {
		body = []Value{parts[3], expansion}
	}
	return FormStar(CL("DEFMACRO"), NewList(body...), parts[0], &Cons{Car: target, Cdr: parts[1]})
}

// resourceMacros establish something around a body.
func resourceMacros() []Macro {
	simpleRestart := func(cp *Compiler, form *Cons) Value {
		parts := cp.Arguments(form, 1, -1)
		restart := cp.Forms(parts[0])
		if len(restart) < 2 {
			cp.Fail(ProgramError, "a restart needs a name and a format string: %s", Sketch(form, formLength))
		}
		stream := cp.Gensym("STREAM")
		report := Form(symLambda, NewList(stream), FormStar(CL("FORMAT"), NewList(restart[1:]...), stream))
		return Form(CL("RESTART-CASE"), &Cons{Car: symProgn, Cdr: form.Cdr.(*Cons).Cdr}, NewList(restart[0], Nil, kwReport, report, Form(symValues, Nil, T)))
	}
	return []Macro{
		{"with-simple-restart", "((name format &rest arguments) &body body)", "Establish a restart that returns nil and t.", simpleRestart},
		{"time", "(form)", "The values of form, and on *trace-output* how long it took.", timed},
		{"step", "(form)", "The values of form.", func(cp *Compiler, form *Cons) Value { return cp.Arguments(form, 1, 1)[0] }},
	}
}

func declarationForms(body, rest Value) []Value {
	var forms []Value
	for body != rest {
		cell := body.(*Cons)
		forms = append(forms, cell.Car)
		body = cell.Cdr
	}
	return forms
}

// compileQuasiquote compiles a backquoted form into calls that build it.
func compileQuasiquote(cp *Compiler, form *Cons, sc *scope) expression {
	return cp.compile(cp.quasiquote(cp.Arguments(form, 1, 1)[0], 1), sc)
}

func compileUnquote(cp *Compiler, form *Cons, _ *scope) expression {
	cp.Fail(readerError, "a comma is not inside a backquote: %s", Sketch(form, formLength))
	return expression{}
}

// marked returns the operand of (operator operand).
func marked(v Value, operator *Symbol) (Value, bool) {
	cell, ok := v.(*Cons)
	if !ok || cell.Car != operator {
		return nil, false
	}
	rest, ok := cell.Cdr.(*Cons)
	if !ok || rest.Cdr != Nil {
		return nil, false
	}
	return rest.Car, true
}

// operands returns those of (operator operand…): one as it is written, and as many as
// the inner comma spliced in where two were nested, as in `(… `(… ,,@list)).
func (cp *Compiler) operands(v Value, operator *Symbol) ([]Value, bool) {
	cell, ok := v.(*Cons)
	if !ok || cell.Car != operator {
		return nil, false
	}
	return cp.Forms(cell.Cdr), true
}

// laterUnquote builds a comma that belongs to an outer backquote, of operands that this
// one may have something to fill into.
func (cp *Compiler) laterUnquote(operator *Symbol, operands []Value, level int) Value {
	return Form(symAppend, Form(symList, Form(symQuote, operator)), cp.quasiquoteList(NewList(operands...), level-1))
}

// quasiquote returns a form that builds template; level counts backquotes around it.
func (cp *Compiler) quasiquote(template Value, level int) Value {
	cp.Descend(4)
	defer cp.Ascend(4)
	if inner, ok := marked(template, symUnquote); ok && level == 1 {
		return inner
	}
	if operands, ok := cp.operands(template, symUnquote); ok && level > 1 {
		return cp.laterUnquote(symUnquote, operands, level)
	}
	if inner, ok := marked(template, symQuasiquote); ok {
		return Form(symList, Form(symQuote, symQuasiquote), cp.quasiquote(inner, level+1))
	}
	switch x := template.(type) {
	case *Cons:
		return cp.quasiquoteList(x, level)
	case *Vector:
		return Form(symCoerce, cp.quasiquote(NewList(x.elements...), level), Form(symQuote, symVector))
	case *Symbol:
		if x == Nil || x == T || x.Keyword() {
			return x
		}
		return Form(symQuote, x)
	}
	return template
}

// quasiquoteList builds a list from its parts: single elements are consed, spliced ones
// appended, and constant parts quoted whole.
func (cp *Compiler) quasiquoteList(list Value, level int) Value {
	if cp.plainData(list) {
		return Form(symQuote, list)
	}
	var parts []Value
	var pending []Value
	flush := func() {
		if len(pending) > 0 {
			parts = Append(cp.Call, parts, Value(cp.Cons(symList, cp.NewList(pending))))
			pending = nil
		}
	}
	rest := list
	for {
		cell, ok := rest.(*Cons)
		if !ok {
			break
		}
		if _, ok := marked(cell, symUnquote); ok {
			break // `(a . ,b)
		}
		if _, ok := marked(cell, symQuasiquote); ok {
			break
		}
		if operands, ok := cp.operands(cell.Car, symUnquoteSplicing); ok && level == 1 {
			flush()
			parts = Append(cp.Call, parts, operands...)
		} else if ok {
			pending = Append(cp.Call, pending, cp.laterUnquote(symUnquoteSplicing, operands, level))
		} else if operands, ok := cp.operands(cell.Car, symUnquote); ok && level == 1 {
			pending = Append(cp.Call, pending, operands...)
		} else {
			pending = Append(cp.Call, pending, cp.quasiquote(cell.Car, level))
		}
		rest = cell.Cdr
	}
	if rest == Nil && len(parts) == 0 {
		return &Cons{Car: symList, Cdr: NewList(pending...)}
	}
	flush()
	if rest != Nil {
		parts = append(parts, cp.quasiquote(rest, level))
	}
	if len(parts) == 1 && rest == Nil {
		// One spliced part: shared as it is.
		return parts[0]
	}
	return &Cons{Car: symAppend, Cdr: NewList(parts...)}
}

// plainData reports that nothing in a template is evaluated.
func (cp *Compiler) plainData(v Value) bool {
	cp.Descend(2)
	defer cp.Ascend(2)
	for {
		cp.Step()
		switch x := v.(type) {
		case *Symbol:
			return x != symUnquote && x != symUnquoteSplicing && x != symQuasiquote
		case *Vector:
			for _, element := range x.elements {
				if !cp.plainData(element) {
					return false
				}
			}
			return true
		case *Cons:
			if !cp.plainData(x.Car) {
				return false
			}
			v = x.Cdr
		default:
			return true
		}
	}
}
