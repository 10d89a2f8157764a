package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
// apart. None of its functions is nil.
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
	// progress and waiting notify those who watch the turn from outside its conversation.
	progress func(protocol.TurnProgress)
	waiting  func(bool)
	// mayNotSpawn is the error of starting a subagent, and mayNotLeave that of starting one without
	// waiting for it. Both are nil where the turn may.
	mayNotSpawn, mayNotLeave error
}

// programOf decides how the turn is answered.
func (a *Agent) programOf(ctx context.Context, record journal.Turn, budget config.Budget, kinds *kind.Set) (program, error) {
	message := program{
		answer: (*run).answer, cancelled: "you stopped this turn", question: record.ID, budget: budget,
		skill:    func(*skill.Set) (*skill.Skill, error) { return nil, nil },
		refuses:  func(action.Action, policy.Where) string { return "" },
		progress: func(protocol.TurnProgress) {}, waiting: func(bool) {},
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
	s := subagentWork{Subagent: spawn, kinds: kinds, pool: a.config.Subagents}
	p.skill, p.refuses, p.question = s.skill, s.refuses, spawn.Turn
	p.budget = settings.Of(above).Budget
	p.parent, p.label, p.projects, p.outside = spawn.Session, spawn.Label, spawn.Projects, spawn.Outside
	p.prompt = composer.Program{Mode: prompt.Minimal, Bound: true, Change: s.facts}
	p.mayNotSpawn = protocol.ToolErrorf(protocol.ToolRefused, "a subagent hands on no work: do it, or say in the answer what is left to do")
	if s.pool != nil {
		p.progress, p.waiting = s.progress, s.waiting
	}
	return p, nil
}

// subagentWork is the work of a subagent.
type subagentWork struct {
	journal.Subagent
	kinds *kind.Set
	pool  *subagent.Pool
}

// skill is the skill of the turn that started the subagent: an action that it refuses there is refused
// here.
func (s subagentWork) skill(live *skill.Set) (*skill.Skill, error) {
	if k := live.Named(s.Skill); k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("the skill %s, which handed this on, is not live any more; \"org-agent skill list\" says why", s.Skill)
}

// withheldTools are the tools that no subagent has: nobody answers its questions, and it starts no
// subagents.
var withheldTools = [...]string{"sessions_spawn", "list_subagents", "ask_user"}

// has reports whether the subagent has the tool of that name, as it is written.
func (s subagentWork) has(name string) bool {
	if slices.Contains(withheldTools[:], name) {
		return false
	}
	return s.Tools == nil || slices.ContainsFunc(s.Tools, func(t string) bool { return sameTool(t, name) })
}

// sameTool reports whether two names are of the same tool.
func sameTool(a, b string) bool {
	fold := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(strings.TrimPrefix(s, ":"))), "-", "_")
	}
	return fold(a) == fold(b)
}

// refuses says why a subagent may not do an action. It may always write into its own conversation.
func (s subagentWork) refuses(a action.Action, where policy.Where) string {
	if s.kinds.Ends(a, where) {
		return ""
	}
	needs, refused := s.kinds.Subagent(a)
	if refused != "" {
		return refused
	}
	for _, name := range needs {
		switch {
		case s.has(name):
		case slices.Contains(withheldTools[:], name):
			return fmt.Sprintf("a subagent has no %s: nobody answers its questions, and it hands on nothing", name)
		default:
			return fmt.Sprintf("the tool %s was not handed to this subagent: it has %s", name, strings.Join(s.Tools, ", "))
		}
	}
	return ""
}

// facts makes the facts of a prompt those of a subagent.
func (s subagentWork) facts(facts *prompt.Facts) {
	facts.Kind = prompt.Subagent
	facts.Handed = prompt.Handed{Requester: s.Session, Child: s.Conversation, Label: s.Label, Task: s.Task}
	facts.Tools = slices.DeleteFunc(facts.Tools, func(t prompt.Tool) bool { return !s.has(t.Name) })
	if !slices.ContainsFunc(facts.Tools, func(t prompt.Tool) bool { return t.Name == "use_skill" }) {
		facts.Skills, facts.MoreSkills = "", 0
	}
}

func (s subagentWork) progress(at protocol.TurnProgress) { s.pool.Progress(s.ID, at) }
func (s subagentWork) waiting(waiting bool)              { s.pool.Waiting(s.ID, waiting) }
