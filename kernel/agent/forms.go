package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/prompt"
)

// replyForms are the forms of actions that a reply of the turn may have.
type replyForms struct {
	run   *run
	forms []action.Form // nil before they are known
}

// formats are the forms that a reply may have: those of actions that something performs and that the
// program and the skill let pass in this turn. The skill is shown the forms themselves, as it is shown
// a preview.
func (f *replyForms) formats(ctx context.Context, tools bool) []action.Form {
	if f.forms != nil {
		return f.forms
	}
	r := f.run
	var forms []action.Form
	var actions []sexp.List
	for _, form := range r.kinds.Specs().Forms(r.turn.Record.Question.Route) {
		proposed := form.Proposed()
		if form.CallsTools() && !tools || r.program.refuses(proposed.Action(), r.scene.where()) != "" || r.kinds.Available(form.Key) != nil {
			continue
		}
		forms, actions = append(forms, form), append(actions, proposed.List())
	}
	for i, passes := range r.skill.Passes(ctx, actions, r.steps.Event()) {
		if passes {
			f.forms = append(f.forms, forms[i])
		}
	}
	return f.forms
}

// formLines are the forms that a reply may have, as the system prompt lists them.
func (f *replyForms) formLines(ctx context.Context, tools []prompt.Tool) (lines []string) {
	for _, form := range f.formats(ctx, len(tools) > 0) {
		lines = append(lines, "- "+form.String())
	}
	return lines
}

// grammar restricts the reply to the forms that the system prompt lists. It is "" for a model that
// takes no grammar.
func (f *replyForms) grammar(ctx context.Context, offered []prompt.Tool) string {
	takes := f.run.agent.config.Grammar
	if takes == nil || !takes(f.run.settings.Model) {
		return ""
	}
	forms := f.formats(ctx, len(offered) > 0)
	if len(forms) == 0 {
		return ""
	}
	var tools []string
	for _, t := range offered {
		tools = append(tools, t.Name)
	}
	return action.Grammar(forms, tools)
}

// reply is text as an action that answers in the conversation of the turn.
func (f *replyForms) reply(text string) action.Proposed {
	return f.run.kinds.Specs().Answer(f.run.turn.Record.Question.Route, text)
}
