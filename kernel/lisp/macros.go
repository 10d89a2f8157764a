package lisp

// conditionalMacros choose by value or type.
func conditionalMacros() []standardMacro {
	return []standardMacro{
		{"case", "(key &rest clauses)", "Choose a clause by EQL.", func(cp *compiler, form *Cons) Value { return cp.expandCase(form, false) }},
		{"ecase", "(key &rest clauses)", "Like case; an error if no clause matches.", func(cp *compiler, form *Cons) Value { return cp.expandCase(form, true) }},
		{"ccase", "(place &rest clauses)", "Like ecase, with a restart that stores a value.", func(cp *compiler, form *Cons) Value { return cp.retried(form, standardSymbol("ECASE")) }},
		{"typecase", "(object &rest clauses)", "Choose a clause by type.", func(cp *compiler, form *Cons) Value { return cp.expandTypecase(form, false) }},
		{"etypecase", "(object &rest clauses)", "Like typecase; an error if no clause matches.", func(cp *compiler, form *Cons) Value { return cp.expandTypecase(form, true) }},
		{"ctypecase", "(place &rest clauses)", "Like etypecase, with a restart that stores a value.", func(cp *compiler, form *Cons) Value { return cp.retried(form, standardSymbol("ETYPECASE")) }},
		{"prog2", "(first second &rest forms)", "Evaluate all; the value of the second.", func(cp *compiler, form *Cons) Value {
			cp.arguments(form, 2, -1)
			rest := form.Cdr.(*Cons)
			return call(symProgn, rest.Car, &Cons{Car: symProg1, Cdr: rest.Cdr})
		}},
		{"assert", "(test &optional places datum &rest arguments)", "An error unless test is true.", expandAssert},
		{"check-type", "(place type &optional name)", "An error unless the value of place is of a type.", expandCheckType},
	}
}

func (cp *compiler) expandCase(form *Cons, exhaustive bool) Value {
	parts := cp.arguments(form, 1, -1)
	key := cp.gensym("KEY")
	var clauses, all builder
	for i, part := range parts[1:] {
		clause := cp.clause(part)
		if (clause.Car == T || clause.Car == symOtherwise) && !exhaustive {
			if i != len(parts)-2 {
				cp.fail(programError, "the clause %s must be the last", sketch(clause.Car, 20))
			}
			clauses.add(&Cons{Car: T, Cdr: bodyOrNil(clause.Cdr)})
			continue
		}
		keys := clause.Car
		if !isList(keys) {
			keys = NewList(keys)
		}
		for _, k := range cp.forms(keys) {
			all.add(k)
		}
		clauses.add(&Cons{Car: cp.caseTest(key, keys), Cdr: bodyOrNil(clause.Cdr)})
	}
	if exhaustive {
		clauses.add(NewList(T, cp.noClause(key, &Cons{Car: symMember, Cdr: all.list()}, form)))
	}
	return call(symLet, NewList(NewList(key, parts[0])), &Cons{Car: symCond, Cdr: clauses.list()})
}

func (cp *compiler) clause(part Value) *Cons {
	clause, ok := part.(*Cons)
	if !ok {
		cp.fail(programError, "a clause must be a list: %s", sketch(part, formLength))
	}
	return clause
}

func (cp *compiler) caseTest(key *Symbol, keys Value) Value {
	if cell, ok := keys.(*Cons); ok && cell.Cdr == Nil {
		return call(symEql, key, call(symQuote, cell.Car))
	}
	return call(symMember, key, call(symQuote, keys))
}

func bodyOrNil(body Value) Value {
	if body == Nil {
		return NewList(Nil)
	}
	return body
}

// noClause signals that no clause of an exhaustive case matched.
func (cp *compiler) noClause(key *Symbol, kind, form *Cons) Value {
	return call(symError, call(symQuote, standardSymbol(simpleTypeErr)), kwDatum, key, kwExpectedType, call(symQuote, kind),
		kwFormatControl, NewString("~S fell through "+form.Car.(*Symbol).name+" expression. Wanted one of ~S."),
		kwFormatArguments, call(symList, key, call(symQuote, kind.Cdr)))
}

