package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const otherShells = "not every shell reads it alike"

// walk adds the commands and files of a text, however deep they are nested.
func (r *reader) walk(file *syntax.File, from origin) {
	at := func(node syntax.Node) origin {
		if from.line != 0 {
			return from
		}
		return origin{by: from.by, from: from.from, at: from.at, text: from.text, line: int(node.Pos().Line())}
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if r.err != nil {
			return false
		}
		switch n := node.(type) {
		case *syntax.Stmt:
			r.statement(n, at(n))
		case *syntax.DeclClause:
			r.declaration(n, at(n))
		case *syntax.ForClause:
			r.loop(n, at(n))
		case *syntax.CoprocClause:
			r.opaque(n, at(n), "it goes on in the background and can be written to")
		case *syntax.ParamExp:
			r.expansion(n, at(n))
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			if variables(n) && !r.numbers.arithmetic(n) {
				r.opaque(n, at(n), "the shell runs what the variables of arithmetic hold")
			}
		case *syntax.TestClause:
			r.test(n, at(n))
		case *syntax.SglQuoted:
			if n.Dollar && strings.Contains(n.Value, "'") {
				r.opaque(n, at(n), otherShells)
			}
		case *syntax.ExtGlob:
			r.opaque(n, at(n), "patterns of this kind are not looked into")
		case *syntax.TimeClause: // a program, where it is not first in a pipeline
			r.add(Command{Words: []Word{{Text: "time"}}, OnlyRuns: true}, at(n))
		case *syntax.Assign:
			if n.Name != nil && !isName(n.Name.Value) {
				r.opaque(n, at(n), "it is an assignment to one shell and a program to another")
			}
			if n.Index != nil && variables(n.Index) {
				r.opaque(n, at(n), "the shell runs what the variables of arithmetic hold")
			}
		}
		return true
	})
}

// opaque adds a command of which nothing is known.
func (r *reader) opaque(node syntax.Node, from origin, why string) {
	r.add(Command{Words: []Word{{Text: r.written(node), Kind: Many}}, Opaque: []Opacity{{Why: why, At: -1}}}, from)
}

func (r *reader) add(c Command, from origin) int {
	c.By, c.From, c.At, c.Text, c.Line = from.by, from.from, from.at, from.text, from.line
	c.After, c.Moved = len(r.script.Changes), r.course.moves
	if len(r.script.Commands) >= commandLimit && r.err == nil {
		r.err = fmt.Errorf("%w: more than %d commands", ErrTooLarge, commandLimit)
	}
	if r.script.Commands == nil {
		r.script.Commands = make([]Command, 0, 8)
	}
	r.script.Commands = append(r.script.Commands, c)
	return len(r.script.Commands) - 1
}

// statement adds a command with its redirections.
func (r *reader) statement(s *syntax.Stmt, from origin) {
	input := stdin{}
	for _, redirect := range s.Redirs {
		r.redirection(redirect, from, &input)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	words := make([]Word, 0, len(call.Assigns)+len(call.Args))
	for _, a := range call.Assigns {
		if w, matters := r.assignment(a, len(call.Args) > 0); matters {
			words = append(words, w)
		}
	}
	assigns := len(words)
	for _, w := range call.Args {
		words = append(words, r.wordOf(w))
	}
	if len(words) > 0 {
		if r.course.leads[call] {
			r.course.changes = &words[1]
		}
		r.command(words, assigns, from, input)
		r.course.changes = nil
	}
}

// stdin is what is known of the input of a command.
type stdin struct {
	text  string // of a heredoc
	known bool
}

// redirection adds the file that is opened, and notes the text of the input where it is known.
func (r *reader) redirection(n *syntax.Redirect, from origin, input *stdin) {
	switch n.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		text, known := heredoc(n.Word, n.Hdoc)
		if n.Hdoc != nil && slices.ContainsFunc(n.Hdoc.Parts, func(part syntax.WordPart) bool {
			_, plain := part.(*syntax.Lit)
			return !plain && strings.Contains(r.written(part), "\n")
		}) {
			r.opaque(n.Hdoc, from, "shells do not agree on where such a here-document ends")
		}
		*input = stdin{text: text, known: known && n.Op == syntax.Hdoc}
		return
	case syntax.WordHdoc:
		w := r.wordOf(n.Word)
		*input = stdin{text: w.Text, known: w.Kind == Literal && !w.Home}
		return
	}
	*input = stdin{}
	w := r.wordOf(n.Word)
	if n.Op == syntax.DplIn || n.Op == syntax.DplOut {
		if w.Kind == Literal && strings.Trim(w.Text, "0123456789-") == "" {
			return // another name of an open file
		}
	}
	writes := n.Op != syntax.RdrIn && n.Op != syntax.DplIn
	r.file(w, writes, from)
	if n.Op == syntax.RdrInOut {
		r.file(w, false, from)
	}
}

