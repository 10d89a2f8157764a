package skill_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
)

// home is a directory of notes that a test writes.
type home struct {
	t   testing.TB
	dir string
}

func newHome(t testing.TB) home { return home{t, t.TempDir()} }

func (h home) write(name string, source []byte) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), source, 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// answers returns a note whose skill accepts chat messages and answers with text.
func answers(name, text string) []byte {
	return note(`(defskill :`+name,
		`  :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))`,
		`  :neuro (lambda (c) (declare (ignore c)) "`+text+`"))`)
}

// says returns the answer of the registry's best skill to a chat message.
func says(t testing.TB, r *skill.Registry) string {
	t.Helper()
	best, faults := r.Current().Best(t.Context(), chatMessage(t, "x"))
	if best == nil {
		return ""
	}
	out, err := best.Neuro(t.Context(), chatMessage(t, "x"), nil)
	if err != nil || faults != nil {
		t.Fatal(err, faults)
	}
	return out.Text
}

// summary returns the statuses in short.
func summary(r *skill.Registry) string {
	var all []string
	for _, s := range r.Statuses() {
		line := filepath.Base(s.File) + " " + string(s.State)
		if s.Shipped {
			line = "shipped/" + line
		}
		if s.LastGood {
			line += " last-good"
		}
		all = append(all, line)
	}
	return strings.Join(all, ", ")
}

func shipped(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, source := range files {
		m[name] = &fstest.MapFile{Data: source}
	}
	return m
}

// loads loads every note anew, and checks the state of each and the answer of the skill.
func loads(t *testing.T, r *skill.Registry, what, want, answer string) {
	t.Helper()
	r.Load(t.Context())
	if got := summary(r); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
	if got := says(t, r); got != answer {
		t.Errorf("%s: it says %q, want %q", what, got, answer)
	}
}

func TestShadowing(t *testing.T) {
	h := newHome(t)
	r := skill.New(skill.Config{Home: h.dir, Shipped: shipped(map[string][]byte{"chat.org": answers("chat", "shipped")})})
	step := func(what, want, answer string) { t.Helper(); loads(t, r, what, want, answer) }
	step("alone", "shipped/chat.org live", "shipped")
	h.write("org-skill-chat.org", note(`(car 5)`))
	step("a home note that never loaded", "org-skill-chat.org failed, shipped/chat.org live", "shipped")
	h.write("org-skill-chat.org", answers("skill-chat", "mine"))
	step("it loads", "org-skill-chat.org live, shipped/chat.org shadowed", "mine")
	h.write("org-skill-chat.org", note(`(defun`))
	step("it is broken", "org-skill-chat.org failed last-good, shipped/chat.org shadowed", "mine")
	h.write("org-skill-chat.org", answers("skill-chat", "mended"))
	step("it is mended", "org-skill-chat.org live, shipped/chat.org shadowed", "mended")
	if err := os.Remove(filepath.Join(h.dir, "org-skill-chat.org")); err != nil {
		t.Fatal(err)
	}
	step("it is deleted", "shipped/chat.org live", "shipped")
}

func TestFailedTestsKeepTheOldVersion(t *testing.T) {
	h := newHome(t)
	r := skill.New(skill.Config{Home: h.dir})
	withTest := func(text, expected string) []byte {
		return append(answers("s", text), "#+begin_src lisp :test yes\n(deftest says (is (equal \""+expected+"\" \""+text+"\")))\n#+end_src\n"...)
	}
	h.write("s.org", withTest("first", "first"))
	r.Load(t.Context())
	h.write("s.org", withTest("second", "first"))
	statuses := r.Load(t.Context())
	if says(t, r) != "first" || summary(r) != "s.org failed last-good" {
		t.Errorf("%s: it says %q", summary(r), says(t, r))
	}
	if ds := statuses[0].Diagnostics; len(ds) != 1 || ds[0].Line != 9 || !strings.Contains(ds[0].Message, "the test says failed") {
		t.Errorf("diagnostics %v", ds)
	}
	if statuses[0].Hash == r.Current().Named("s").Hash {
		t.Error("the status has the hash of the old version")
	}
}

