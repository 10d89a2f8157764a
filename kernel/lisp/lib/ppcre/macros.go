package ppcre

import (
	"org-agent/kernel/lisp"
)

// regexpMacros walk matches.
func regexpMacros() []lisp.Macro {
	return []lisp.Macro{
		{Name: "do-scans", LambdaList: "((match-start match-end register-starts register-ends pattern target &optional result &key start end) &body body)", Doc: "Evaluate body for each match, with its bounds and those of its registers.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := specificationOf(cp, form, 4)
			return spec.loop(cp, spec.variables, spec.body)
		}},
		{Name: "do-matches", LambdaList: "((match-start match-end pattern target &optional result &key start end) &body body)", Doc: "Evaluate body for each match, with its bounds.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := specificationOf(cp, form, 2)
			return spec.loop(cp, spec.variables, spec.body)
		}},
		{Name: "do-matches-as-strings", LambdaList: "((match pattern target &optional result &key start end sharedp) &body body)", Doc: "Evaluate body for each match, as a string.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			spec := specificationOf(cp, form, 1)
			start, end := cp.Gensym("START"), cp.Gensym("END")
			text := lisp.Form(lisp.CL("SUBSEQ"), spec.text, start, end)
			return spec.loop(cp, []lisp.Value{start, end}, lisp.NewList(lisp.FormStar(lisp.CL("LET"), spec.body, lisp.NewList(lisp.NewList(spec.variables[0], text)))))
		}},
		{Name: "do-register-groups", LambdaList: "(variables (pattern target &optional result &key start end sharedp) &body body)", Doc: "Evaluate body for each match, with variables bound to its registers.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			rest := cp.Arguments(form, 2, -1)
			spec := matchParts(cp, form, cp.Forms(rest[1]), form.Cdr.(*lisp.Cons).Cdr.(*lisp.Cons).Cdr, 0)
			bounds := boundVariables(cp)
			bindings := spec.registers(cp, rest[0], bounds)
			return spec.loop(cp, bounds, lisp.NewList(lisp.FormStar(lisp.CL("LET"), spec.body, bindings)))
		}},
		{Name: "register-groups-bind", LambdaList: "(variables (pattern target &key start end sharedp) &body body)", Doc: "Evaluate body with variables bound to the registers of the first match, if there is one.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			rest := cp.Arguments(form, 2, -1)
			parts := cp.Forms(rest[1])
			if len(parts) > 2 {
				parts = append(append(append([]lisp.Value(nil), parts[:2]...), lisp.Nil), parts[2:]...)
			}
			spec := matchParts(cp, form, parts, form.Cdr.(*lisp.Cons).Cdr.(*lisp.Cons).Cdr, 0)
			bounds := boundVariables(cp)
			body := lisp.FormStar(lisp.CL("LET*"), spec.body, spec.registers(cp, rest[0], bounds))
			return spec.around(lisp.Form(lisp.CL("MULTIPLE-VALUE-BIND"), lisp.NewList(bounds...), spec.scan(), lisp.Form(lisp.CL("WHEN"), bounds[0], body)))
		}},
		{Name: "define-parse-tree-synonym", LambdaList: "(name parse-tree)", Doc: "Let a symbol stand for a part of parse trees.", Expand: func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
			args := cp.Arguments(form, 2, 2)
			synonym := cp.Lookup("CL-PPCRE:PARSE-TREE-SYNONYM")
			return lisp.Form(lisp.CL("SETF"), lisp.Form(lisp.CL("GET"), lisp.Form(lisp.CL("QUOTE"), args[0]), lisp.Form(lisp.CL("QUOTE"), synonym)), lisp.Form(lisp.CL("QUOTE"), args[1]))
		}},
	}
}

// matchSpecification is what is said about the matches to walk.
type matchSpecification struct {
	variables []lisp.Value
	text      *lisp.Symbol // the variable that holds the target
	bindings  lisp.Value
	// pattern, start and end are the variables or constants they are in.
	pattern, start, end lisp.Value
	result, body        lisp.Value
}

// specificationOf takes the specification of a form that names n variables.
func specificationOf(cp *lisp.Compiler, form *lisp.Cons, n int) *matchSpecification {
	parts := cp.Forms(cp.Arguments(form, 1, -1)[0])
	return matchParts(cp, form, parts, form.Cdr.(*lisp.Cons).Cdr, n)
}

