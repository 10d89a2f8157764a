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

// plan has the decisions about a turn that are made at its beginning and stay the same until its end.
// Live turns and dry runs have one.
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

// newPlan returns the plan of a turn. It returns one with an error too, to end the turn.
func (a *Agent) newPlan(ctx context.Context, record journal.Turn) (plan, error) {
	kinds := a.config.Kinds()
	p := plan{record: record, settings: a.settingsOf(record), kinds: kinds, policy: a.config.Policy.With(kinds)}
	p.log = a.config.Sources.Logger.With("session", record.Session, "turn", record.ID)
	var err error
	p.program, err = a.programOf(ctx, record, p.settings.Budget, kinds)
	p.scene = &scene{
		record: record, foreign: p.program.foreign, tools: a.config.Sources.Tools, kinds: kinds,
		projects: &policy.Projects{Turn: record, Given: p.program.projects, Earlier: a.config.Journal.Transcripts, Log: p.log},
	}
	p.forms = &composer.Forms{
		Kinds: kinds, Route: record.Question.Route, Refuses: func(act action.Action) bool { return p.program.refuses(act, p.scene.where()) != "" },
	}
	if a.config.Grammar != nil {
		model := p.settings.Model
		p.forms.Grammar = func(ctx context.Context) bool { return a.config.Grammar(ctx, model) }
	}
	return p, err
}

// promptProgram returns the composer's program, for a live turn or a dry run.
func (p *plan) promptProgram() composer.Program {
	program := p.program.prompt
	program.Settings, program.Persona = p.settings.Turn, p.settings.persona
	program.Forms, program.Plain, program.Functions, program.Grammar = p.forms.Lines, p.forms.Plain, p.forms.Functions, p.forms.Constraint
	return program
}

// setSkill sets the skill that answers, and the function that returns its event.
func (p *plan) setSkill(k *skill.Skill, event func() sexp.List) {
	p.forms.Skill, p.forms.Event = k, event
}
