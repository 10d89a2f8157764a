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

// program is how a turn is answered where turns differ. A person's message, the work of a subagent
// and a call of another program are values of it, and nothing else in this package tells them
// apart.
type program struct {
	// answer answers the turn.
	answer func(r *run, ctx context.Context) error
	// cancelled is what a person is told of a turn that was stopped.
	cancelled string
	// skill is the skill that answers whatever triggers and settings say; nil where they decide.
	skill func(live *skill.Set) (*skill.Skill, error)
	// refuses says why the turn may not do an action, whatever skill and policy say; "" if it may.
	refuses func(a action.Action, where policy.Where) string
	// prompt is how the requests of the turn are composed.
	prompt composer.Program
	// question is the turn that a person asked for, whose budget the turn shares. Budget is that
	// budget.
	question string
	budget   config.Budget
	// parent and label are those of a subagent: the conversation that started it, and its label.
	parent, label string
	// projects and outside are the projects that the turn is about, and what others may have written
	// of its text, as far as they are known when it begins.
	projects []string
	outside  string
	// progress and waiting notify those who watch the turn from outside its conversation; nil for
	// nobody.
	progress func(protocol.TurnProgress)
	waiting  func(bool)
	// mayNotSpawn is the error of starting a subagent, and mayNotLeave that of starting one without
	// waiting for it. Both are nil where the turn may.
	mayNotSpawn, mayNotLeave error
}

// programOf decides how the turn is answered.
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
		message.cancelled = "you stopped this, or the program that wanted it gave up or is gone"
		message.outside = "another program's call" // anybody may have written its arguments
	case protocol.RouteSubagent:
		return a.subagentProgram(ctx, record, message, kinds)
	}
	if record.Question.Sensor == protocol.SensorReport { // or such turns could go on without anybody for ever
		message.mayNotLeave = protocol.ToolErrorf(protocol.ToolRefused, "no person asked for this turn, so nothing is begun behind it: wait for the subagent with :wait :yes, or tell the user what is left to do")
	}
	return message, nil
}

// promptKind is the kind of turn that the prompts for an event are for.
func promptKind(event protocol.Event) prompt.Kind {
	switch {
	case event.Sensor == protocol.SensorHeartbeat:
		return prompt.Heartbeat
	case event.Route.Kind == protocol.RouteTask:
		return prompt.Task
	}
	return prompt.Chat
}

// subagentProgram is how a subagent's turn is answered: by the skill of the turn that started it, and
// under the same policy. What a subagent may not do is decided before skill and policy, whatever its
// model was shown and whatever a person allowed elsewhere.
func (a *Agent) subagentProgram(ctx context.Context, record journal.Turn, p program, kinds *kind.Set) (program, error) {
	spawn, err := a.config.Journal.Subagents.Subagent(ctx, record.Event)
	if err != nil {
		return p, fmt.Errorf("look for what was handed on: %w", err)
	}
	above, err := a.config.Journal.Turns.Turn(ctx, spawn.Turn)
	if err != nil {
		return p, fmt.Errorf("look for the turn that handed it on: %w", err)
	}
	work := subagent.Work{Row: spawn, Kinds: kinds, Pool: a.config.Subagents}
	p.skill, p.refuses, p.question = work.NamedSkill, work.Refuses, spawn.Turn
	p.budget = settings.Of(above).Budget
	p.parent, p.label, p.projects, p.outside = spawn.Session, spawn.Label, spawn.Projects, spawn.Outside
	p.prompt = composer.Program{Kind: prompt.Subagent, Mode: prompt.Minimal, Bound: true, Change: work.Facts}
	p.mayNotSpawn = protocol.ToolErrorf(protocol.ToolRefused, "a subagent hands on no work: do it, or say in the answer what is left to do")
	p.progress, p.waiting = work.Progress, work.Waiting
	return p, nil
}
