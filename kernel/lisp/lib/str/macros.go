package str

import (
	"strings"

	"org-agent/kernel/lisp"
)

// strFileFunctions are those of str that touch files.
func strFileFunctions() []lisp.Builtin {
	return []lisp.Builtin{
		{Name: "from-file", Needs: lisp.NeedsRead, LambdaList: "(file &key external-format)", Doc: "The text of a file.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return c.StringOf(c.FileText(c.Pathname(args.Get("file"))))
		}},
		{Name: "to-file", Needs: lisp.NeedsWrite, LambdaList: "(file string &key if-exists if-does-not-exist)", Doc: "Make a string the text of a file; the string.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			ifExists := args.Get("if-exists")
			text := c.TakeString(args.Get("string"))
			if ifExists == nil {
				ifExists = lisp.Keyword("SUPERSEDE")
			}
			if stream, ok := c.Open(c.Pathname(args.Get("file")), lisp.Opening{Direction: lisp.Keyword("OUTPUT"), IfExists: ifExists, IfMissing: args.Get("if-does-not-exist"), ElementType: nil}).(*lisp.Stream); ok {
				c.Write(stream, text.Runes())
				c.CloseStream(stream, false)
			}
			return text
		}},
	}
}

// strMacros choose by strings.
func strMacros() []lisp.Macro {
	return []lisp.Macro{
		{Name: "string-case", LambdaList: "(string &rest clauses)", Doc: "Evaluate the clause of the string: a string, a list of strings, nil or otherwise.", Expand: expandStringCase},
		{Name: "match", LambdaList: "(string &rest clauses)", Doc: "Evaluate the clause whose strings, which are patterns, are in the string; symbols between are bound to what is between, and _ to nothing.", Expand: expandStringMatch},
	}
}

func expandStringCase(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
	test := cp.Gensym("TEST")
	clauses := lisp.NewListBuilder(cp.Call)
	clause := func(condition, body lisp.Value) { clauses.Add(&lisp.Cons{Car: condition, Cdr: body}) }
	equal := func(key lisp.Value) lisp.Value {
		if _, ok := key.(*lisp.String); ok {
			return lisp.Form(lisp.CL("STRING="), test, key)
		}
		return lisp.Form(lisp.CL("EQL"), test, lisp.Form(lisp.CL("QUOTE"), key))
	}
	for _, item := range cp.Arguments(form, 1, -1)[1:] {
		cell := cp.Clause(item)
		switch key := cell.Car.(type) {
		case *lisp.Cons:
			for _, one := range cp.Forms(key) {
				clause(equal(one), cell.Cdr)
			}
		case *lisp.Symbol:
			if key.Name() == "OTHERWISE" {
				clause(lisp.T, cell.Cdr)
				break
			}
			clause(equal(key), cell.Cdr)
		default:
			clause(equal(key), cell.Cdr)
		}
	}
	return lisp.Form(lisp.CL("LET"), lisp.NewList(lisp.NewList(test, form.Cdr.(*lisp.Cons).Car)), &lisp.Cons{Car: lisp.CL("COND"), Cdr: clauses.List()})
}

func expandStringMatch(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
	parts := cp.Arguments(form, 1, -1)
	text, block := cp.Gensym("TEXT"), cp.Gensym("MATCH")
	branches := []lisp.Value{lisp.CL("BLOCK"), block}
	for _, item := range parts[1:] {
		cell := cp.Clause(item)
		body := &lisp.Cons{Car: lisp.CL("PROGN"), Cdr: cell.Cdr}
		if cell.Car == lisp.T || cell.Car == lisp.CL("OTHERWISE") {
			branches = append(branches, lisp.Form(lisp.CL("RETURN-FROM"), block, body))
			continue
		}
		branches = append(branches, matchBranch(cp, cp.Forms(cell.Car), text, block, body))
	}
	return lisp.Form(lisp.CL("LET"), lisp.NewList(lisp.NewList(text, parts[0])), lisp.NewList(branches...))
}

// matchBranch leaves the block with the value of body if the pattern of parts matches.
func matchBranch(cp *lisp.Compiler, parts []lisp.Value, text, block *lisp.Symbol, body lisp.Value) lisp.Value {
	var pattern strings.Builder
	bindings := lisp.NewListBuilder(cp.Call)
	groups := cp.Gensym("GROUPS")
	n := 0
	pattern.WriteString("^")
	for _, part := range parts {
		switch x := part.(type) {
		case *lisp.String:
			pattern.WriteString(x.String())
		case *lisp.Symbol:
			pattern.WriteString("(.*?)")
			if x.Name() != "_" {
				bindings.Add(lisp.NewList(x, lisp.Form(lisp.CL("AREF"), groups, lisp.Count(n))))
			}
			n++
		default:
			cp.Fail(lisp.ProgramError, "a pattern of str:match has strings and symbols only, not %s", cp.Shown(part))
		}
	}
	pattern.WriteString("$")
	scan := lisp.Form(cp.Lookup("CL-PPCRE:SCAN-TO-STRINGS"), lisp.NewString(pattern.String()), text)
	return lisp.Form(lisp.CL("MULTIPLE-VALUE-BIND"), lisp.NewList(cp.Gensym("MATCH"), groups), scan,
		lisp.Form(lisp.CL("WHEN"), groups, lisp.Form(lisp.CL("LET"), bindings.List(), lisp.Form(lisp.CL("RETURN-FROM"), block, body))))
}
