package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// numbers knows which variables of a text can hold nothing but a number.
//
// Arithmetic runs what its variables hold: with x='a[$(rm y)]', $((x)) runs rm. A variable is safe if
// everything in the text that sets it sets a number. One that nothing sets is empty, because commands
// are given no variables but PATH and the language, and the shell's own have other names.
type numbers struct {
	known bool              // the text was looked through
	other map[string]bool   // variables that may hold something else
	any   bool              // any variable may
	set   map[string]bool   // variables that are set otherwise than by a loop over words
	loops map[string][]Word // what loops set them to
	// arithmetics is true if the text has arithmetic, which can set any of them.
	arithmetics bool
}

// ownVariable matches a name that no shell gives a meaning to.
var ownVariable = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (n numbers) holds(name string) bool {
	return n.known && !n.any && !n.other[name] && ownVariable.MatchString(name)
}

var (
	numberPattern = regexp.MustCompile(`^-?[0-9]+$|^\{-?[0-9]+\.\.-?[0-9]+(?:\.\.-?[0-9]+)?\}$`)
	digits        = regexp.MustCompile(`^(?:[0-9]+|0[xX][0-9a-fA-F]+)$`)
	namePattern   = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// numbersIn looks through a text.
func (r *reader) numbersIn(file *syntax.File) numbers {
	n := numbers{known: true, other: map[string]bool{}, set: map[string]bool{}, loops: map[string][]Word{}}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Assign:
			if node.Name != nil {
				n.set[node.Name.Value] = true
			}
			if node.Name != nil && (node.Array != nil || node.Index != nil || !isNumber(node.Value)) {
				n.other[node.Name.Value] = true
			}
		case *syntax.ForClause:
			n.loopOver(r, node)
			if words, ok := node.Loop.(*syntax.WordIter); ok && (node.Select || !words.InPos.IsValid() ||
				slices.ContainsFunc(words.Items, func(w *syntax.Word) bool { return !isNumber(w) })) {
				n.other[words.Name.Value] = true
			}
		case *syntax.ParamExp:
			if node.Param != nil && node.Exp != nil {
				n.other[node.Param.Value], n.set[node.Param.Value] = true, true // some of these set it
			}
		case *syntax.DeclClause:
			for _, a := range node.Args {
				if a.Naked && a.Name == nil {
					n.named(r.wordOf(a.Value))
				}
			}
		case *syntax.CallExpr:
			r.setBy(node, &n)
		}
		return true
	})
	return n
}

// setBy notes the variables that a command of the shell can set.
func (r *reader) setBy(call *syntax.CallExpr, n *numbers) {
	if len(call.Args) == 0 {
		return
	}
	words := make([]Word, len(call.Args))
	for i, w := range call.Args {
		words[i] = r.wordOf(w)
	}
	switch {
	case words[0].Kind != Literal || words[0].Text == "." || words[0].Text == "source":
		n.any = true
	case words[0].Text == "printf" && len(words) > 1 && words[1].Kind == Literal && !strings.HasPrefix(words[1].Text, "-"):
	case slices.Contains([]string{"read", "mapfile", "readarray", "getopts", "printf", "wait", "unset", "let", "eval", "trap", "command", "builtin", "declare", "typeset", "local", "export", "readonly"}, words[0].Text):
		for _, w := range words[1:] {
			n.named(w)
		}
	}
}

// named notes the variables that a word can name.
func (n *numbers) named(w Word) {
	if w.Kind != Literal {
		n.any = true
		return
	}
	for _, name := range namePattern.FindAllString(w.Text, -1) {
		n.other[name], n.set[name] = true, true
	}
	if option, found := strings.CutPrefix(w.Text, "-"); found { // -aNAME
		for i := range len(option) {
			n.other[option[i:]], n.set[option[i:]] = true, true
		}
	}
}

// isNumber reports whether a word is empty or becomes a number, or for {1..9} numbers.
func isNumber(w *syntax.Word) bool {
	if w == nil {
		return true
	}
	if len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && !quoted.Dollar && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	switch p := part.(type) {
	case *syntax.Lit:
		return numberPattern.MatchString(p.Value)
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		return p.Length && p.Index == nil
	}
	return false
}

// computes reports whether arithmetic is about numbers only.
func (n numbers) computes(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.ParenArithm:
		return n.computes(x.X)
	case *syntax.UnaryArithm:
		return n.computes(x.X)
	case *syntax.BinaryArithm:
		return n.computes(x.X) && n.computes(x.Y)
	case *syntax.Word:
		if x == nil {
			return true
		}
		if len(x.Parts) != 1 {
			return false
		}
		switch p := x.Parts[0].(type) {
		case *syntax.Lit:
			return digits.MatchString(p.Value) || n.holds(p.Value)
		case *syntax.ParamExp: // $x, and nothing else in the braces
			return p.Param != nil && n.holds(p.Param.Value) && !p.Excl && !p.Length && !p.Width && p.Flags == nil && p.NestedParam == nil &&
				p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
		}
	}
	return false
}

// arithmetic reports whether all of the node's arithmetic is about numbers only.
func (n numbers) arithmetic(node syntax.Node) bool {
	switch node := node.(type) {
	case *syntax.ArithmExp:
		return n.computes(node.X)
	case *syntax.ArithmCmd:
		return n.computes(node.X)
	case *syntax.CStyleLoop:
		return n.computes(node.Init) && n.computes(node.Cond) && n.computes(node.Post)
	}
	return false
}

// variables reports whether arithmetic contains more than numbers.
func variables(node syntax.Node) bool {
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			found = found || strings.Trim(n.Value, "0123456789@*") != ""
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ExtGlob:
			found = true
		}
		return !found
	})
	return found
}

// becomesNumber reports whether a word is one expression of arithmetic, which becomes one number.
func becomesNumber(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok && !quoted.Dollar && len(quoted.Parts) == 1 {
		part = quoted.Parts[0]
	}
	_, ok := part.(*syntax.ArithmExp)
	return ok
}
