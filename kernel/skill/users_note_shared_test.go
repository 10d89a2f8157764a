//go:build shared

package skill_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/skill"
	"org-agent/skills"
)

// sharedNote returns the user's own note.
func sharedNote(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(os.Getenv("ORG_AGENT_SHARED"), "seeds", "org-skill-chat.org"))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestTheUsersNoteWinsChat checks that the user's note loads unchanged, and takes precedence for
// chat messages.
func TestTheUsersNoteWinsChat(t *testing.T) {
	h := newHome(t)
	h.write("org-skill-chat.org", sharedNote(t))
	r := skill.New(skill.Config{Specs: kernelSpecs, Home: h.dir, Shipped: skills.Notes()})
	r.Load(t.Context())
	for _, want := range []string{"org-skill-chat.org live", "shipped/chat.org shadowed"} {
		if got := summary(r); !slices.Contains(strings.Split(got, ", "), want) {
			t.Errorf("%s: not in %s: %v", want, got, r.Statuses())
		}
	}
	k, faults := r.Current().Best(t.Context(), chatMessage(t, "Hello"))
	if k == nil || k.Name != "skill-chat" || faults != nil {
		t.Fatalf("chat is won by %v, %v", k, faults)
	}
	m := &model{reply: `(:type :REQUEST :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* Hi")`}
	out, err := k.Neuro(t.Context(), chatMessage(t, "Hello"), m)
	if err != nil || out.Kind != skill.Reply || out.Text != m.reply || len(m.questions) != 1 || m.questions[0].Text != "Hello" {
		t.Errorf("%v %q after %v, %v", out.Kind, out.Text, m.questions, err)
	}
	action := list(t, m.reply)
	if got, err := k.Symbolic(t.Context(), action, chatMessage(t, "Hello")); err != nil || len(got) != len(action) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTheUsersNoteConforms checks that every call of the user's note returns what SBCL returns.
func TestTheUsersNoteConforms(t *testing.T) {
	n, err := skill.LoadNote(t.Context(), "org-skill-chat.org", sharedNote(t), skill.Options{Specs: kernelSpecs})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(os.Getenv("ORG_AGENT_SHARED"), "conformance", "chat-note-cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	count := 0
	for lines.Scan() {
		var test struct{ Function, Args, Value string }
		if err := json.Unmarshal(lines.Bytes(), &test); err != nil {
			t.Fatal(err)
		}
		count++
		got := "error"
		form := "(apply #'" + test.Function + " '" + test.Args + ")"
		if err := skill.DryRun(n.Environment()).Eval(t.Context(), form, "case", 1, func(text string) { got = text }); err != nil {
			got = "error"
		}
		if want := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(test.Value); got != want {
			t.Errorf("%s\n got %s\nwant %s", form, got, want)
		}
	}
	if count != 61 {
		t.Errorf("%d cases", count)
	}
}
