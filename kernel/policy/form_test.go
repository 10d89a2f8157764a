package policy_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chewxy/sexp"
	"pgregory.net/rapid"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// places are turns of every channel, with ids that want quoting.
func places(t *rapid.T) policy.Where {
	where := policy.Where{Session: rapid.SampledFrom([]string{"main", "garden"}).Draw(t, "session"), Turn: "t",
		Channel: rapid.SampledFrom([]protocol.Channel{"emacs", "cli", "telegram", "signal", "matrix", "odd", "tool"}).Draw(t, "channel")}
	if where.Channel != "emacs" && where.Channel != "cli" {
		where.ChatID = rapid.OneOf(rapid.StringMatching(`.{1,12}`), rapid.Just(`a"b\`), rapid.Just("+49 1")).Draw(t, "chat")
	}
	return where
}

// readers knows one tool, which only reads.
type readers struct{}

func (readers) Find(name string) (string, protocol.ToolEffect, bool) {
	return "read", protocol.ToolReads, name == "read"
}
func (readers) Reach(_ context.Context, _ string, arguments protocol.Object) (protocol.Object, []protocol.Reach, error) {
	return arguments, nil, nil
}
func (readers) Digest(string) string { return "" }

func (readers) Nearest(string) string { return "" }

// TestForms: whatever a prompt shows as the form of a reply is an action, and with something
// sensible put in it is not refused; everything that can be proposed is shown, and no field
// that is not in the table.
func TestForms(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "note.org"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("<command>", "ls", "<path>", "note.org", "<name>", "read", ":<name>", ":effort", ":<argument>", ":path")
	p := policy.Policy{Home: home, Tools: readers{}}
	rapid.Check(t, func(t *rapid.T) {
		where := places(t)
		forms := policy.Forms(where)
		shown := map[string]bool{}
		for i, f := range forms {
			shown[strings.TrimSuffix(f.Target+" "+f.Action, " ")] = true
			action := readForm(t, f.Text)
			if err := p.Usable(action); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			v := p.Judge(context.Background(), readForm(t, filled.Replace(f.Text)), where)
			if v.Kind == policy.Refuse {
				t.Fatalf("%s is refused: %s", f, v.Reason)
			}
			answers := v.Kind == policy.Allow && v.Reason == "text into its own conversation"
			if answers != (i == 0 || f.Target == "response") {
				t.Fatalf("%d. %s answers %v, on %s", i, f, answers, where.Channel)
			}
			for _, word := range regexp.MustCompile(` :([a-z][a-z-]*)`).FindAllStringSubmatch(f.Does+f.Instead, -1) {
				if !inTable(word[1]) {
					t.Fatalf("%s speaks of :%s", f, word[1])
				}
			}
		}
		for _, row := range policy.Table() {
			name := strings.TrimSuffix(row.Target+" "+row.Action, " ")
			own := row.Action == "insert-at-end" && where.Channel != "cli" && where.Channel != "emacs" && where.Channel != "odd" && where.Channel != "tool" &&
				strings.TrimSpace(where.ChatID) != "" // a blank is nobody's conversation
			if shown[name] == (row.Off || own) {
				t.Fatalf("%s is shown: %v", name, shown[name])
			}
		}
		if !shown["response"] || !shown["log"] {
			t.Fatalf("a type is missing: %v", shown)
		}
	})
}

func inTable(field string) bool {
	return field == "action" || slices.ContainsFunc(policy.Table(), func(row policy.Row) bool {
		return slices.ContainsFunc(row.Fields, func(f policy.Field) bool { return f.Name == field })
	})
}

func readForm(t *rapid.T, text string) sexp.List {
	x, err := plist.Read(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	action, ok := x.(sexp.List)
	if !ok {
		t.Fatalf("%s is no list", text)
	}
	if got := plist.Recover(text, plist.RecoverOptions{Finished: true}); len(got.Steps) > 0 && got.Steps[0] != "strict" {
		t.Fatalf("%s is read by way of %v", text, got.Steps)
	}
	return action
}

// TestFormsOfChannels: the forms of an answer are those that the user's note prescribes.
func TestFormsOfChannels(t *testing.T) {
	for _, c := range []struct {
		channel protocol.Channel
		chat    string
		want    string
	}{
		{"emacs", "", `to answer: (:type :REQUEST :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"cli", "", `to answer: (:type :REQUEST :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"telegram", "42", `to answer: (:type :REQUEST :target :telegram :chat-id "42" :text "<answer>")`},
		{"signal", "+49", `to answer: (:type :REQUEST :target :signal :chat-id "+49" :text "<answer>")`},
		{"shell", "7", `to answer: (:type :REQUEST :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"elsewhere", "7", `to answer: (:type :REQUEST :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"matrix", `!r"x`, `to answer: (:type :REQUEST :target :matrix :room-id "!r\"x" :text "<answer>")`},
	} {
		forms := policy.Forms(policy.Where{Session: "main", Channel: c.channel, ChatID: c.chat})
		if got := forms[0].String(); got != c.want {
			t.Errorf("on %s:\n%s\nwant\n%s", c.channel, got, c.want)
		}
	}
}
