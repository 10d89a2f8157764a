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
		if form.Target == "tool" && !tools || f.refused(form) || r.kinds.Available(form.Key) != nil {
			continue
		}
		proposed, err := r.agent.proposedOf(form)
		if err != nil {
			r.log.Error("a form is no action", "form", form.Text, "err", err)
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

// refused reports whether the turn may not do an action of that form.
func (f *replyForms) refused(form action.Form) bool {
	proposed, err := f.run.agent.proposedOf(form)
	return err == nil && f.run.program.refuses(proposed.Action(), f.run.scene.where()) != ""
}

// formsKept is how many bytes of forms are kept as actions.
const formsKept = 256 << 10

// proposedOf is the form as a proposal.
func (a *Agent) proposedOf(form action.Form) (action.Proposed, error) {
	if proposed, ok := a.forms.Get(form.Text); ok {
		return proposed, nil
	}
	proposed, err := action.Read(form.Text)
	if err == nil {
		const atoms = 16 // about how much larger the atoms are than their text
		a.forms.Put(form.Text, proposed, atoms*len(form.Text))
	}
	return proposed, err
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
