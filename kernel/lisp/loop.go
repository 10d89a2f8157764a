package lisp

import "strings"

// symLoopEnd names the block that loop-finish returns from.
var symLoopEnd = internalSymbol("LOOP-END")

// loopParser reads the clauses of an extended loop and collects what they become.
type loopParser struct {
	cp   *Compiler
	form *Cons
	rest []Value

	name *Symbol
	// bindings nest in the order of the clauses; each is a let of one or more variables.
	bindings []loopBinding
	// first and later are done before the body in the first round and in all others;
	// an entry may be a test (until …).
	first, later []Value
	body         []Value
	initially    []Value
	finally      []Value
	result       Value // nil: none yet
	accumulators []*accumulator
	// verdict says that always, never or thereis give the result.
	verdict bool
	// it is the value of the test that a clause stands behind, nil elsewhere.
	it *Symbol
	// named are the variables of the loop; each is bound once.
	named map[*Symbol]bool
}

type loopBinding struct {
	pattern Value
	value   Value
	// parallel joins this binding to the one before.
	parallel bool
}

// accumulator is where collect, sum and the like gather.
type accumulator struct {
	name     *Symbol // variable that holds the value
	hidden   *Symbol // collector behind a list, nil for numbers
	category string
	named    bool
}

// compileLoop compiles the simple loop, and the extended one by expanding it.
func compileLoop(cp *Compiler, form *Cons, sc *scope) expression {
	simpleLoop := true
	for _, item := range cp.Forms(form.Cdr) {
		if _, ok := item.(*Cons); !ok {
			simpleLoop = false
		}
	}
	if simpleLoop {
		return cp.compile(Form(symBlock, Nil, &Cons{Car: symForever, Cdr: form.Cdr}), sc)
	}
	p := &loopParser{cp: cp, form: form, rest: cp.Forms(form.Cdr), name: Nil, named: map[*Symbol]bool{}}
	p.parse()
	return cp.compile(p.expansion(), sc)
}

func compileLoopFinish(cp *Compiler, form *Cons, sc *scope) expression {
	cp.Arguments(form, 0, 0)
	return cp.returnFrom(symLoopEnd, nil, sc)
}

func (p *loopParser) fail(format string, args ...any) {
	p.cp.Fail(ProgramError, "in loop: "+format, args...)
}

// word is the next item as a loop keyword, "" if it is none.
func (p *loopParser) word() string {
	if len(p.rest) == 0 {
		return ""
	}
	if symbol, ok := p.rest[0].(*Symbol); ok {
		return symbol.name
	}
	return ""
}

func (p *loopParser) is(words ...string) bool {
	word := p.word()
	for _, w := range words {
		if w == word && word != "" {
			return true
		}
	}
	return false
}

