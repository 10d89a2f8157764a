package autorun_test

import (
	"strings"
	"testing"

	"org-agent/kernel/autorun"
)

// TestVariables checks what Emacs would obey of a file's first lines and of its end.
func TestVariables(t *testing.T) {
	const local = "# Local Variables:\n# eval: (f)\n# End:\n"
	for _, c := range []struct {
		before, after string
		sets          bool
	}{
		{"", "x\n" + local, true},
		{"", "x\n" + strings.ToUpper(local), true},
		{"", "#+begin_src sh\n" + local + "#+end_src\n", true},
		{"", local + strings.Repeat("x\n", 10000), false},
		{"", local + "\n\f\nx\n", false},
		{"x\n" + local, "y\n" + local, false},
		{"x\n" + local, "y\n" + strings.Replace(local, "(f)", "(g)", 1), true},
		{"x\n" + local, "x\n", false},
		{local + strings.Repeat("x\n", 10000), local + "x\n", true},
		{"", "# -*- eval: (f) -*-\n", true},
		{"", "#!/bin/sh\n# -*- eval: (f) -*-\n", true},
		{"", "\n\n# -*- eval: (f) -*-\n", false},
		{"", "# -*- recentf -*-\n", true},
		{"", "# -*- mode: recentf; coding: utf-8 -*-\n", true},
		{"", ";;; x.el --- y  -*- lexical-binding: t; -*-\n", false},
		{"", "# -*- mode: python; coding: utf-8 -*-\nx = 1\n", false},
		{"", "# -*- Org -*-\n", false},
		{"", "", false},
	} {
		if got := autorun.SetsVariables(c.before, c.after); got != c.sets {
			t.Errorf("%.60q, then %.60q: %v", c.before, c.after, got)
		}
	}
}
