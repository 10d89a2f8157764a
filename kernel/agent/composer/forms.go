package composer

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// Forms are the forms of actions that a reply of a turn may have: those of actions that something
// performs and that neither the program nor the skill refuses. They are found once in a turn. All of it is
// required but where it says so.
type Forms struct {
	Kinds Kinds
	Route protocol.Route
	// Refuses reports whether the turn may not do an action, whatever the skill says.
	Refuses func(a action.Action) bool
	// Skill is the skill that answers, and Event the event that it is given.
	Skill FormSkill
	Event func() sexp.List
	// Grammar is set if the model can be held to a grammar.
	Grammar bool

	found []action.Form // nil before they are known
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

// of returns the forms. The skill is shown the forms themselves, as it is shown a preview.
func (f *Forms) of(ctx context.Context, tools bool) []action.Form {
	if f.found != nil {
		return f.found
	}
	var forms []action.Form
	var actions []sexp.List
	for _, form := range f.Kinds.Specs().Forms(f.Route) {
		proposed := form.Proposed()
		if form.CallsTools() && !tools || f.Refuses(proposed.Action()) || f.Kinds.Available(form.Key) != nil {
			continue
		}
		forms, actions = append(forms, form), append(actions, proposed.List())
	}
	for i, passes := range f.Skill.Passes(ctx, actions, f.Event()) {
		if passes {
			f.found = append(f.found, forms[i])
		}
	}
	return f.found
}

// Lines are the forms as the system prompt lists them, for [Program.Forms].
func (f *Forms) Lines(ctx context.Context, tools []prompt.Tool) (lines []string) {
	for _, form := range f.of(ctx, len(tools) > 0) {
		lines = append(lines, "- "+form.String())
	}
	return lines
}

// Constraint restricts the reply to the forms that the system prompt lists, for [Program.Grammar]. It is
// "" for a model that takes no grammar.
func (f *Forms) Constraint(ctx context.Context, offered []prompt.Tool) string {
	if !f.Grammar {
		return ""
	}
	forms := f.of(ctx, len(offered) > 0)
	if len(forms) == 0 {
		return ""
	}
	var tools []string
	for _, t := range offered {
		tools = append(tools, t.Name)
	}
	return action.Grammar(forms, tools)
}