// file adds a file that is opened. A name such as /dev/stdin stands for an open file and is
// ignored.
func (r *reader) file(w Word, writes bool, from origin) {
	if w.Kind == Literal {
		switch w.Text {
		case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/1", "/dev/fd/2":
			return
		}
		if strings.HasPrefix(w.Text, "/dev/tcp/") || strings.HasPrefix(w.Text, "/dev/udp/") {
			r.add(Command{Words: []Word{w}, Opaque: []Opacity{{Why: "it connects to another machine", At: -1}}}, from)
			return
		}
	}
	r.script.Files = append(r.script.Files, File{Path: w, Write: writes, Line: from.line, After: len(r.script.Changes), Within: r.course.moves})
}

// declaration adds a command such as export, whose operands are assignments.
func (r *reader) declaration(n *syntax.DeclClause, from origin) {
	words := []Word{{Text: n.Variant.Value}}
	for _, a := range n.Args {
		switch {
		case a.Naked && a.Name == nil:
			words = append(words, r.wordOf(a.Value))
		case a.Naked:
			words = append(words, Word{Text: a.Name.Value})
		default:
			w, _ := r.assignment(a, true)
			words = append(words, w)
		}
	}
	r.command(words, 0, from, stdin{})
}

func (r *reader) loop(n *syntax.ForClause, from origin) {
	if words, ok := n.Loop.(*syntax.WordIter); ok && affectsPrograms(words.Name.Value, "", false, false) {
		r.opaque(n, from, "it sets "+words.Name.Value+", which programs look at")
	}
}

// assignment returns NAME=VALUE as a word. matters is false if it has no effect.
func (r *reader) assignment(a *syntax.Assign, exported bool) (w Word, matters bool) {
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	value := r.wordOf(a.Value)
	w = Word{Text: name + "=" + value.Text, Kind: min(value.Kind, One)}
	if a.Append || a.Array != nil || a.Index != nil || value.Home {
		w = Word{Text: r.written(a), Kind: One}
	}
	return w, affectsPrograms(name, value.Text, w.Kind == Literal, exported)
}

// affectsPrograms reports whether programs may do something else when the variable is set. No
// program sees a variable that is not exported. A variable in upper case, or one that names a
// proxy, may be exported already. The variables of the language and the time zone matter only if their
// value is or may be a path, because programs read files with such a name.
func affectsPrograms(name, value string, known, exported bool) bool {
	switch name {
	case "NO_COLOR", "CLICOLOR", "COLUMNS", "LINES":
		return false
	case "TZ":
		return !known || strings.HasPrefix(value, "/") || strings.Contains(value, ":") || strings.Contains(value, "..")
	case "LANG", "LANGUAGE":
		return !known || strings.Contains(value, "/")
	}
	if strings.HasPrefix(name, "LC_") {
		return !known || strings.Contains(value, "/")
	}
	return exported || name != strings.ToLower(name) || strings.HasSuffix(name, "_proxy")
}

// expansion records what ${…} does besides giving a value.
func (r *reader) expansion(n *syntax.ParamExp, from origin) {
	const runs = "the shell runs what the variable holds"
	switch {
	case n.Excl || n.Flags != nil || n.NestedParam != nil:
		r.opaque(n, from, "which variable it is depends on another one")
	case n.Index != nil && variables(n.Index):
		r.opaque(n, from, runs)
	case n.Slice != nil && (n.Slice.Offset != nil && variables(n.Slice.Offset) || n.Slice.Length != nil && variables(n.Slice.Length)):
		r.opaque(n, from, runs)
	case n.Exp == nil:
	case n.Exp.Op == syntax.OtherParamOps:
		r.opaque(n, from, runs)
	case (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && affectsPrograms(n.Param.Value, "", false, false):
		r.opaque(n, from, "it sets "+n.Param.Value+", which programs look at")
	}
}

// test reads [[ … ]], where some operators evaluate their operands.
func (r *reader) test(n *syntax.TestClause, from origin) {
	if r.posix {
		r.opaque(n, from, otherShells)
		return
	}
	syntax.Walk(n, func(node syntax.Node) bool {
		switch t := node.(type) {
		case *syntax.UnaryTest:
			if t.Op == syntax.TsVarSet || t.Op == syntax.TsRefVar {
				r.opaque(n, from, "the shell evaluates the name of the variable")
				return false
			}
		case *syntax.BinaryTest:
			switch t.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				if variables(t) {
					r.opaque(n, from, "the shell runs what the variables of arithmetic hold")
					return false
				}
			}
		}
		return true
	})
}
