package agent

import (
	"context"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
	"org-agent/kernel/skill"
)

// program has everything in which the answering of turns differs. A person's message, a subagent's task
// and a call of another program are different values of it, and nothing else in this package
// distinguishes them.
type program struct {
	// answer answers the turn.
	answer func(r *run, ctx context.Context) error
	// cancelled is the notice of a turn that was stopped.
	cancelled string
	// skill returns the skill that answers whatever triggers and settings say; nil if they decide.
	skill func(live *skill.Set) (*skill.Skill, error)
	// refuses returns why the turn may not perform an action, whatever skill and policy say; "" if it
	// may.
	refuses func(a action.Action, where policy.Where) string
	// prompt is the composer's program for the turn.
	prompt composer.Program
	// question is the id of the turn that a person asked for. budget is the budget of that turn, which
	// this turn shares.
	question string
	budget   config.Budget
	// parent and label are the starting conversation and the label of a subagent, else "".
	parent, label string
	// projects are those that the turn begins with. foreign names text of other authors that it begins
	// with, "" for none.
	projects []string
	foreign  string
	// progress and waiting notify watchers outside the turn's conversation; nil for nobody.
	progress func(protocol.TurnProgress)
	waiting  func(bool)
	// spawnError is the error of starting a subagent, and backgroundError that of starting one without
	// waiting for it. Both are nil if the turn may.
	spawnError, backgroundError error
}

// programOf returns the program of a turn.
func (a *Agent) programOf(ctx context.Context, record journal.Turn, budget config.Budget, kinds *kind.Set) (program, error) {
	message := program{
		answer: (*run).answerMessage, cancelled: "you stopped this turn", question: record.ID, budget: budget,
		skill:   func(*skill.Set) (*skill.Skill, error) { return nil, nil },
		refuses: func(action.Action, policy.Where) string { return "" },
		prompt:  composer.Program{Kind: promptKind(record.Question)},
	}
	switch record.Question.Route.Kind {
	case protocol.RouteMCP:
		message.answer = (*run).makeCall
		message.cancelled = "you stopped this, or the program that requested it gave up or is gone"
		message.foreign = "another program's call" // its arguments may have any author
	case protocol.RouteSubagent:
		return a.subagentProgram(ctx, record, message, kinds)
	}
	if record.Question.Sensor == protocol.SensorReport { // else such turns could start each other endlessly
		message.backgroundError = protocol.ToolErrorf(protocol.ToolRefused, "no person asked for this turn, so it may leave nothing running: wait for the subagent with :wait :yes, or tell the user what is left to do")
	}
	return message, nil
}

// promptKind returns the kind of the prompts for an event.
func promptKind(event protocol.Event) prompt.Kind {
	switch {
	case event.Sensor == protocol.SensorHeartbeat:
		return prompt.Heartbeat
	case event.Route.Kind == protocol.RouteTask:
		return prompt.Task
	}
	return prompt.Chat
}

// subagentProgram returns the program of a subagent's turn. The skill of the starting turn answers it,
// under the same policy. The restrictions of subagents apply before skill and policy, whatever a person
// allowed elsewhere.
func (a *Agent) subagentProgram(ctx context.Context, record journal.Turn, p program, kinds *kind.Set) (program, error) {
	spawn, err := a.config.Journal.Subagents.Subagent(ctx, record.Event)
	if err != nil {
		return p, fmt.Errorf("find the subagent: %w", err)
	}
	above, err := a.config.Journal.Turns.Turn(ctx, spawn.Turn)
	if err != nil {
		return p, fmt.Errorf("find the turn that started the subagent: %w", err)
	}
	work := subagent.Turn{Row: spawn, Kinds: kinds, Pool: a.config.Subagents}
	p.skill, p.refuses, p.question = work.NamedSkill, work.Refuses, spawn.Turn
	p.budget = settings.Of(above).Budget
	p.parent, p.label, p.projects, p.foreign = spawn.Session, spawn.Label, spawn.Projects, spawn.Outside
	p.prompt = composer.Program{Kind: prompt.Subagent, Mode: prompt.Minimal, Restricted: true, ChangeFacts: work.Facts}
	p.spawnError = protocol.ToolErrorf(protocol.ToolRefused, "a subagent starts no subagents: do it, or say in the answer what is left to do")
	p.progress, p.waiting = work.Progress, work.Waiting
	return p, nil
}
