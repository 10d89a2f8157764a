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

// course is how the directory changes in a command line.
type course struct {
	moves   bool // a command changes it, and to what is not known
	repeats bool // a command may run again, or later than where it stands
	leads   map[*syntax.CallExpr]bool
	sure    bool  // as in Change
	changes *Word // where the command leads that is read
}

// quiet are commands of the shell that change no file and no directory, so that what a cd behind them leads to
// is known before they run.
var quiet = [...]string{"echo", "printf", "pwd", "true", ":", "set", "test", "["}

// leading notes the calls of cd with which a text begins. They are followed by all other commands of the text.
func (r *reader) leading(file *syntax.File) {
	r.course.leads = map[*syntax.CallExpr]bool{}
	for _, s := range file.Stmts {
		if !r.lead(s) {
			break
		}
	}
	r.course.sure = len(file.Stmts) == 1
}

// repeating notes whether a command of a text may run more than once, or later than where it stands.
func (course *course) repeating(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl, *syntax.CoprocClause:
			course.repeats = true
		case *syntax.CallExpr:
			course.repeats = course.repeats || len(n.Args) > 0 && n.Args[0].Lit() == "trap"
		}
		return !course.repeats
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
		r.course.leads[c] = w.Kind == Literal && w.Text != "" && !strings.HasPrefix(w.Text, "-")
		return r.course.leads[c]
	}
	return false
}

// readChange reads the words of cd.
func readChange(c *call) {
	if c.course.changes == nil {
		c.course.moves = true
		return
	}
	c.script.Changes = append(c.script.Changes, Change{Directory: *c.course.changes, Sure: c.course.sure})
	c.filters = true
}

// settle says of each command and file where it is.
func (course *course) settle(script *Script) {
	for i := range script.Commands {
		script.Commands[i].Moved = script.Commands[i].Moved || course.repeats && course.moves
	}
	for i := range script.Files {
		script.Files[i].Within = script.Files[i].Within || course.repeats && course.moves
	}
}
