package lisp

// regexpMacros walk matches.
func regexpMacros() []standardMacro {
	return []standardMacro{
		{"cl-ppcre:do-scans", "((match-start match-end register-starts register-ends pattern target &optional result &key start end) &body body)", "Evaluate body for each match, with its bounds and those of its registers.", func(cp *compiler, form *Cons) Value {
			spec := cp.matchSpecification(form, 4)
			return spec.loop(cp, spec.variables, spec.body)
		}},
		{"cl-ppcre:do-matches", "((match-start match-end pattern target &optional result &key start end) &body body)", "Evaluate body for each match, with its bounds.", func(cp *compiler, form *Cons) Value {
			spec := cp.matchSpecification(form, 2)
			return spec.loop(cp, spec.variables, spec.body)
		}},
		{"cl-ppcre:do-matches-as-strings", "((match pattern target &optional result &key start end sharedp) &body body)", "Evaluate body for each match, as a string.", func(cp *compiler, form *Cons) Value {
			spec := cp.matchSpecification(form, 1)
			start, end := cp.gensym("START"), cp.gensym("END")
			text := call(standardSymbol("SUBSEQ"), spec.text, start, end)
			return spec.loop(cp, []Value{start, end}, NewList(callStar(symLet, spec.body, NewList(NewList(spec.variables[0], text)))))
		}},
		{"cl-ppcre:do-register-groups", "(variables (pattern target &optional result &key start end sharedp) &body body)", "Evaluate body for each match, with variables bound to its registers.", func(cp *compiler, form *Cons) Value {
			rest := cp.arguments(form, 2, -1)
			spec := cp.matchParts(form, cp.forms(rest[1]), form.Cdr.(*Cons).Cdr.(*Cons).Cdr, 0)
			bounds := boundVariables(cp)
			bindings := spec.registers(cp, rest[0], bounds)
			return spec.loop(cp, bounds, NewList(callStar(symLet, spec.body, bindings)))
		}},
		{"cl-ppcre:register-groups-bind", "(variables (pattern target &key start end sharedp) &body body)", "Evaluate body with variables bound to the registers of the first match, if there is one.", func(cp *compiler, form *Cons) Value {
			rest := cp.arguments(form, 2, -1)
			parts := cp.forms(rest[1])
			if len(parts) > 2 {
				parts = append(append(append([]Value(nil), parts[:2]...), Nil), parts[2:]...)
			}
			spec := cp.matchParts(form, parts, form.Cdr.(*Cons).Cdr.(*Cons).Cdr, 0)
			bounds := boundVariables(cp)
			body := callStar(symLetStar, spec.body, spec.registers(cp, rest[0], bounds))
			return spec.around(call(symMVBind, NewList(bounds...), spec.scan(), call(symWhen, bounds[0], body)))
		}},
		{"cl-ppcre:define-parse-tree-synonym", "(name parse-tree)", "Let a symbol stand for a part of parse trees.", func(cp *compiler, form *Cons) Value {
			args := cp.arguments(form, 2, 2)
			synonym := cp.language.symbol("CL-PPCRE:PARSE-TREE-SYNONYM")
			return call(symSetf, call(standardSymbol("GET"), call(symQuote, args[0]), call(symQuote, synonym)), call(symQuote, args[1]))
		}},
	}
}

// matchSpecification is what is said about the matches to walk.
type matchSpecification struct {
	variables []Value
	text      *Symbol // the variable that holds the target
	bindings  Value
	// pattern, start and end are the variables or constants they are in.
	pattern, start, end Value
	result, body        Value
}

// matchSpecification takes the specification of a form that names n variables.
func (cp *compiler) matchSpecification(form *Cons, n int) *matchSpecification {
	parts := cp.forms(cp.arguments(form, 1, -1)[0])
	return cp.matchParts(form, parts, form.Cdr.(*Cons).Cdr, n)
}

