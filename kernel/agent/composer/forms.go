package composer

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// Forms are the forms of actions that a reply of a turn may have: those of actions that can be
// performed and that neither the program nor the skill refuses. They are found once in a turn. All
// exported fields are required.
type Forms struct {
	Kinds Kinds
	Route protocol.Route
	// Refuses reports whether the turn may not perform an action, whatever the skill says.
	Refuses func(a action.Action) bool
	// Skill is the skill that answers. Event returns the event for it.
	Skill FormSkill
	Event func() sexp.List
	// Grammar is set if the model accepts a grammar.
	Grammar bool

	cached []action.Form // nil before they are known
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

// of returns the forms. The skill gets the forms themselves as proposals.
func (f *Forms) of(ctx context.Context, tools bool) []action.Form {
	if f.cached != nil {
		return f.cached
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
			f.cached = append(f.cached, forms[i])
		}
	}
	return f.cached
}

// Lines returns the forms as lines of the system prompt, for [Program.Forms].
func (f *Forms) Lines(ctx context.Context, tools []prompt.Tool) (lines []string) {
	for _, form := range f.of(ctx, len(tools) > 0) {
		lines = append(lines, "- "+form.String())
	}
	return lines
}

// Constraint returns the grammar that restricts the reply to these forms, for [Program.Grammar]; "" for
// a model that accepts no grammar.
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
