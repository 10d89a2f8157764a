package lisp

// loopForms are the operators that loops are made of.
func loopForms() []standardForm {
	return []standardForm{
		{"%forever", "(&rest steps)", "What loop and do become.", compileForever},
		{"loop", "(&rest clauses)", "Iterate as the clauses say; without clauses, for ever.", compileLoop},
		{"loop-finish", "()", "End the loop around it as if it had come to its end.", compileLoopFinish},
	}
}

// round is one step of a forever form: evaluated for its effect, or a test that ends it.
type round struct {
	run  code
	ends bool
}

// compileForever compiles (forever . steps): the steps are repeated until one of the
// form (until test) is true. Such a loop ends without a non-local exit.
func compileForever(cp *compiler, form *Cons, sc *scope) expression {
	var rounds []round
	for _, item := range cp.forms(form.Cdr) {
		if test, ok := marked(item, symUntil); ok {
			rounds = append(rounds, round{run: cp.compile(test, sc).one(), ends: true})
			continue
		}
		rounds = append(rounds, round{run: cp.compile(item, sc).run})
	}
	return simple(func(c *Call, f *frame) Value {
		for {
			c.step()
			for i := range rounds {
				if v := rounds[i].run(c, f); rounds[i].ends && v != Nil {
					return Nil
				}
			}
		}
	})
}

// iterationMacros repeat a body.
func iterationMacros() []standardMacro {
	return []standardMacro{
		{"dolist", "((variable list &optional result) &body body)", "Evaluate body for each element.", expandDolist},
		{"dotimes", "((variable count &optional result) &body body)", "Evaluate body for each integer below count.", expandDotimes},
		{"do", "(variables (test &rest result) &body body)", "Repeat with variables stepped in parallel.", func(cp *compiler, form *Cons) Value { return cp.expandDo(form, symLet, standardSymbol("PSETQ")) }},
		{"do*", "(variables (test &rest result) &body body)", "Repeat with variables stepped in order.", func(cp *compiler, form *Cons) Value { return cp.expandDo(form, symLetStar, symSetq) }},
		{"prog", "(variables &body body)", "A block with variables and tags.", func(cp *compiler, form *Cons) Value { return cp.expandProg(form, symLet) }},
		{"prog*", "(variables &body body)", "A block with variables and tags.", func(cp *compiler, form *Cons) Value { return cp.expandProg(form, symLetStar) }},
		{"with-hash-table-iterator", "((name table) &body body)", "Walk a table by calling name.", expandHashIterator},
	}
}

// specification takes the (variable form [result]) of dolist and dotimes.
func (cp *compiler) specification(form *Cons, least int) (variable, source, result Value, body Value) {
	parts := cp.arguments(form, 1, -1)
	spec := cp.forms(parts[0])
	if len(spec) < least || len(spec) > 3 {
		cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
	}
	source, result = Nil, Nil
	if len(spec) > 1 {
		source = spec[1]
	}
	if len(spec) > 2 {
		result = spec[2]
	}
	return spec[0], source, result, form.Cdr.(*Cons).Cdr
}

// tagged makes a tagbody of a body if it has tags, else a progn.
func (cp *compiler) tagged(body Value) Value {
	for _, item := range cp.forms(body) {
		if cp.checkTag(item); isTag(item) {
			return &Cons{Car: symTagbody, Cdr: body}
		}
	}
	return &Cons{Car: symProgn, Cdr: body}
}

func expandDolist(cp *compiler, form *Cons) Value {
	variable, source, result, body := cp.specification(form, 2)
	_, _, rest := cp.declarations(body, false)
	declared := declarationForms(body, rest)
	tail := cp.gensym("TAIL")
	each := callStar(symLet, listStar(append(declared, call(symSetq, tail, call(symCdr, tail)), cp.tagged(rest)), Nil), NewList(NewList(variable, call(symCar, tail))))
	ending := result
	if result != Nil {
		ending = call(symLet, NewList(NewList(variable, Nil)), variable, result)
	}
	return call(symBlock, Nil, call(symLet, NewList(NewList(tail, source)), call(symForever, call(symUntil, call(symEndp, tail)), each), ending))
}

