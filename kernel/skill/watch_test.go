package skill_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/lisp"
	"org-agent/kernel/skill"
)

// watched returns a registry that follows a directory until the test ends.
func watched(t *testing.T, config skill.Config) (*skill.Registry, chan []skill.Status) {
	t.Helper()
	changes := make(chan []skill.Status, 100)
	config.Changed = func(statuses []skill.Status) { changes <- statuses }
	r := skill.New(config)
	r.Load(t.Context())
	for len(changes) > 0 {
		<-changes
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.Watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("watch: %v", err)
		}
	})
	return r, changes
}

// eventually waits until the registry answers with text. It checks after each change.
func eventually(t *testing.T, r *skill.Registry, changes chan []skill.Status, text string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for says(t, r) != text {
		select {
		case <-changes:
		case <-deadline:
			t.Fatalf("it says %q and never %q: %v", says(t, r), text, r.Statuses())
		}
	}
}

func TestWatch(t *testing.T) {
	h := newHome(t)
	h.write("s.org", answers("s", "first"))
	r, changes := watched(t, skill.Config{Home: h.dir})
	eventually(t, r, changes, "first")

	h.write("s.org", answers("s", "written"))
	eventually(t, r, changes, "written")

	// Emacs does this with make-backup-files: it renames the old file and writes a new one.
	if err := os.Rename(filepath.Join(h.dir, "s.org"), filepath.Join(h.dir, "s.org~")); err != nil {
		t.Fatal(err)
	}
	h.write("s.org", answers("s", "renamed"))
	eventually(t, r, changes, "renamed")

	// Editors do this that write a new file and put it in place of the old one.
	h.write("s.org.tmp", answers("s", "replaced"))
	if err := os.Rename(filepath.Join(h.dir, "s.org.tmp"), filepath.Join(h.dir, "s.org")); err != nil {
		t.Fatal(err)
	}
	eventually(t, r, changes, "replaced")

	h.write("s.org", note(`(defun`))
	for statuses := range changes {
		if statuses[0].LastGood {
			break
		}
	}
	if got := says(t, r); got != "replaced" {
		t.Errorf("a broken note took the last good version down: %q", got)
	}
	if err := os.Remove(filepath.Join(h.dir, "s.org")); err != nil {
		t.Fatal(err)
	}
	eventually(t, r, changes, "")
	h.write("s.org", answers("s", "back"))
	eventually(t, r, changes, "back")
}

// TestWatchKeepsLastGoodOverASlowSave checks that a file that is missing for a moment while it is
// saved does not remove its last good version.
func TestWatchKeepsLastGoodOverASlowSave(t *testing.T) {
	h := newHome(t)
	h.write("s.org", answers("s", "good"))
	r := skill.New(skill.Config{Home: h.dir})
	r.Load(t.Context())
	if err := os.Rename(filepath.Join(h.dir, "s.org"), filepath.Join(h.dir, "s.org~")); err != nil {
		t.Fatal(err)
	}
	if again := r.CatchUp(t.Context()); again != 300*time.Millisecond || len(r.Statuses()) != 1 {
		t.Fatalf("missing, it is looked for again after %v: %v", again, r.Statuses())
	}
	h.write("s.org", note(`(car 5)`))
	if again := r.CatchUp(t.Context()); again != 0 || len(r.Statuses()) != 1 || !r.Statuses()[0].LastGood {
		t.Errorf("back, it is looked for again after %v: %v", again, r.Statuses())
	}
	if got := says(t, r); got != "good" {
		t.Errorf("it says %q", got)
	}
}

