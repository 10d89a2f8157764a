package composer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
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
		"everything":    {tools, "", "", []string{":RESPONSE", ":target :tool", ":batch"}, nil},
		"no tools":      {nil, "", "", []string{":RESPONSE"}, []string{":target :tool"}},
		"the program":   {tools, "tool", "", []string{":RESPONSE"}, []string{":target :tool"}},
		"the skill":     {tools, "", ":batch", []string{":RESPONSE", ":target :tool"}, []string{":batch"}},
		"not performed": {tools, "", "", []string{":RESPONSE"}, []string{":shell"}}, // without commands
	} {
		t.Run(name, func(t *testing.T) {
			k := &cautious{word: c.word}
			forms := &composer.Forms{
				Kinds: kind.New(act.Kinds(act.Deps{})...), Route: protocol.LocalRoute(protocol.ChannelEmacs), Skill: k, Event: func() sexp.List { return nil },
				Refuses: func(a action.Action) bool { return c.refuses != "" && a.Key().Target == c.refuses }, Grammar: true,
			}
			lines := strings.Join(forms.Lines(t.Context(), c.tools), "\n")
			grammar := forms.Constraint(t.Context(), c.tools)
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
			forms.Grammar = false
			if grammar := forms.Constraint(t.Context(), c.tools); grammar != "" {
				t.Errorf("a model without grammars gets %q", grammar)
			}
		})
	}
}
