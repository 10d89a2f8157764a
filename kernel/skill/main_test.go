package skill_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/chewxy/sexp"
	"go.uber.org/goleak"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// note puts Lisp code into a note.
func note(lines ...string) []byte {
	return []byte("#+TITLE: A note\n\n#+begin_src lisp\n" + strings.Join(lines, "\n") + "\n#+end_src\n")
}

// kernelSpecs are the kinds of actions that every kernel has.
var kernelSpecs = sync.OnceValue(func() action.Specs {
	return kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs()
})

// loaded loads a note that must load, with the kinds of actions of a kernel.
func loaded(t testing.TB, options skill.Options, lines ...string) *skill.Note {
	t.Helper()
	options.Specs = kernelSpecs
	n, err := skill.LoadNote(t.Context(), "a.org", note(lines...), options)
	if err != nil {
		t.Fatalf("load the note: %v", err)
	}
	return n
}

// theSkill returns the first skill of a note that must load.
func theSkill(t testing.TB, options skill.Options, lines ...string) *skill.Skill {
	t.Helper()
	return loaded(t, options, lines...).Skills()[0]
}

// list reads a property list.
func list(t testing.TB, text string) sexp.List {
	t.Helper()
	x, err := plist.Read(text)
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	l, ok := x.(sexp.List)
	if !ok {
		t.Fatalf("%s is not a list", text)
	}
	return l
}

func chatMessage(t testing.TB, text string) sexp.List {
	t.Helper()
	return list(t, `(:type :event :payload (:sensor :chat-message :text `+plist.Print(plist.String(text))+` :channel :emacs))`)
}

// model answers every question with the same reply and records the questions.
type model struct {
	mu        sync.Mutex
	reply     string
	err       error
	questions []skill.Ask
	// during, if set, runs while the note waits.
	during func()
}

func (m *model) Ask(_ context.Context, ask skill.Ask) (string, error) {
	m.mu.Lock()
	m.questions = append(m.questions, ask)
	m.mu.Unlock()
	if m.during != nil {
		m.during()
	}
	return m.reply, m.err
}

// recorder collects what notes log.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) log(skill, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, skill+": "+text)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}
