package composer_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/plist"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// cautious is a skill that refuses every action with this word.
type cautious struct {
	word  string
	asked int
}

func (c *cautious) Passes(_ context.Context, actions []sexp.List, _ sexp.List) []bool {
	c.asked++
	passes := make([]bool, len(actions))
	for i, a := range actions {
		passes[i] = c.word == "" || !strings.Contains(plist.Print(a), c.word)
	}
	return passes
}

// TestForms: the prompt and the grammar have the forms of actions that can be performed and that nothing
// refuses. The skill is asked once in a turn.
func TestForms(t *testing.T) {
	tools := []prompt.Tool{{Name: "read"}}
	for name, c := range map[string]struct {
		tools   []prompt.Tool
		refuses string // the target that the program refuses
		word    string // that the skill refuses
		offers  []string
		hides   []string
	}{
		"everything":    {tools, "", "", []string{":target :tool", ":batch", ":edit"}, []string{":response", ":insert-at-end", ":log"}},
		"no tools":      {nil, "", "", []string{":edit"}, []string{":target :tool"}},
		"the program":   {tools, "tool", "", []string{":edit"}, []string{":target :tool"}},
		"the skill":     {tools, "", ":batch", []string{":target :tool"}, []string{":batch"}},
		"other ways":    {[]prompt.Tool{{Name: "edit"}, {Name: "org_edit"}, {Name: "start_subagent"}}, "", "", []string{":target :tool"}, []string{":edit", ":set-properties", ":spawn"}},
		"not performed": {tools, "", "", []string{":target :tool"}, []string{":shell"}}, // without commands
	} {
		t.Run(name, func(t *testing.T) {
			k := &cautious{word: c.word}
			forms := &composer.Forms{
				Kinds: kind.New(act.Kinds(act.Deps{})...), Route: protocol.LocalRoute(protocol.ChannelEmacs), Skill: k, Event: func() sexp.List { return nil },
				Refuses: func(a action.Action) bool { return c.refuses != "" && a.Key().Target == c.refuses }, Grammar: func(context.Context) bool { return true },
			}
			lines := strings.Join(forms.Lines(t.Context(), c.tools), "\n")
			var callable []tool.Tool
			for _, one := range c.tools {
				callable = append(callable, tool.NewForeign(tool.Foreign{Name: one.Name, Digest: "1"}))
			}
			grammar := forms.Constraint(t.Context(), callable)
			for _, text := range c.offers {
				if !strings.Contains(lines, text) {
					t.Errorf("%s is not offered in\n%s", text, lines)
				}
			}
			for _, text := range c.hides {
				if strings.Contains(lines, text) {
					t.Errorf("%s is offered in\n%s", text, lines)
				}
			}
			if grammar == "" || k.asked != 1 {
				t.Errorf("the skill was asked %d times, and the grammar is %q", k.asked, grammar)
			}
			forms.Grammar = nil
			if grammar := forms.Constraint(t.Context(), callable); grammar != "" {
				t.Errorf("a model without grammars gets %q", grammar)
			}
		})
	}
}

// False is an argument: a tool may take a missing one for true. What a model writes as JSON comes to the tool
// through the action, and goes back to the model as what it wrote.
func TestFalseIsAnArgument(t *testing.T) {
	forms := &composer.Forms{Kinds: kind.New(act.Kinds(act.Deps{})...), Route: protocol.LocalRoute(protocol.ChannelEmacs), Skill: &cautious{}, Event: func() sexp.List { return nil },
		Refuses: func(action.Action) bool { return false }}
	echo := tool.NewForeign(tool.Foreign{Name: "echo", Digest: "1", Schema: protocol.Object{{Key: "type", Value: "object"}}})
	functions := forms.Functions(t.Context(), []tool.Tool{echo})
	for written, want := range map[string]string{
		`{"loud":false}`:                      `{"loud":null}`,
		`{"deep":[{"loud":false,"more":{}}]}`: `{"deep":[{"loud":null,"more":null}]}`,
		`{"text":"a","names":[],"x":null}`:    `{"text":"a","names":null,"x":null}`,
		`{"loud":true}`:                       `{"loud":true}`,
		`{}`:                                  `{}`,
	} {
		text, err := functions[slices.IndexFunc(functions, func(f llm.Tool) bool { return f.Name == "echo" })].Propose([]byte(written))
		if err != nil {
			t.Fatal(err)
		}
		proposed, err := action.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		call := proposed.Action().Calls()[0]
		arguments, err := call.Arguments()
		got, failed := json.Marshal(arguments)
		if arguments == nil {
			got = []byte("{}")
		}
		if err != nil || failed != nil || string(got) != want {
			t.Errorf("%s comes to the tool as %s, %v, %v", written, got, err, failed)
		}
		if again, err := call.WithArguments(arguments); err != nil || !plist.Equal(again.Args, call.Args) {
			t.Errorf("%s is %s after it was read, %v", written, plist.Print(again.Args), err)
		}
		shown := dialect.NewNative(true).Text(llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{Action: text}}})
		if shown != "echo"+want {
			t.Errorf("%s is shown to the model as %s", written, shown)
		}
	}
}