// matchParts takes n variables, a pattern, a target, a result and keywords.
func (cp *compiler) matchParts(form *Cons, parts []Value, body Value, n int) *matchSpecification {
	if len(parts) < n+2 {
		cp.fail(programError, "a pattern and a target are missing in %s", sketch(form, formLength))
	}
	spec := &matchSpecification{variables: parts[:n], text: cp.gensym("TEXT"), pattern: parts[n], result: Nil, body: body, start: cp.gensym("START"), end: cp.gensym("END")}
	target, start, end := parts[n+1], Value(Nil), Value(Nil)
	rest := parts[n+2:]
	if len(rest) > 0 {
		spec.result, rest = rest[0], rest[1:]
	}
	if len(rest)%2 != 0 {
		cp.fail(programError, "odd number of keyword arguments in %s", sketch(form, formLength))
	}
	for i := 0; i < len(rest); i += 2 {
		switch rest[i] {
		case kwStart:
			start = rest[i+1]
		case kwEnd:
			end = rest[i+1]
		case kwSharedp:
		default:
			cp.fail(programError, "unknown keyword argument %s in %s", sketch(rest[i], formLength), sketch(form, formLength))
		}
	}
	var bindings []Value
	if _, constant := spec.pattern.(*String); !constant {
		pattern := cp.gensym("PATTERN")
		bindings = append(bindings, NewList(pattern, spec.pattern))
		spec.pattern = pattern
	}
	bindings = append(bindings, NewList(spec.text, target), NewList(spec.start, call(symOr, start, Integer(0))), NewList(spec.end, end))
	spec.bindings = NewList(bindings...)
	checkPattern(cp, NewList(Nil, parts[n]).(*Cons))
	return spec
}

// around binds the variables that hold the pattern and the target.
func (s *matchSpecification) around(form Value) Value { return call(symLetStar, s.bindings, form) }

func (s *matchSpecification) scan() Value {
	return call(symFuncall, call(symQuote, firstMatch), s.pattern, s.text, s.start, s.end)
}

// loop walks the matches with variables bound to the values of scan.
func (s *matchSpecification) loop(cp *compiler, variables []Value, body Value) Value {
	state := cp.gensym("MATCHES")
	next := call(symMVBind, NewList(variables...), call(symFuncall, call(symQuote, nextMatch), state),
		call(symUnless, variables[0], call(symReturnFrom, Nil, s.result)),
		&Cons{Car: standardSymbol("LOCALLY"), Cdr: body})
	matches := call(symFuncall, call(symQuote, startMatches), s.pattern, s.text, s.start, s.end)
	return call(symBlock, Nil, s.around(call(symLet, NewList(NewList(state, matches)), call(symForever, next))))
}

func boundVariables(cp *compiler) []Value {
	return []Value{cp.gensym("START"), cp.gensym("END"), cp.gensym("STARTS"), cp.gensym("ENDS")}
}

// registers binds variables to the registers of a match; (function variables…) converts
// those.
func (s *matchSpecification) registers(cp *compiler, variables Value, bounds []Value) Value {
	var bindings builder
	i := 0
	bind := func(name, convert Value) {
		index := count(i)
		i++
		if name == Nil {
			return
		}
		start, aref := cp.gensym("START"), standardSymbol("AREF")
		text := call(standardSymbol("SUBSEQ"), s.text, start, call(aref, bounds[3], index))
		if convert != nil {
			text = call(symFuncall, convert, text)
		}
		bindings.add(NewList(name, call(symLet, NewList(NewList(start, call(aref, bounds[2], index))), call(symWhen, start, text))))
	}
	for _, item := range cp.forms(variables) {
		if cell, ok := item.(*Cons); ok {
			for _, name := range cp.forms(cell.Cdr) {
				bind(name, cell.Car)
			}
			continue
		}
		bind(item, nil)
	}
	return bindings.list()
}

// What the macros come to: the matches of a pattern, and the bounds of the next or of
// the first one.
var (
	startMatches = &Function{name: "START-MATCHES", least: 4, most: 4, call: func(c *Call, args []Value) Value {
		return c.matches(args[0], args[1], args[2], args[3])
	}}
	nextMatch = &Function{name: "NEXT-MATCH", least: 1, most: 1, many: true, one: func(c *Call, a Value) Value {
		match, ok := a.(*matches).next()
		if !ok {
			return Nil
		}
		return c.values(match.bounds()...)
	}}
	firstMatch = &Function{name: "FIRST-MATCH", least: 4, most: 4, many: true, call: func(c *Call, args []Value) Value {
		return nextMatch.one(c, c.matches(args[0], args[1], args[2], args[3]))
	}}
)