func expandDotimes(cp *compiler, form *Cons) Value {
	variable, source, result, body := cp.specification(form, 2)
	_, _, rest := cp.declarations(body, false)
	declared := declarationForms(body, rest)
	limit := cp.gensym("LIMIT")
	loop := call(symForever, call(symUntil, call(symGreaterEqual, variable, limit)), cp.tagged(rest), call(symSetq, variable, call(symPlus, variable, Integer(1))))
	return call(symBlock, Nil, callStar(symLet, listStar(append(declared, loop, result), Nil), NewList(NewList(limit, call(standardSymbol("THE"), standardSymbol("INTEGER"), source)), NewList(variable, Integer(0)))))
}

func (cp *compiler) expandDo(form *Cons, binder, setter *Symbol) Value {
	parts := cp.arguments(form, 2, -1)
	var bindings, steps builder
	steps.add(setter)
	stepped := false
	for _, item := range cp.forms(parts[0]) {
		spec := []Value{item}
		if isList(item) {
			spec = cp.forms(item)
		}
		if len(spec) == 0 || len(spec) > 3 {
			cp.fail(programError, "malformed variable in %s", sketch(form, formLength))
		}
		bindings.add(NewList(spec[:min(len(spec), 2)]...))
		if len(spec) == 3 {
			stepped = true
			steps.add(spec[0])
			steps.add(spec[2])
		}
	}
	end := cp.forms(parts[1])
	if len(end) == 0 {
		end = []Value{Nil}
	}
	body := form.Cdr.(*Cons).Cdr.(*Cons).Cdr
	_, _, rest := cp.declarations(body, false)
	declared := declarationForms(body, rest)
	loop := []Value{call(symUntil, end[0]), cp.tagged(rest)}
	if stepped {
		loop = append(loop, steps.list())
	}
	forms := append(declared, &Cons{Car: symForever, Cdr: NewList(loop...)}, &Cons{Car: symProgn, Cdr: NewList(end[1:]...)})
	return call(symBlock, Nil, callStar(binder, NewList(forms...), bindings.list()))
}

func (cp *compiler) expandProg(form *Cons, binder *Symbol) Value {
	cp.arguments(form, 1, -1)
	rest := form.Cdr.(*Cons)
	_, _, forms := cp.declarations(rest.Cdr, false)
	declared := declarationForms(rest.Cdr, forms)
	return call(symBlock, Nil, callStar(binder, listStar(append(declared, &Cons{Car: symTagbody, Cdr: forms}, Nil), Nil), rest.Car))
}

func expandHashIterator(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 1, -1)
	spec := cp.forms(parts[0])
	if len(spec) != 2 {
		cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
	}
	entries := cp.gensym("ENTRIES")
	next := cp.gensym("NEXT")
	step := call(symIf, entries,
		call(symLet, NewList(NewList(next, call(standardSymbol("POP"), entries))), call(symValues, T, call(symCar, next), call(symCdr, next))), Nil)
	return call(symLet, NewList(NewList(entries, call(symFuncall, call(symQuote, tablePairs), spec[1]))),
		callStar(symFlet, form.Cdr.(*Cons).Cdr, NewList(NewList(spec[0], Nil, step))))
}

// tablePairs is the entries of a hash table as a list of pairs.
var tablePairs = &Function{name: "TABLE-PAIRS", least: 1, most: 1, one: func(c *Call, a Value) Value {
	var b builder
	for _, e := range c.hashTable(a).pairs(c) {
		c.charge(2 * consBytes)
		b.add(&Cons{Car: e.key, Cdr: e.value})
	}
	return b.list()
}}