func TestWatchLaterDirectory(t *testing.T) {
	parent := newHome(t)
	h := home{t, filepath.Join(parent.dir, "skills")}
	r, changes := watched(t, skill.Config{Home: h.dir, Shipped: shipped(map[string][]byte{"s.org": answers("s", "shipped")})})
	eventually(t, r, changes, "shipped")
	for range 2 {
		if err := os.Mkdir(h.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		h.write("s.org", answers("s", "mine"))
		eventually(t, r, changes, "mine")
		if err := os.RemoveAll(h.dir); err != nil {
			t.Fatal(err)
		}
		eventually(t, r, changes, "shipped")
	}
}

func TestWatchWithoutAPlace(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := skill.New(skill.Config{}).Watch(ctx); err != nil {
		t.Error(err)
	}
	if err := skill.New(skill.Config{Home: filepath.Join(t.TempDir(), "none", "skills")}).Watch(t.Context()); err == nil {
		t.Error("a directory that cannot be watched is no error")
	}
}

// TestWatchANoteWithoutAnEnd checks that an endless note delays neither the others nor the end of
// the watch.
func TestWatchANoteWithoutAnEnd(t *testing.T) {
	h := newHome(t)
	r, changes := watched(t, skill.Config{Home: h.dir, Limits: lisp.Limits{Steps: 100_000}})
	h.write("a.org", note(`(loop)`))
	h.write("s.org", answers("s", "here"))
	eventually(t, r, changes, "here")
}

// TestWatchTheDirectoryItself checks what people do to the directory as a whole: replace it, move
// it away and back, reach it by a link, check out another branch.
func TestWatchTheDirectoryItself(t *testing.T) {
	place := t.TempDir()
	linked := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(place, linked); err != nil {
		t.Fatal(err)
	}
	h := home{t, filepath.Join(linked, "skills")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	again := func() { must(os.Mkdir(h.dir, 0o755)) }
	again()
	h.write("s.org", answers("s", "first"))
	r, changes := watched(t, skill.Config{Home: h.dir, Shipped: shipped(map[string][]byte{"z.org": answers("z", "shipped")})})
	eventually(t, r, changes, "first")

	must(os.RemoveAll(h.dir))
	eventually(t, r, changes, "shipped")
	again()
	h.write("s.org", answers("s", "made again"))
	eventually(t, r, changes, "made again")

	elsewhere := filepath.Join(place, "elsewhere")
	must(os.Rename(h.dir, elsewhere))
	eventually(t, r, changes, "shipped")
	must(os.Rename(elsewhere, h.dir))
	eventually(t, r, changes, "made again")
	h.write("s.org", answers("s", "moved back"))
	eventually(t, r, changes, "moved back")

	must(os.Rename(h.dir, elsewhere))
	again()
	h.write("s.org", answers("s", "another"))
	eventually(t, r, changes, "another")
	must(os.WriteFile(filepath.Join(elsewhere, "s.org"), answers("s", "nobody's"), 0o644))
	h.write("t.org", answers("a", "newer"))
	eventually(t, r, changes, "newer")

	// A checkout removes, changes and adds many files at once.
	for i := range 50 {
		h.write(fmt.Sprintf("b%02d.org", i), answers(fmt.Sprintf("b%02d", i), "branch"))
	}
	must(os.Remove(filepath.Join(h.dir, "t.org")))
	h.write("s.org", answers("a", "checked out"))
	eventually(t, r, changes, "checked out")
	for len(r.Current().Skills()) != 52 { // 50, s and the shipped one
		select {
		case <-changes:
		case <-time.After(time.Minute):
			t.Fatalf("%d skills are live: %s", len(r.Current().Skills()), summary(r))
		}
	}

	// If the directory cannot be listed, live notes stay live, and the fault is reported.
	must(os.Rename(h.dir, elsewhere+"-too"))
	must(os.WriteFile(h.dir, nil, 0o644))
	for {
		if first := r.Statuses()[0]; first.File == h.dir && len(first.Diagnostics) == 1 {
			break
		}
		select {
		case <-changes:
		case <-time.After(time.Minute):
			t.Fatal("nothing is said about a directory that is a file: ", summary(r))
		}
	}
	if says(t, r) != "checked out" {
		t.Errorf("it says %q", says(t, r))
	}
}

// TestTooManyNotes checks that the first notes are live if there are more than the limit, and that
// the fault is reported.
func TestTooManyNotes(t *testing.T) {
	h := newHome(t)
	for i := range 10_000 + 1 {
		if err := os.Symlink("/nowhere", filepath.Join(h.dir, fmt.Sprintf("x%05d.org", i))); err != nil {
			t.Fatal(err)
		}
	}
	h.write("a.org", answers("a", "here"))
	r := skill.New(skill.Config{Home: h.dir})
	statuses := r.Load(t.Context())
	if len(statuses) != 10_000+1 || statuses[0].File != h.dir || !strings.Contains(statuses[0].Diagnostics[0].Message, "there are 10002, and only the first 10000 are read") {
		t.Errorf("%d: %+v", len(statuses), statuses[0])
	}
	if says(t, r) != "here" {
		t.Errorf("it says %q", says(t, r))
	}
}

// TestNotesThatSleep: a note that takes long to load does not hold up the others or the start. It is said to
// be so, and is loaded as soon as the notes are followed.
func TestNotesThatSleep(t *testing.T) {
	h := newHome(t)
	for i := range 3 {
		h.write(fmt.Sprintf("slow%d.org", i), note(fmt.Sprintf(`(sleep 0.2) (defskill :slow%d :trigger (lambda (c) nil))`, i)))
	}
	h.write("s.org", answers("s", "first"))
	r, changes := watched(t, skill.Config{Home: h.dir, FirstLoad: 50 * time.Millisecond})
	if got := says(t, r); got != "first" {
		t.Errorf("the other note says %q", got)
	}
	live := func(statuses []skill.Status) (live int) {
		for _, s := range statuses {
			if s.State == skill.Live && strings.Contains(s.File, "slow") {
				live++
			}
		}
		return live
	}
	for deadline := time.After(time.Minute); live(r.Statuses()) < 3; {
		select {
		case <-changes:
		case <-deadline:
			t.Fatalf("they are never live: %+v", r.Statuses())
		}
	}
	r = skill.New(skill.Config{Home: h.dir, FirstLoad: 50 * time.Millisecond})
	for _, s := range r.Load(t.Context()) {
		if slow := strings.Contains(s.File, "slow"); slow && (s.State == skill.Live || !strings.Contains(fmt.Sprint(s.Diagnostics), "when the kernel has started")) {
			t.Errorf("at first: %+v", s)
		}
	}
	for _, s := range r.Load(t.Context()) {
		if s.State != skill.Live {
			t.Errorf("loaded again: %+v", s)
		}
	}
}
