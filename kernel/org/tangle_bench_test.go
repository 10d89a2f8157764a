package org_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/org"
)

func BenchmarkTangle(b *testing.B) {
	notes := map[string]string{
		"Unterminated": strings.Repeat("#+begin_src x :tangle a\n", 1<<16),
		"References":   "#+name: a\n#+begin_src x\n1\n#+end_src\n" + strings.Repeat("#+begin_src x :tangle a :noweb yes\n<<a>>\n#+end_src\n", 1<<15),
		"Names":        strings.Repeat("#+name: a\n", 1<<17) + "#+begin_src x :tangle a :noweb yes\n<<a>>\n#+end_src\n",
		"Drawers":      strings.Repeat(":a:\n", 1<<18),
		"Arguments":    "#+begin_src x :tangle a" + strings.Repeat(" :a (b \"c\"", 1<<16) + "\n#+end_src\n",
		"Headings":     strings.Repeat("* a\n:PROPERTIES:\n:header-args+: :tangle a\n:END:\n#+begin_src x\n1\n#+end_src\n", 1<<13),
	}
	var text strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&text, "#+name: step-%d\n#+begin_src sh :tangle no\n  echo step\n#+end_src\n\n#+begin_src sh :noweb yes :tangle a.sh\n  <<step-%d>>\n#+end_src\n", i, i)
		fmt.Fprintf(&text, "* Part %d\n\nSome prose here, as notes have,\nof two lines.\n\n#+begin_src python :tangle all.py :comments link\n  def f(x):\n      return x + %d\n#+end_src\n", i, i)
	}
	notes["Note"] = text.String()
	for name, note := range notes {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(note)))
			for b.Loop() {
				org.Tangle(org.TangleRequest{Path: "/n.org", Directory: "/", Home: "/", Source: []byte(note)})
			}
		})
	}
}