func (cp *compiler) expandTypecase(form *Cons, exhaustive bool) Value {
	parts := cp.arguments(form, 1, -1)
	key := cp.gensym("KEY")
	var clauses, all builder
	for _, part := range parts[1:] {
		clause := cp.clause(part)
		if (clause.Car == T || clause.Car == symOtherwise) && !exhaustive {
			clauses.add(&Cons{Car: T, Cdr: bodyOrNil(clause.Cdr)})
			continue
		}
		all.add(clause.Car)
		clauses.add(&Cons{Car: call(symTypep, key, call(symQuote, clause.Car)), Cdr: bodyOrNil(clause.Cdr)})
	}
	if exhaustive {
		clauses.add(NewList(T, cp.noClause(key, &Cons{Car: symOr, Cdr: all.list()}, form)))
	}
	return call(symLet, NewList(NewList(key, parts[0])), &Cons{Car: symCond, Cdr: clauses.list()})
}

// placeMacros change places.
func placeMacros() []standardMacro {
	return []standardMacro{
		{"push", "(object place)", "Put an object in front of a list.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 2, 2)
			object := cp.gensym("OBJECT")
			p := cp.expandPlace(parts[1], cp.around)
			return call(symLet, NewList(NewList(object, parts[0])), p.storing(call(symCons, object, p.read)))
		}},
		{"pushnew", "(object place &key test test-not key)", "Put an object in front of a list unless it is in it.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 2, -1)
			object := cp.gensym("OBJECT")
			p := cp.expandPlace(parts[1], cp.around)
			return call(symLet, NewList(NewList(object, parts[0])), p.storing(callStar(standardSymbol("ADJOIN"), NewList(parts[2:]...), object, p.read)))
		}},
		{"pop", "(place)", "Take the first object off a list.", func(cp *compiler, form *Cons) Value {
			p := cp.expandPlace(cp.arguments(form, 1, 1)[0], cp.around)
			list := cp.gensym("LIST")
			return p.around(call(symLet, NewList(NewList(list, p.read)), call(symLet, NewList(NewList(p.stores[0], call(symCdr, list))), p.write), call(symCar, list)))
		}},
		{"incf", "(place &optional delta)", "Add to a number.", func(cp *compiler, form *Cons) Value { return cp.modify(form, symPlus) }},
		{"decf", "(place &optional delta)", "Subtract from a number.", func(cp *compiler, form *Cons) Value { return cp.modify(form, symMinus) }},
		{"remf", "(place indicator)", "Remove a property.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 2, 2)
			p := cp.expandPlace(parts[0], cp.around)
			found := cp.gensym("FOUND")
			return p.around(call(symMVBind, NewList(p.stores[0], found), call(symFuncall, call(symQuote, removeFunction), p.read, parts[1]), p.write, found))
		}},
		{"psetf", "(&rest pairs)", "Set places in parallel.", func(cp *compiler, form *Cons) Value { return cp.parallel(form) }},
		{"psetq", "(&rest pairs)", "Set variables in parallel.", func(cp *compiler, form *Cons) Value { return cp.parallel(form) }},
		{"rotatef", "(&rest places)", "Move values to the left, the first to the last.", func(cp *compiler, form *Cons) Value { return cp.rotate(form, true) }},
		{"shiftf", "(place &rest places-and-value)", "Move values to the left; the value of the first.", func(cp *compiler, form *Cons) Value { return cp.rotate(form, false) }},
		{"multiple-value-setq", "(variables form)", "Set variables to values.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 2, 2)
			if parts[0] == Nil {
				return call(symValues, parts[1])
			}
			return call(symValues, call(symSetf, &Cons{Car: symValues, Cdr: parts[0]}, parts[1]))
		}},
		{"define-modify-macro", "(name lambda-list function &optional doc)", "Define a macro that changes a place by a function.", expandDefineModifyMacro},
		{"defstruct", "(name &rest slots)", "Define a structure.", expandDefstruct},
	}
}

// removeFunction is what remf calls: the list without a property, and whether it was
// there.
var removeFunction = &Function{name: "REMF", least: 2, most: 2, many: true, call: func(c *Call, args []Value) Value {
	list, found := c.removeProperty(args[0], args[1])
	return c.values(list, Boolean(found))
}}

