package tool_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"org-agent/kernel/protocol"
)

// TestFileVariablesAreAskedAbout checks that a change which gives a file variables that Emacs would obey says
// so, whichever tool makes it, and that others do not.
func TestFileVariablesAreAskedAbout(t *testing.T) {
	r, home := shed(t)
	path := filepath.Join(home, "plan.org")
	for _, c := range []struct {
		tool  string
		pairs []any
		sets  bool
	}{
		{"edit", []any{"path", "plan.org", "old", "last", "new", "last\n# Local Variables:\n# eval: (f)\n# End:"}, true},
		{"edit", []any{"path", "plan.org", "old", "Local\nVari", "new", "Local Vari"}, true}, // it puts together what was there
		{"edit", []any{"path", "plan.org", "old", "last", "new", "first"}, false},
		{"write", []any{"path", "new.el", "content", ";; -*- eval: (f) -*-\n"}, true},
		{"write", []any{"path", "new.el", "content", ";;; new.el --- x  -*- lexical-binding: t; -*-\n"}, false},
		{"write", []any{"path", "plan.org", "content", "#+begin_src sh\n# Local Variables:\n# eval: (f)\n# End:\n#+end_src\n"}, true},
	} {
		if err := os.WriteFile(path, []byte("* Plan\n# Local\nVariables:\nlast\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, reach, err := r.Reach(t.Context(), c.tool, plain(c.pairs...))
		sets := slices.ContainsFunc(reach, func(r protocol.Reach) bool { return r.Kind == protocol.ReachSets })
		if err != nil || sets != c.sets {
			t.Errorf("%s %v reaches %v, %v", c.tool, c.pairs, reach, err)
		}
	}
}