func TestDuplicates(t *testing.T) {
	h := newHome(t)
	r := skill.New(skill.Config{Home: h.dir, Shipped: shipped(map[string][]byte{"z.org": answers("s", "shipped")})})
	step := func(what, want, answer string) { t.Helper(); loads(t, r, what, want, answer) }
	h.write("m.org", answers("s", "m"))
	step("home before shipped", "m.org live, shipped/z.org duplicate", "m")
	h.write("a.org", answers("s", "a"))
	step("the one that is live keeps the name", "a.org duplicate, m.org live, shipped/z.org duplicate", "m")
	h.write("m.org", answers("t", "m"))
	step("the name is free", "a.org live, m.org live, shipped/z.org duplicate", "a")
	h.write("m.org", answers("s", "m again"))
	step("a name that is taken", "a.org live, m.org failed last-good, shipped/z.org duplicate", "a")
	if d := r.Statuses()[1].Diagnostics; len(d) != 1 || !strings.Contains(d[0].Message, "a.org already") {
		t.Errorf("diagnostics %v", d)
	}
	if err := os.Remove(filepath.Join(h.dir, "a.org")); err != nil {
		t.Fatal(err)
	}
	step("it is free again", "m.org live, shipped/z.org duplicate", "m again")
}

func TestDependencies(t *testing.T) {
	h := newHome(t)
	r := skill.New(skill.Config{Home: h.dir})
	depends := func(on string, source []byte) []byte { return append([]byte("#+DEPENDS_ON: "+on+"\n"), source...) }
	h.write("a.org", depends("b", answers("a", "a")))
	r.Load(t.Context())
	if got := summary(r); got != "a.org failed" {
		t.Errorf("without b: %s", got)
	}
	if d := r.Statuses()[0].Diagnostics; len(d) != 1 || d[0].Line != 1 || !strings.Contains(d[0].Message, `"b"`) {
		t.Errorf("diagnostics %v", d)
	}
	h.write("org-skill-b.org", []byte(":PROPERTIES:\n:ID: 1234\n:END:\n"+string(answers("bee", "b"))))
	for _, on := range []string{"b", "org-skill-b", "org-skill-b.org", ":bee", "skill-bee", "id:1234", "[[id:1234][B]]", "[[file:org-skill-b.org]]", "B, bee"} {
		h.write("a.org", depends(on, answers("a", "a")))
		r.Load(t.Context())
		if got := summary(r); got != "a.org live, org-skill-b.org live" {
			t.Errorf("on %s: %s %v", on, got, r.Statuses()[0].Diagnostics)
		}
	}
	h.write("a.org", note(`(defskill :a :trigger (lambda (c) c nil) :dependencies ("bee" nowhere))`))
	r.Load(t.Context())
	if got := summary(r); got != "a.org failed last-good, org-skill-b.org live" {
		t.Errorf("on nowhere: %s", got)
	}
	if d := r.Statuses()[0].Diagnostics; len(d) != 1 || !strings.Contains(d[0].Message, `"nowhere"`) {
		t.Errorf("diagnostics %v", d)
	}
	h.write("a.org", depends("b", answers("a", "a")))
	r.Load(t.Context())
	if err := os.Remove(filepath.Join(h.dir, "org-skill-b.org")); err != nil {
		t.Fatal(err)
	}
	r.Load(t.Context())
	if got := summary(r); got != "a.org failed" || r.Current().Named("a") != nil {
		t.Errorf("b is gone: %s", got)
	}
}

