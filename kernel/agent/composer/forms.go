package composer

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// Forms are the forms of actions that a model is told in a turn: those of actions that can be performed, that
// neither the program nor the skill refuses, and that nothing else it is told does. Text in no form is the
// answer, unless the skill refuses what the kernel makes of it. They are found once in a turn. All exported
// fields but Grammar are required.
type Forms struct {
	Kinds Kinds
	Route protocol.Route
	// Refuses reports whether the turn may not perform an action, whatever the skill says.
	Refuses func(a action.Action) bool
	// Skill is the skill that answers. Event returns the event for it.
	Skill FormSkill
	Event func() sexp.List
	// Grammar reports whether the model accepts a grammar; nil if it does not.
	Grammar func(ctx context.Context) bool

	cached []action.Form // nil before they are known
	plain  bool          // text in no form is the answer
}

// Kinds are the kinds of actions. Available is the error of an action that nothing performs.
type Kinds interface {
	Specs() action.Specs
	Available(key action.Key) error
}

// FormSkill reports for each action whether it would let the action pass unchanged.
type FormSkill interface {
	Passes(ctx context.Context, actions []sexp.List, event sexp.List) []bool
}

// of returns the forms beside the tools with these names. The skill gets the forms themselves as proposals.
func (f *Forms) of(ctx context.Context, offered []string) []action.Form {
	if f.cached != nil {
		return f.cached
	}
	var forms []action.Form
	var actions []sexp.List
	for _, form := range f.Kinds.Specs().Forms(f.Route) {
		proposed := form.Proposed()
		if form.CallsTools() && len(offered) == 0 || f.Refuses(proposed.Action()) || f.Kinds.Available(form.Key) != nil {
			continue
		}
		forms, actions = append(forms, form), append(actions, proposed.List())
	}
	var passing []action.Form
	for i, passes := range f.Skill.Passes(ctx, actions, f.Event()) {
		if passes {
			passing = append(passing, forms[i])
			f.plain = f.plain || forms[i].Own()
		}
	}
	f.cached = []action.Form{}
	for _, form := range passing {
		if f.plain {
			form = form.Elsewhere()
		}
		if !form.Another(offered, f.plain) {
			f.cached = append(f.cached, form)
		}
	}
	return f.cached
}

// Plain reports whether text in no form is the answer.
func (f *Forms) Plain(ctx context.Context, tools []prompt.Tool) bool {
	f.of(ctx, names(tools))
	return f.plain
}

// Lines returns the forms as lines of the system prompt, for [Program.Forms].
func (f *Forms) Lines(ctx context.Context, tools []prompt.Tool) (lines []string) {
	for _, form := range f.of(ctx, names(tools)) {
		lines = append(lines, "- "+form.String())
	}
	return lines
}

// Constraint returns the grammar that restricts the reply to these forms, and to text if that is the answer, for [Program.Grammar];
// "" for a model that accepts no grammar.
func (f *Forms) Constraint(ctx context.Context, offered []tool.Tool) string {
	tools := make([]action.GrammarTool, len(offered))
	called := make([]string, len(offered))
	for i, t := range offered {
		tools[i], called[i] = action.GrammarTool{Name: t.Name(), Reads: t.Effect() == protocol.ToolReads, Arguments: t.Grammar}, t.Name()
	}
	forms := f.of(ctx, called)
	if len(forms) == 0 || f.Grammar == nil || !f.Grammar(ctx) {
		return ""
	}
	return action.Grammar(forms, tools, f.plain)
}

func names(tools []prompt.Tool) (all []string) {
	for _, t := range tools {
		all = append(all, t.Name)
	}
	return all
}
