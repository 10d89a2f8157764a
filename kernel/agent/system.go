package agent

import (
	"context"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/prompt"
)

// formats are the forms that a reply may have: those that the kernel and the skill let
// through in this turn, and that something performs. The skill is asked as it is about a
// preview, with the forms themselves.
func (r *run) formats(ctx context.Context, tools bool) []action.Form {
	if r.forms != nil {
		return r.forms
	}
	var forms []action.Form
	var actions []sexp.List
	for _, form := range r.agent.config.Kinds.Specs().Forms(r.turn.Record.Question.Route) {
		if form.Target == "tool" && !tools || r.beyondForm(form) || r.agent.config.Kinds.Available(form.Key) != nil {
			continue
		}
		proposed, err := r.agent.proposedOf(form)
		if err != nil {
			r.log.Error("a form is no action", "form", form.Text, "err", err)
			continue
		}
		forms, actions = append(forms, form), append(actions, proposed.List())
	}
	for i, passes := range r.skill.Passes(ctx, actions, r.event()) {
		if passes {
			r.forms = append(r.forms, forms[i])
		}
	}
	return r.forms
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

// formLines are the forms that a reply may have, as the model is told of them.
func (r *run) formLines(ctx context.Context, tools []prompt.Tool) (lines []string) {
	for _, form := range r.formats(ctx, len(tools) > 0) {
		lines = append(lines, "- "+form.String())
	}
	return lines
}

// grammar holds the reply to the forms that the model is told of, where it can be held to
// anything; "" elsewhere.
func (r *run) grammar(ctx context.Context, offered []prompt.Tool) string {
	takes := r.agent.config.Grammar
	if takes == nil || !takes(r.turn.Record.Wanted) {
		return ""
	}
	forms := r.formats(ctx, len(offered) > 0)
	if len(forms) == 0 {
		return ""
	}
	var tools []string
	for _, t := range offered {
		tools = append(tools, t.Name)
	}
	return action.Grammar(forms, tools)
}