// matchParts takes n variables, a pattern, a target, a result and keywords.
func matchParts(cp *lisp.Compiler, form *lisp.Cons, parts []lisp.Value, body lisp.Value, n int) *matchSpecification {
	if len(parts) < n+2 {
		cp.Fail(lisp.ProgramError, "a pattern and a target are missing in %s", cp.Shown(form))
	}
	spec := &matchSpecification{variables: parts[:n], text: cp.Gensym("TEXT"), pattern: parts[n], result: lisp.Nil, body: body, start: cp.Gensym("START"), end: cp.Gensym("END")}
	target, start, end := parts[n+1], lisp.Value(lisp.Nil), lisp.Value(lisp.Nil)
	rest := parts[n+2:]
	if len(rest) > 0 {
		spec.result, rest = rest[0], rest[1:]
	}
	if len(rest)%2 != 0 {
		cp.Fail(lisp.ProgramError, "odd number of keyword arguments in %s", cp.Shown(form))
	}
	for i := 0; i < len(rest); i += 2 {
		switch rest[i] {
		case lisp.Keyword("START"):
			start = rest[i+1]
		case lisp.Keyword("END"):
			end = rest[i+1]
		case kwSharedp:
		default:
			cp.Fail(lisp.ProgramError, "unknown keyword argument %s in %s", cp.Shown(rest[i]), cp.Shown(form))
		}
	}
	var bindings []lisp.Value
	if _, constant := spec.pattern.(*lisp.String); !constant {
		pattern := cp.Gensym("PATTERN")
		bindings = append(bindings, lisp.NewList(pattern, spec.pattern))
		spec.pattern = pattern
	}
	bindings = append(bindings, lisp.NewList(spec.text, target), lisp.NewList(spec.start, lisp.Form(lisp.CL("OR"), start, lisp.Integer(0))), lisp.NewList(spec.end, end))
	spec.bindings = lisp.NewList(bindings...)
	checkPattern(cp, lisp.NewList(lisp.Nil, parts[n]).(*lisp.Cons))
	return spec
}

// around binds the variables that hold the pattern and the target.
func (s *matchSpecification) around(form lisp.Value) lisp.Value {
	return lisp.Form(lisp.CL("LET*"), s.bindings, form)
}

func (s *matchSpecification) scan() lisp.Value {
	return lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), firstMatch), s.pattern, s.text, s.start, s.end)
}

// loop walks the matches with variables bound to the values of scan.
func (s *matchSpecification) loop(cp *lisp.Compiler, variables []lisp.Value, body lisp.Value) lisp.Value {
	state := cp.Gensym("MATCHES")
	next := lisp.Form(lisp.CL("MULTIPLE-VALUE-BIND"), lisp.NewList(variables...), lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), nextMatch), state),
		lisp.Form(lisp.CL("UNLESS"), variables[0], lisp.Form(lisp.CL("RETURN-FROM"), lisp.Nil, s.result)),
		&lisp.Cons{Car: lisp.CL("LOCALLY"), Cdr: body})
	matches := lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), startMatches), s.pattern, s.text, s.start, s.end)
	return lisp.Form(lisp.CL("BLOCK"), lisp.Nil, s.around(lisp.Form(lisp.CL("LET"), lisp.NewList(lisp.NewList(state, matches)), lisp.Form(lisp.CL("LOOP"), next))))
}

func boundVariables(cp *lisp.Compiler) []lisp.Value {
	return []lisp.Value{cp.Gensym("START"), cp.Gensym("END"), cp.Gensym("STARTS"), cp.Gensym("ENDS")}
}

// registers binds variables to the registers of a match; (function variables…) converts
// those.
func (s *matchSpecification) registers(cp *lisp.Compiler, variables lisp.Value, bounds []lisp.Value) lisp.Value {
	bindings := lisp.NewListBuilder(cp.Call)
	i := 0
	bind := func(name, convert lisp.Value) {
		index := lisp.Count(i)
		i++
		if name == lisp.Nil {
			return
		}
		start, aref := cp.Gensym("START"), lisp.CL("AREF")
		text := lisp.Form(lisp.CL("SUBSEQ"), s.text, start, lisp.Form(aref, bounds[3], index))
		if convert != nil {
			text = lisp.Form(lisp.CL("FUNCALL"), convert, text)
		}
		bindings.Add(lisp.NewList(name, lisp.Form(lisp.CL("LET"), lisp.NewList(lisp.NewList(start, lisp.Form(aref, bounds[2], index))), lisp.Form(lisp.CL("WHEN"), start, text))))
	}
	for _, item := range cp.Forms(variables) {
		if cell, ok := item.(*lisp.Cons); ok {
			for _, name := range cp.Forms(cell.Cdr) {
				bind(name, cell.Car)
			}
			continue
		}
		bind(item, nil)
	}
	return bindings.List()
}

// What the macros come to: the matches of a pattern, and the bounds of the next or of
// the first one.
var (
	startMatches = lisp.NewFunction(lisp.Builtin{Name: "START-MATCHES", LambdaList: "(pattern text start end)", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
		return Search(c, args[0], args[1], args[2], args[3])
	}})
	nextMatch = lisp.NewFunction(lisp.Builtin{Name: "NEXT-MATCH", LambdaList: "(matches)", Many: true, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
		return a.(*Matches).nextBounds(c)
	}})
	firstMatch = lisp.NewFunction(lisp.Builtin{Name: "FIRST-MATCH", LambdaList: "(pattern text start end)", Many: true, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
		return Search(c, args[0], args[1], args[2], args[3]).nextBounds(c)
	}})
)

// nextBounds is the next match as scan returns it.
func (m *Matches) nextBounds(c *lisp.Call) lisp.Value {
	match, ok := m.Next()
	if !ok {
		return lisp.Nil
	}
	return c.Values(match.Bounds()...)
}