func TestOddFiles(t *testing.T) {
	h := newHome(t)
	h.write("good.org", answers("good", "still here"))
	h.write(".hidden.org", note(`(car 5)`))
	h.write("#good.org#", note(`(car 5)`))
	h.write("good.org~", note(`(car 5)`))
	h.write("readme.md", []byte("no note"))
	h.write("large.org", make([]byte, 8<<20+1))
	for link, target := range map[string]string{"loop.org": "loop.org", ".#good.org": "user@host.1:2", "linked.org": "good.org.txt"} {
		if err := os.Symlink(target, filepath.Join(h.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	h.write("good.org.txt", note(`(defskill :linked :trigger (lambda (c) c nil))`))
	if err := os.Mkdir(filepath.Join(h.dir, "directory.org"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := skill.New(skill.Config{Home: h.dir})
	r.Load(t.Context())
	if got := summary(r); got != "directory.org failed, good.org live, large.org failed, linked.org live, loop.org failed" {
		t.Errorf("%s", got)
	}
	if says(t, r) != "still here" {
		t.Error("one bad note took another down")
	}
}

func TestAbsentHome(t *testing.T) {
	r := skill.New(skill.Config{Home: filepath.Join(t.TempDir(), "none", "skills"), Shipped: shipped(map[string][]byte{"a.org": answers("a", "a")})})
	r.Load(t.Context())
	if summary(r) != "shipped/a.org live" {
		t.Error(summary(r))
	}
	if r := skill.New(skill.Config{}); len(r.Load(t.Context())) != 0 || r.Current() == nil {
		t.Error("a registry without notes has some")
	}
}

func TestLoadIsCancelled(t *testing.T) {
	h := newHome(t)
	h.write("a.org", answers("a", "a"))
	r := skill.New(skill.Config{Home: h.dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Load(ctx)
	if len(r.Current().Skills()) != 0 {
		t.Error("something was published")
	}
	r.Load(t.Context())
	if says(t, r) != "a" {
		t.Error("the next load did not publish")
	}
}

func TestFaultsAreLogged(t *testing.T) {
	h := newHome(t)
	h.write("bad.org", note("(defun f ()", "  (no-such-function))"))
	var text strings.Builder
	r := skill.New(skill.Config{Home: h.dir, Logger: slog.New(slog.NewTextHandler(&text, nil))})
	r.Load(t.Context())
	if got := text.String(); !strings.Contains(got, "bad.org:5:3: error:") {
		t.Errorf("log %s", got)
	}
}

func TestChanged(t *testing.T) {
	h := newHome(t)
	h.write("a.org", answers("a", "a"))
	calls := 0
	var r *skill.Registry
	r = skill.New(skill.Config{Home: h.dir, Changed: func(statuses []skill.Status) {
		calls++
		if len(statuses) != 1 || r.Current().Named("a") == nil {
			t.Errorf("called with %v before it was published", statuses)
		}
	}})
	r.Load(t.Context())
	if r.CatchUp(t.Context()); calls != 1 {
		t.Errorf("called %d times", calls)
	}
}

func TestRegistryOptionsReachTheNotes(t *testing.T) {
	h := newHome(t)
	h.write("a.org", note(`(defskill :a :trigger (lambda (c) c t) :neuro (lambda (c) (declare (ignore c)) (kernel-log "hello") (inject-stimulus '(:type :event)) nil))`))
	var log recorder
	injected := 0
	r := skill.New(skill.Config{Home: h.dir, Log: log.log, Inject: func(sexp.List) { injected++ }})
	r.Load(t.Context())
	if _, err := r.Current().Named("a").Neuro(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if log.text() != "a: hello" || injected != 1 {
		t.Errorf("logged %q, injected %d", log.text(), injected)
	}
}

// TestConcurrentUse checks that turns continue while notes are reloaded, and that each sees
// complete versions only.
func TestConcurrentUse(t *testing.T) {
	h := newHome(t)
	m := &model{reply: "R"}
	version := func(text string) []byte {
		return note(`(defvar *count* 0)`,
			`(defskill :s :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))`,
			`  :neuro (lambda (c) (incf *count*) (concatenate 'string (ask-neuro (getf (getf c :payload) :text)) "`+text+`"))`,
			`  :symbolic (lambda (action c) (declare (ignore c)) (append action (list :by "`+text+`")))`,
			`  :system-prompt-augment "`+text+`")`)
	}
	h.write("s.org", version("one"))
	r := skill.New(skill.Config{Home: h.dir})
	r.Load(t.Context())
	action := list(t, `(:type :response :text "x")`)
	event := chatMessage(t, "hello")
	var turns, reloads sync.WaitGroup
	stop := make(chan struct{})
	reloads.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				h.write("s.org", version([]string{"one", "two"}[i%2]))
				r.Load(t.Context())
			}
		}
	})
	for range 8 {
		turns.Go(func() {
			for range 40 {
				set := r.Current()
				k, faults := set.Best(t.Context(), event)
				if k == nil || faults != nil {
					t.Errorf("best %v %v", k, faults)
					return
				}
				out, err := k.Neuro(t.Context(), event, m)
				text := set.Augments(t.Context())
				if err != nil || out.Text != "R"+text {
					t.Errorf("neuro %q, %v, of version %q", out.Text, err, text)
				}
				got, err := k.Symbolic(t.Context(), action, event)
				if by, _ := plist.Text(got, "by"); err != nil || by != text {
					t.Errorf("symbolic %s, %v, of version %q", plist.Print(got), err, text)
				}
				if r.Statuses()[0].State != skill.Live {
					t.Errorf("status %v", r.Statuses())
				}
			}
		})
	}
	turns.Wait()
	close(stop)
	reloads.Wait()
}

func TestLoadNoteErrors(t *testing.T) {
	_, err := skill.LoadNote(t.Context(), "a.org", note(`(car 5)`), skill.Options{})
	var faults skill.Faults
	if !errors.As(err, &faults) || len(faults) != 1 || !strings.HasPrefix(err.Error(), "a.org:4:1: error: ") {
		t.Errorf("error %v", err)
	}
}
