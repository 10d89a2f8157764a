package lisp

import "strings"

// strMacros choose by strings.
func strMacros() []standardMacro {
	return []standardMacro{
		{"str:string-case", "(string &rest clauses)", "Evaluate the clause of the string: a string, a list of strings, nil or otherwise.", expandStringCase},
		{"str:match", "(string &rest clauses)", "Evaluate the clause whose strings, which are patterns, are in the string; symbols between are bound to what is between, and _ to nothing.", expandStringMatch},
	}
}

func expandStringCase(cp *compiler, form *Cons) Value {
	test := cp.gensym("TEST")
	var clauses builder
	clause := func(condition, body Value) { clauses.add(&Cons{Car: condition, Cdr: body}) }
	equal := func(key Value) Value {
		if _, ok := key.(*String); ok {
			return call(standardSymbol("STRING="), test, key)
		}
		return call(symEql, test, call(symQuote, key))
	}
	for _, item := range cp.arguments(form, 1, -1)[1:] {
		cell := cp.clause(item)
		switch key := cell.Car.(type) {
		case *Cons:
			for _, one := range cp.forms(key) {
				clause(equal(one), cell.Cdr)
			}
		case *Symbol:
			if key.name == "OTHERWISE" {
				clause(T, cell.Cdr)
				break
			}
			clause(equal(key), cell.Cdr)
		default:
			clause(equal(key), cell.Cdr)
		}
	}
	return call(symLet, NewList(NewList(test, form.Cdr.(*Cons).Car)), &Cons{Car: symCond, Cdr: clauses.list()})
}

func expandStringMatch(cp *compiler, form *Cons) Value {
	parts := cp.arguments(form, 1, -1)
	text, block := cp.gensym("TEXT"), cp.gensym("MATCH")
	branches := []Value{symBlock, block}
	for _, item := range parts[1:] {
		cell := cp.clause(item)
		body := &Cons{Car: symProgn, Cdr: cell.Cdr}
		if cell.Car == T || cell.Car == symOtherwise {
			branches = append(branches, call(symReturnFrom, block, body))
			continue
		}
		branches = append(branches, cp.matchBranch(cp.forms(cell.Car), text, block, body))
	}
	return call(symLet, NewList(NewList(text, parts[0])), NewList(branches...))
}

// matchBranch leaves the block with the value of body if the pattern of parts matches.
func (cp *compiler) matchBranch(parts []Value, text, block *Symbol, body Value) Value {
	var pattern strings.Builder
	var bindings builder
	groups := cp.gensym("GROUPS")
	n := 0
	pattern.WriteString("^")
	for _, part := range parts {
		switch x := part.(type) {
		case *String:
			pattern.WriteString(x.String())
		case *Symbol:
			pattern.WriteString("(.*?)")
			if x.name != "_" {
				bindings.add(NewList(x, call(standardSymbol("AREF"), groups, count(n))))
			}
			n++
		default:
			cp.fail(programError, "a pattern of str:match has strings and symbols only, not %s", sketch(part, formLength))
		}
	}
	pattern.WriteString("$")
	scan := call(cp.language.symbol("CL-PPCRE:SCAN-TO-STRINGS"), NewString(pattern.String()), text)
	return call(symMVBind, NewList(cp.gensym("MATCH"), groups), scan,
		call(symWhen, groups, call(symLet, bindings.list(), call(symReturnFrom, block, body))))
}
