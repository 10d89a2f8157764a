package act_test

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

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// places draws turns of every channel, with ids that need quoting.
func places(t *rapid.T) policy.Where {
	session := rapid.SampledFrom([]string{"main", "garden"}).Draw(t, "session")
	name, chat := rapid.SampledFrom([]protocol.Channel{"emacs", "cli", "telegram", "signal", "matrix", "odd", "tool"}).Draw(t, "channel"), ""
	if name != "emacs" && name != "cli" {
		chat = rapid.OneOf(rapid.StringMatching(`.{1,12}`), rapid.Just(`a"b\`), rapid.Just("+49 1")).Draw(t, "chat")
	}
	return policy.Where{Session: session, Turn: "t", Route: protocol.RouteOf(protocol.SensorChatMessage, name, chat)}
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

func (readers) Trust(string) (string, string) { return "", "" }

func (readers) Guard(context.Context, string, protocol.Object) (string, error) { return "", nil }

func (readers) Nearest(string) string { return "" }

// builtIn returns the built-in kinds, without anything that performs them.
func builtIn() *kind.Set { return kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...) }

// TestForms checks that every form of a prompt, filled with plausible values, is an action that is
// not refused, and that the forms show every kind that can be proposed and no unknown field.
func TestForms(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "note.org"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	filled := strings.NewReplacer("<command>", "ls", "<path>", "note.org", "<name>", "read", ":<name>", ":effort", ":<argument>", ":path")
	p := policy.Policy{Home: home, Tools: readers{}, Kinds: builtIn()}
	rapid.Check(t, func(t *rapid.T) {
		where := places(t)
		forms := builtIn().Specs().Forms(where.Route)
		shown := map[string]bool{}
		for i, f := range forms {
			shown[strings.TrimSuffix(f.Target+" "+f.Name, " ")] = true
			if _, err := p.Usable(readForm(t, f.Text)); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			if got, want := f.Proposed().String(), readForm(t, f.Text).String(); got != want {
				t.Fatalf("%s is the proposal %s", f.Text, got)
			}
			if f.CallsTools() != (f.Target == "tool") {
				t.Fatalf("%s calls tools: %v", f, f.CallsTools())
			}
			v := p.Judge(context.Background(), readForm(t, filled.Replace(f.Text)).Action(), where)
			if v.Kind == policy.Refuse {
				t.Fatalf("%s is refused: %s", f, v.Reason)
			}
			answers := v.Kind == policy.Allow && v.Reason == "text into its own conversation"
			if answers != (i == 0 || f.Target == "response") {
				t.Fatalf("%d. %s answers %v, on %s", i, f, answers, where.Route.Channel)
			}
			for _, word := range regexp.MustCompile(` :([a-z][a-z-]*)`).FindAllStringSubmatch(f.Does+f.Instead, -1) {
				if !inTable(word[1]) {
					t.Fatalf("%s speaks of :%s", f, word[1])
				}
			}
		}
		for _, row := range builtIn().Specs() {
			name := strings.TrimSuffix(row.Target+" "+row.Name, " ")
			own := row.Name == "insert-at-end" && where.Route.Channel != "cli" && where.Route.Channel != "emacs" && where.Route.Channel != "odd" && where.Route.Channel != "tool" &&
				strings.TrimSpace(where.Route.Chat) != "" // a blank names no conversation
			if shown[name] == (row.Off != "" || own) {
				t.Fatalf("%s is shown: %v", name, shown[name])
			}
		}
		if !shown["response"] || !shown["log"] {
			t.Fatalf("a type is missing: %v", shown)
		}
	})
}

// TestProposeCall checks that a call as an action is one that a model might have proposed.
func TestProposeCall(t *testing.T) {
	for want, call := range map[string]action.Call{
		`(:type :request :target :tool :action :call :tool "read" :args (:path "a"))`: {Tool: "read", Args: sexp.List{plist.Keyword("path"), plist.String("a")}},
		`(:type :request :target :tool :action :call :tool "list_skills")`:            {Tool: "list_skills", Args: sexp.List{}},
	} {
		got, err := builtIn().Specs().Usable(builtIn().Specs().ProposeCall(call))
		if err != nil || got.String() != want {
			t.Errorf("%s is %s, %v", call.Line(), got, err)
		}
	}
	if got := (action.Specs{}).ProposeCall(action.Call{Tool: "read"}); !got.Empty() {
		t.Errorf("where no kind calls tools it is %s", got)
	}
}

func inTable(field string) bool {
	return field == "action" || slices.ContainsFunc(builtIn().Specs(), func(row action.Spec) bool { return row.HasField(field) })
}

func readForm(t *rapid.T, text string) action.Proposed {
	x, err := plist.Read(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	list, ok := x.(sexp.List)
	if !ok {
		t.Fatalf("%s is no list", text)
	}
	if got := plist.Recover(text, plist.RecoverOptions{Finished: true}); len(got.Steps) > 0 && got.Steps[0] != "strict" {
		t.Fatalf("%s is read by way of %v", text, got.Steps)
	}
	return action.Propose(list)
}

// TestFormsOfChannels checks the forms of an answer on each channel against the user's note.
func TestFormsOfChannels(t *testing.T) {
	for _, c := range []struct {
		channel protocol.Channel
		chat    string
		want    string
	}{
		{"emacs", "", `to answer: (:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"cli", "", `to answer: (:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"telegram", "42", `to answer: (:type :request :target :telegram :chat-id "42" :text "<answer>")`},
		{"signal", "+49", `to answer: (:type :request :target :signal :chat-id "+49" :text "<answer>")`},
		{"shell", "7", `to answer: (:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"elsewhere", "7", `to answer: (:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text "* <heading>\n<answer>")`},
		{"matrix", `!r"x`, `to answer: (:type :request :target :matrix :room-id "!r\"x" :text "<answer>")`},
	} {
		forms := builtIn().Specs().Forms(protocol.RouteOf(protocol.SensorChatMessage, c.channel, c.chat))
		if got := forms[0].String(); got != c.want {
			t.Errorf("on %s:\n%s\nwant\n%s", c.channel, got, c.want)
		}
	}
}
