package skill_test

import (
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/skill"
)

// TestLastGoodOutlivesTheKernel checks that the last good version of a note that is broken when the
// kernel starts is live, until the note is deleted.
func TestLastGoodOutlivesTheKernel(t *testing.T) {
	h, stored := newHome(t), filepath.Join(t.TempDir(), "state", "notes")
	step := func(what, want, answer string) {
		t.Helper()
		r := skill.New(skill.Config{Home: h.dir, Keep: stored}) // a kernel of its own
		r.Load(t.Context())
		if got := summary(r); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
		if got := says(t, r); got != answer {
			t.Errorf("%s: it says %q, want %q", what, got, answer)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	h.write("s.org", answers("s", "good"))
	step("it is good", "s.org live", "good")
	h.write("s.org", note(`(defun`))
	step("it is broken", "s.org failed last-good", "good")
	step("it is broken still", "s.org failed last-good", "good")
	h.write("s.org", []byte{0xff})
	step("it is no text", "s.org failed last-good", "good")
	h.write("s.org", answers("s", "better"))
	step("it is mended", "s.org live", "better")
	h.write("other.org", answers("s", "other"))
	step("another wants its name", "other.org live, s.org duplicate", "other")
	remove(filepath.Join(h.dir, "other.org"))
	h.write("s.org", answers("s", "best"))
	step("the other is gone", "s.org live", "best")
	remove(filepath.Join(h.dir, "s.org"))
	step("it is deleted", "", "")
	h.write("s.org", note(`(defun`))
	step("a new one of its name is broken", "s.org failed", "")
	h.write("s.org", answers("s", "new"))
	step("the new one is good", "s.org live", "new")
	if err := os.WriteFile(filepath.Join(stored, "s.org"), []byte("#+begin_src lisp\n(car 5)\n#+end_src\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.write("s.org", note(`(defun`))
	step("what was kept is broken too", "s.org failed", "")
}