func (cp *compiler) modify(form *Cons, operator *Symbol) Value {
	parts := cp.arguments(form, 1, 2)
	delta := Value(Integer(1))
	if len(parts) == 2 {
		delta = parts[1]
	}
	_, computed := delta.(*Cons)
	if symbol, ok := parts[0].(*Symbol); ok && !computed && !cp.symbolMacro(symbol, cp.around) {
		return call(symSetq, symbol, call(operator, symbol, delta))
	}
	p := cp.expandPlace(parts[0], cp.around)
	if computed { // before the place is read, which it may change
		temporary := cp.gensym("DELTA")
		p.temporaries, p.values = append(p.temporaries, temporary), append(p.values, delta)
		delta = temporary
	}
	return p.storing(call(operator, p.read, delta))
}

func (cp *compiler) parallel(form *Cons) Value {
	parts := cp.forms(form.Cdr)
	if len(parts)%2 != 0 {
		cp.fail(programError, "pairs of a place and a value are needed: %s", sketch(form, formLength))
	}
	result := Value(Nil)
	for i := len(parts) - 2; i >= 0; i -= 2 {
		p := cp.expandPlace(parts[i], cp.around)
		result = p.around(p.bound(parts[i+1], result, p.write, Nil))
	}
	return result
}

// rotate is rotatef, or shiftf when the last part is a value.
func (cp *compiler) rotate(form *Cons, cycle bool) Value {
	parts := cp.forms(form.Cdr)
	if !cycle && len(parts) < 2 {
		cp.fail(programError, "shiftf needs a place and a value: %s", sketch(form, formLength))
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
		var values builder
		for range places[0].stores {
			kept = append(kept, cp.gensym("FIRST"))
			values.add(kept[len(kept)-1])
		}
		result = &Cons{Car: symValues, Cdr: values.list()}
	}
	var writes builder
	writes.add(symProgn)
	for _, p := range places {
		writes.add(p.write)
	}
	writes.add(result)
	body = writes.list()
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
func expandDefineModifyMacro(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 3, 4)
	target := cp.gensym("PLACE")
	list := cp.parseLambdaList(parts[1], false)
	if list.hasKeys || len(list.aux) > 0 {
		cp.fail(programError, "a modify macro takes only required, optional and rest parameters: %s", sketch(parts[1], formLength))
	}
	var passed builder
	for _, name := range list.required {
		passed.add(name)
	}
	for _, p := range list.optional {
		passed.add(p.name)
	}
	rest := list.rest
	if rest == nil {
		rest = Nil
	}
	expansion := callStar(symListStar, passed.listStar(NewList(rest)), call(symQuote, symModify), target, call(symQuote, parts[2]))
	body := []Value{expansion}
	if len(parts) == 4 {
		body = []Value{parts[3], expansion}
	}
	return callStar(standardSymbol("DEFMACRO"), NewList(body...), parts[0], &Cons{Car: target, Cdr: parts[1]})
}

// resourceMacros establish something around a body.
func resourceMacros() []standardMacro {
	simpleRestart := func(cp *compiler, form *Cons) Value {
		parts := cp.arguments(form, 1, -1)
		restart := cp.forms(parts[0])
		if len(restart) < 2 {
			cp.fail(programError, "a restart needs a name and a format string: %s", sketch(form, formLength))
		}
		stream := cp.gensym("STREAM")
		report := call(symLambda, NewList(stream), callStar(standardSymbol("FORMAT"), NewList(restart[1:]...), stream))
		return call(standardSymbol("RESTART-CASE"), &Cons{Car: symProgn, Cdr: form.Cdr.(*Cons).Cdr}, NewList(restart[0], Nil, kwReport, report, call(symValues, Nil, T)))
	}
	return []standardMacro{
		{"with-simple-restart", "((name format &rest arguments) &body body)", "Establish a restart that returns nil and t.", simpleRestart},
		{"time", "(form)", "The values of form.", func(cp *compiler, form *Cons) Value { return cp.arguments(form, 1, 1)[0] }},
		{"step", "(form)", "The values of form.", func(cp *compiler, form *Cons) Value { return cp.arguments(form, 1, 1)[0] }},
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
