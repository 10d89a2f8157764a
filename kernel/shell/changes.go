package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Change is a change of the directory by cd that is certain to come before the commands behind it.
type Change struct {
	Directory Word
	// Sure is true if no command behind it runs unless it succeeds.
	Sure bool
}

// quiet are commands of the shell that change no file and no directory, so that what a cd behind them leads to
// is known before they run.
var quiet = [...]string{"echo", "printf", "pwd", "true", ":", "set", "test", "["}

// leading notes the calls of cd with which a text begins. They are followed by all other commands of the text.
func (r *reader) leading(file *syntax.File) {
	r.leads = map[*syntax.CallExpr]bool{}
	for _, s := range file.Stmts {
		if !r.lead(s) {
			break
		}
	}
	r.sure = len(file.Stmts) == 1
}

// repeating notes whether a command of a text may run more than once, or later than where it stands.
func (r *reader) repeating(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl, *syntax.CoprocClause:
			r.repeats = true
		case *syntax.CallExpr:
			r.repeats = r.repeats || len(n.Args) > 0 && n.Args[0].Lit() == "trap"
		}
		return !r.repeats
	})
}

// lead notes the calls of cd in a list of commands that are joined by &&. It returns false behind anything
// that could change what a directory is.
func (r *reader) lead(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && len(s.Redirs) == 0 && r.lead(c.X) && r.lead(c.Y)
	case *syntax.CallExpr:
		if len(c.Args) == 0 || len(c.Assigns) > 0 || len(s.Redirs) > 0 {
			return false
		}
		if c.Args[0].Lit() != "cd" {
			return slices.Contains(quiet[:], c.Args[0].Lit())
		}
		if len(c.Args) != 2 {
			return false
		}
		w := r.wordOf(c.Args[1])
		r.leads[c] = w.Kind == Literal && w.Text != "" && !strings.HasPrefix(w.Text, "-")
		return r.leads[c]
	}
	return false
}

// readChange reads the words of cd.
func readChange(c *call) {
	if c.changes == nil {
		c.moves = true
		return
	}
	c.script.Changes = append(c.script.Changes, Change{Directory: *c.changes, Sure: c.sure})
	c.filters = true
}

// settle says of each command and file where it is.
func (r *reader) settle() {
	for i := range r.script.Commands {
		r.script.Commands[i].Moved = r.script.Commands[i].Moved || r.repeats && r.moves
	}
	for i := range r.script.Files {
		r.script.Files[i].Within = r.script.Files[i].Within || r.repeats && r.moves
	}
}
