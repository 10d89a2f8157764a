package agent

import (
	"context"
	"log/slog"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
)

// plan is how a turn is answered, as far as that is decided when it begins, whatever changes meanwhile.
// A turn that is answered has one, and so has a turn whose prompt is only shown.
type plan struct {
	record   journal.Turn
	settings turnSettings
	kinds    *kind.Set
	policy   *policy.Policy
	program  program
	scene    *scene
	forms    *composer.Forms
	log      *slog.Logger
}

// newPlan decides how the turn is answered. With an error there is a plan as well, to end the turn with.
func (a *Agent) newPlan(ctx context.Context, record journal.Turn) (plan, error) {
	kinds := a.config.Kinds()
	p := plan{record: record, settings: a.settingsOf(record), kinds: kinds, policy: a.config.Policy.With(kinds)}
	p.log = a.config.Sources.Logger.With("session", record.Session, "turn", record.ID)
	var err error
	p.program, err = a.programOf(ctx, record, p.settings.Budget, kinds)
	p.scene = &scene{
		record: record, foreign: p.program.outside, tools: a.config.Sources.Tools, kinds: kinds,
		projects: &policy.Projects{Turn: record, Given: p.program.projects, Earlier: a.config.Journal.Transcripts, Log: p.log},
	}
	p.forms = &composer.Forms{
		Kinds: kinds, Route: record.Question.Route, Refuses: func(act action.Action) bool { return p.program.refuses(act, p.scene.where()) != "" },
		Grammar: a.config.Grammar != nil && a.config.Grammar(p.settings.Model),
	}
	return p, err
}

// prompt is how the requests of the turn are composed, whether they are sent or only shown.
func (p *plan) prompt() composer.Program {
	program := p.program.prompt
	program.Settings, program.Persona = p.settings.Turn, p.settings.persona
	program.Forms, program.Grammar = p.forms.Lines, p.forms.Constraint
	return program
}

// chosen sets the skill that answers, and the event that it is given.
func (p *plan) chosen(k *skill.Skill, event func() sexp.List) {
	p.forms.Skill, p.forms.Event = k, event
}
