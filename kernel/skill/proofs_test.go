package skill_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/skill"
)

// TestProvenBefore checks that a note that passed its tests with this program is live at the next
// start before they have run again, and is removed if they fail then. Any other note has to pass
// first.
func TestProvenBefore(t *testing.T) {
	h, proven := newHome(t), filepath.Join(t.TempDir(), "proven.json")
	named := "Nadia"
	start := func(program string) *skill.Registry {
		t.Helper()
		r := skill.New(skill.Config{Home: h.dir, Proven: proven, Program: program, Persona: func(string) string { return named }})
		r.Load(t.Context())
		return r
	}
	expect := func(r *skill.Registry, what, want string) {
		t.Helper()
		if got := summary(r); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	text := append(answers("s", "good"), "\n#+begin_src lisp :test yes\n(deftest named (is (equal (identity :name) \"Nadia\")))\n#+end_src\n"...)
	h.write("s.org", text)
	expect(start("one"), "it passes", "s.org live")

	named = "Otto" // its test would fail now
	r := start("one")
	expect(r, "it passed before", "s.org live")
	if answer, tests := says(t, r), r.Statuses()[0].Tests; answer != "good" || tests != 1 {
		t.Errorf("it says %q, and %d tests", answer, tests)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	r.Prove(stopped)
	expect(r, "nobody waits for its tests", "s.org live")
	expect(start("two"), "another program", "s.org failed")
	named = "Nadia"
	expect(start("one"), "what another program knows is forgotten", "s.org live")
	named = "Otto"
	r = start("one")
	r.Prove(t.Context())
	expect(r, "its tests have run", "s.org failed")
	if answer := says(t, r); answer != "" {
		t.Errorf("what failed says %q", answer)
	}
	expect(start("one"), "it failed the last time", "s.org failed")

	named = "Nadia"
	r = start("one")
	expect(r, "it passes again", "s.org live")
	named = "Otto"
	r.Load(t.Context())
	expect(r, "it is loaded again", "s.org failed last-good")
	named = "Nadia"
	start("one")
	named = "Otto"
	h.write("s.org", append(text, '\n'))
	expect(start("one"), "another text", "s.org failed")
	h.write("s.org", text)
	for _, spoiled := range []string{"", "{", `{"program":"one","passed":{"x":1}}`, `{"program":"","passed":null}`} {
		if err := os.WriteFile(proven, []byte(spoiled), 0o600); err != nil {
			t.Fatal(err)
		}
		expect(start("one"), "the file says "+spoiled, "s.org failed")
	}

	named = "Nadia"
	start("one") // it stores the proofs
	r = start("one")
	r.Prove(t.Context())
	expect(r, "its tests have run and passed", "s.org live")
	if answer := says(t, r); answer != "good" {
		t.Errorf("it says %q", answer)
	}
}