// accept takes the next item if it is one of the keywords.
func (p *loopParser) accept(words ...string) bool {
	if p.is(words...) {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

// next takes one form.
func (p *loopParser) next() Value {
	if len(p.rest) == 0 {
		p.fail("a form is missing at the end of %s", Sketch(p.form, formLength))
	}
	v := p.rest[0]
	p.rest = p.rest[1:]
	return v
}

// compound takes forms until the next keyword.
func (p *loopParser) compound() []Value {
	var forms []Value
	for len(p.rest) > 0 {
		if _, ok := p.rest[0].(*Cons); !ok {
			break
		}
		forms = append(forms, p.next())
	}
	if len(forms) == 0 {
		p.fail("a compound form is expected, not %s", Sketch(Optional(p.rest, 0), formLength))
	}
	return forms
}

func (p *loopParser) parse() {
	if p.accept("NAMED") {
		p.name = p.cp.checkBlockName(p.next())
	}
	for len(p.rest) > 0 {
		switch {
		case p.accept("WITH"):
			p.with()
		case p.accept("FOR", "AS"):
			if len(p.body) > 0 {
				p.fail("for stands behind what is done in each round; move it before: %s", Sketch(p.form, formLength))
			}
			p.forClauses()
		case p.accept("INITIALLY"):
			p.initially = append(p.initially, p.compound()...)
		case p.accept("FINALLY"):
			p.finallyClause()
		case p.accept("REPEAT"):
			counter := p.cp.Gensym("COUNT")
			p.bind(counter, p.next(), false)
			test := Form(symUntil, Form(CL("<="), counter, Integer(0)))
			step := Form(symSetq, counter, Form(symMinus, counter, Integer(1)))
			p.first = append(p.first, test, step)
			p.later = append(p.later, test, step)
		case p.accept("WHILE"):
			p.test(Form(symUntil, Form(symNot, p.next())))
		case p.accept("UNTIL"):
			p.test(Form(symUntil, p.next()))
		case p.accept("ALWAYS"):
			p.body = append(p.body, Form(symUnless, p.next(), p.returning(Nil)))
			p.decide(T)
		case p.accept("NEVER"):
			p.body = append(p.body, Form(symWhen, p.next(), p.returning(Nil)))
			p.decide(T)
		case p.accept("THEREIS"):
			found := p.cp.Gensym("FOUND")
			p.body = append(p.body, Form(symLet, NewList(NewList(found, p.next())), Form(symWhen, found, p.returning(found))))
			p.decide(Nil)
		default:
			p.body = append(p.body, p.clause()...)
		}
	}
}

// test ends the loop. Before any clause of the body it stands among the steps of the
// variables, so that those after it are not stepped when it ends the loop.
func (p *loopParser) test(until Value) {
	if len(p.body) > 0 {
		p.body = append(p.body, until)
		return
	}
	p.first, p.later = append(p.first, until), append(p.later, until)
}

func (cp *Compiler) checkBlockName(v Value) *Symbol {
	symbol, ok := v.(*Symbol)
	if !ok {
		cp.Fail(ProgramError, "a block's name must be a symbol, not %s", Sketch(v, formLength))
	}
	return symbol
}

func (p *loopParser) finallyClause() {
	if p.accept("RETURN") {
		p.finally = append(p.finally, p.returning(p.next()))
		return
	}
	p.accept("DO", "DOING")
	p.finally = append(p.finally, p.compound()...)
}

func (p *loopParser) returning(v Value) Value { return Form(symReturnFrom, p.name, v) }

func (p *loopParser) setResult(v Value) {
	if p.result == nil {
		p.result = v
	}
}

// decide is the result of a loop that always, never or thereis did not end; they do not
// go with a gathered one.
func (p *loopParser) decide(v Value) {
	if p.result != nil && !p.verdict {
		p.fail("always, never and thereis give the result, which another clause gathers; gather into a variable")
	}
	p.verdict = true
	p.setResult(v)
}

func (p *loopParser) bind(pattern, value Value, parallel bool) {
	names := NewListBuilder(p.cp.Call)
	p.patternNames(pattern, &names)
	for list := names.List(); list != Nil; list = list.(*Cons).Cdr {
		name := list.(*Cons).Car.(*Symbol)
		if p.named[name] {
			p.fail("the variable %s is bound twice", name.name)
		}
		p.named[name] = true
	}
	p.bindings = append(p.bindings, loopBinding{pattern, value, parallel})
}

func (p *loopParser) with() {
	for parallel := false; ; parallel = true {
		pattern := p.next()
		kind := p.typed()
		if p.accept("=") {
			p.bind(pattern, p.next(), parallel)
		} else {
			p.bindTyped(pattern, kind, parallel)
		}
		if !p.accept("AND") {
			return
		}
	}
}

// bindTyped binds the variables of a pattern to the zero of their types, or nil.
func (p *loopParser) bindTyped(pattern, kind Value, parallel bool) {
	p.cp.Descend(4)
	defer p.cp.Ascend(4)
	cell, ok := pattern.(*Cons)
	if !ok {
		p.bind(pattern, typedZero(kind), parallel)
		return
	}
	first, rest := kind, kind
	if kinds, ok := kind.(*Cons); ok {
		first, rest = kinds.Car, kinds.Cdr
	}
	p.bindTyped(cell.Car, first, parallel)
	if cell.Cdr != Nil {
		p.bindTyped(cell.Cdr, rest, true)
	}
}

// typedZero is what a variable of a type is before anything is known of it.
func typedZero(kind Value) Value {
	if cell, ok := kind.(*Cons); ok {
		kind = cell.Car
	}
	switch s, _ := kind.(*Symbol); {
	case s == nil:
	case s.name == "FIXNUM", s.name == "INTEGER", s.name == "UNSIGNED-BYTE", s.name == "SIGNED-BYTE", s.name == "NUMBER", s.name == "REAL", s.name == "RATIONAL", s.name == "BIT":
		return Integer(0)
	case s.name == "FLOAT", s.name == "SINGLE-FLOAT", s.name == "SHORT-FLOAT":
		return float32(0)
	case s.name == "DOUBLE-FLOAT", s.name == "LONG-FLOAT":
		return float64(0)
	}
	return Nil
}

// typed takes a type declaration behind a variable; nil if there is none.
func (p *loopParser) typed() Value {
	if p.accept("OF-TYPE") || p.is("FIXNUM", "FLOAT", "T", "NIL") {
		return p.next()
	}
	return nil
}

// item takes the form of a clause, in which the word it means the value of a test.
func (p *loopParser) item() Value {
	v := p.next()
	if symbol, ok := v.(*Symbol); ok && p.it != nil && symbol.name == "IT" {
		return p.it
	}
	return v
}

// clause parses one selectable clause, with those joined to it by and.
func (p *loopParser) clause() []Value {
	switch {
	case p.accept("DO", "DOING"):
		return p.compound()
	case p.accept("RETURN"):
		return []Value{p.returning(p.item())}
	case p.is("WHEN", "IF", "UNLESS"):
		return []Value{p.conditional()}
	}
	word := p.word()
	switch strings.TrimSuffix(word, "ING") {
	case "COLLECT", "APPEND", "NCONC", "SUM", "SUMM", "COUNT", "MAXIMIZE", "MAXIMIZ", "MINIMIZE", "MINIMIZ":
		p.rest = p.rest[1:]
		return []Value{p.accumulate(word)}
	}
	p.fail("%s is not a keyword of loop here", Sketch(Optional(p.rest, 0), formLength))
	return nil
}

// conditional parses when/if/unless test clause {and clause} [else clause {and clause}] [end].
func (p *loopParser) conditional() Value {
	negated := p.word() == "UNLESS"
	p.rest = p.rest[1:]
	test := p.next()
	it := p.cp.Gensym("IT")
	branch := func() []Value {
		outer := p.it
		p.it = it
		forms := p.clause()
		p.it = nil // only the first clause says it
		for p.accept("AND") {
			forms = append(forms, p.clause()...)
		}
		p.it = outer
		return forms
	}
	then := branch()
	var otherwise []Value
	if p.accept("ELSE") {
		otherwise = branch()
	}
	p.accept("END")
	if negated {
		then, otherwise = otherwise, then
	}
	return Form(symLet, NewList(NewList(it, test)),
		Form(symIf, it, &Cons{Car: symProgn, Cdr: NewList(then...)}, &Cons{Car: symProgn, Cdr: NewList(otherwise...)}))
}

// accumulate parses form [into variable] and returns the form that gathers.
func (p *loopParser) accumulate(word string) Value {
	form := p.item()
	var into *Symbol
	if p.accept("INTO") {
		into = p.cp.checkBindable(p.next())
	}
	kind := p.typed()
	category := "list"
	switch word[0] {
	case 'S':
		category = "number"
	case 'M':
		category = "extreme"
	case 'C':
		if strings.HasPrefix(word, "COUNT") {
			category = "number"
		}
	}
	a := p.accumulator(into, category, kind)
	switch {
	case strings.HasPrefix(word, "COLLECT"):
		return Form(symSetq, a.name, Form(symFuncall, Form(symQuote, collectItem), a.hidden, form))
	case strings.HasPrefix(word, "APPEND"):
		return Form(symSetq, a.name, Form(symFuncall, Form(symQuote, collectList), a.hidden, form, T))
	case strings.HasPrefix(word, "NCONC"):
		return Form(symSetq, a.name, Form(symFuncall, Form(symQuote, collectList), a.hidden, form, Nil))
	case strings.HasPrefix(word, "SUM"):
		return Form(symSetq, a.name, Form(symPlus, a.name, form))
	case strings.HasPrefix(word, "COUNT"):
		return Form(symWhen, form, Form(symSetq, a.name, Form(symPlus, a.name, Integer(1))))
	}
	operator := CL("MAX")
	if strings.HasPrefix(word, "MIN") {
		operator = CL("MIN")
	}
	v := p.cp.Gensym("VALUE")
	first := Form(symProgn, Form(symSetq, a.hidden, Nil), Form(operator, v))
	return Form(symLet, NewList(NewList(v, form)), Form(symSetq, a.name, Form(symIf, a.hidden, first, Form(operator, a.name, v))))
}

func (p *loopParser) accumulator(into *Symbol, category string, kind Value) *accumulator {
	for _, a := range p.accumulators {
		if a.named == (into != nil) && (into == nil || a.name == into) {
			if a.category != category {
				p.fail("two clauses gather different things in the same place")
			}
			return a
		}
	}
	a := &accumulator{name: into, category: category, named: into != nil}
	if into == nil {
		a.name = p.cp.Gensym("RESULT")
	}
	initial := Value(Nil)
	if category == "extreme" { // of nothing it is 0, as in SBCL
		a.hidden = p.cp.Gensym("FIRST")
		p.bind(a.hidden, T, false)
	}
	if category != "list" {
		initial = Integer(0)
		if zero := typedZero(kind); zero != Nil {
			initial = zero
		}
	}
	if category == "list" {
		a.hidden = p.cp.Gensym("COLLECTOR")
		p.bind(a.hidden, Form(symFuncall, Form(symQuote, newCollector)), false)
	}
	p.bind(a.name, initial, false)
	p.accumulators = append(p.accumulators, a)
	if into == nil {
		if p.verdict {
			p.fail("always, never and thereis give the result, which another clause gathers; gather into a variable")
		}
		p.setResult(a.name)
	}
	return a
}

// collector is the list a loop gathers.
type collector struct{ ListBuilder }

var newCollector = &Function{name: "COLLECTOR", call: func(c *Call, _ []Value) Value {
	return Allocate(c, collector{NewListBuilder(c)})
}}

var collectItem = &Function{name: "COLLECT", least: 2, most: 2, two: func(c *Call, a, v Value) Value {
	b := a.(*collector)
	b.Add(v)
	return b.first
}}

// collectList appends a list, copied if the third argument says so.
var collectList = &Function{name: "APPEND", least: 3, most: 3, call: func(c *Call, args []Value) Value {
	b := args[0].(*collector)
	list := args[1]
	if args[2] == Nil {
		c.join(&b.ListBuilder, list)
		return b.result()
	}
	if end := c.addCells(&b.ListBuilder, list); end != Nil && b.last != nil {
		b.last.Cdr = end
	}
	return b.result()
}}

func (b *collector) result() Value {
	if b.last == nil {
		return Nil
	}
	return b.first
}

// expansion puts the parts together.
func (p *loopParser) expansion() Value {
	inner := append(append([]Value{symForever}, p.body...), p.later...)
	rounds := append(append([]Value{symForever}, p.first...), NewList(inner...), Form(symUntil, T))
	ending := p.finally
	if p.result != nil {
		ending = append(ending[:len(ending):len(ending)], p.result)
	} else {
		ending = append(ending[:len(ending):len(ending)], Nil)
	}
	forms := append(p.initially[:len(p.initially):len(p.initially)], Form(symBlock, symLoopEnd, NewList(rounds...)))
	forms = append(forms, ending...)
	var whole Value = &Cons{Car: symProgn, Cdr: NewList(forms...)}
	for i := len(p.bindings) - 1; i >= 0; {
		group := []loopBinding{p.bindings[i]}
		for p.bindings[i].parallel && i > 0 {
			i--
			group = append([]loopBinding{p.bindings[i]}, group...)
		}
		i--
		whole = p.bound(group, whole)
	}
	return Form(symBlock, p.name, whole)
}

// bound wraps body in a let of bindings; patterns are taken apart behind it.
func (p *loopParser) bound(group []loopBinding, body Value) Value {
	variables := NewListBuilder(p.cp.Call)
	for _, b := range group {
		symbol, ok := b.pattern.(*Symbol)
		if ok && symbol != Nil {
			variables.Add(NewList(symbol, b.value))
			continue
		}
		whole := p.cp.Gensym("VALUE")
		variables.Add(NewList(whole, b.value))
		names := NewListBuilder(p.cp.Call)
		p.patternNames(b.pattern, &names)
		var assignments []Value
		p.assign(b.pattern, whole, &assignments)
		body = Form(symLet, names.List(), &Cons{Car: symProgn, Cdr: NewList(append(assignments, body)...)})
	}
	return Form(symLet, variables.List(), body)
}
