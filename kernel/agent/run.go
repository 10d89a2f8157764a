package agent

import (
	"context"
	"errors"
	"log/slog"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/agent/person"
	"org-agent/kernel/agent/reply"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// run answers one turn. It has the turn's plan, the parts that carry it out, and the chosen skill.
type run struct {
	agent *Agent
	turn  *session.Turn
	plan  plan
	skill *skill.Skill // nil before it is chosen, and for another program's call
	log   *slog.Logger

	requests *composer.Turn
	model    *reply.Turn
	steps    *loop.Steps
	meter    *loop.Meter
	gate     *gate.Gate
	loop     *loop.Loop
	person   *person.Turn
	spawner  *subagent.Spawner
	hooks    *turnHooks
	rows     *recorder
	orders   orders
}

// newRun returns the run of a turn. It returns one with an error too, to end the turn.
func (a *Agent) newRun(ctx context.Context, turn *session.Turn) (*run, error) {
	record, j := turn.Record, a.config.Journal
	plan, err := a.newPlan(ctx, record)
	r := &run{agent: a, turn: turn, plan: plan, log: plan.log}
	r.rows = &recorder{turn: record, journal: j.Records, hide: a.desk.Secrets.HideJSON, log: r.log}
	r.meter = &loop.Meter{
		Budget: loop.NewBudget(plan.settings.Budget), Turn: record.ID, Event: record.Event, Question: plan.program.question,
		UsageStore: j.Usage, Screen: turn, OnProgress: plan.program.progress, Log: r.log,
	}
	r.meter.Budget.Share(plan.program.budget)
	r.steps = &loop.Steps{Question: eventOf(record), Trail: turn, Rows: r.rows, Kinds: plan.kinds, Meter: r.meter, Log: r.log}
	r.compose(ctx)
	plan.scene.steps, plan.scene.past = r.steps, r.requests.Past
	r.hooks = &turnHooks{turn: turn, hooks: a.config.Hooks, journal: j.Records, rows: r.rows, steps: r.steps, where: plan.scene.where}
	r.connectTools()
	r.gate = newGate(r)
	r.loop = newLoop(r)
	r.model = &reply.Turn{
		Sender: a.sender, Record: record, Requests: r.requests, Steps: r.steps, Meter: r.meter, Rows: r.rows, Screen: turn, Gate: r.gate,
		OnModel: r.showSkillAndModel, Together: r.plan.forms.Together, Answer: r.replyAction, Plain: record.Question.Route.TakesProse(), Resumed: turn.Checkpoint.First() > 0, Log: r.log,
	}
	return r, err
}

// compose connects the composer of the turn. A turn that an earlier kernel began repeats the requests
// of that kernel.
func (r *run) compose(ctx context.Context) {
	begun := r.turn.Checkpoint
	attempt := composer.Attempt{
		Turn: r.turn.Record, Progress: begun, AwaitsPerson: r.turn.Waits(), Rows: r.agent.config.Journal.Records, Attachments: r.agent.config.Journal.Turns,
	}
	program := r.plan.promptProgram()
	program.FirstRequest, program.Requests = begun.First(), begun.Requests
	program.Items, program.Reminders, program.System = attempt.Items, attempt.Reminders, attempt.System
	program.Window = func(ctx context.Context) llm.Window { return r.agent.window(ctx, r.plan.settings.Model, true) }
	r.requests = r.agent.composer.Turn(ctx, r.turn.Record, program)
	r.steps.Exchange = &r.requests.Exchange
}

// connectTools connects the parts that ask people and start subagents, and makes the turn's tools.
func (r *run) connectTools() {
	c, p := r.agent.config, r.plan.program
	r.person = &person.Turn{
		Desk: r.agent.desk, Record: r.turn.Record, Screen: r.turn, Steps: r.steps, Clock: &r.meter.Budget, Kinds: r.plan.kinds,
		Subagent: p.label, Parent: p.parent, OnWaiting: p.waiting, Log: r.log,
	}
	conversation := composer.Conversation(r.turn.Record)
	r.spawner = &subagent.Spawner{
		Pool: c.Subagents, Turn: r.turn.Record, Group: !conversation.Alone, Model: r.plan.settings.Model, Budget: r.plan.settings.Budget, Scene: r.plan.scene,
		SpawnError: p.spawnError, BackgroundError: p.backgroundError, CheckModel: c.CheckModel, BeforeStart: func() { r.meter.HasSubagents = true },
		Hide: r.agent.Hide, NewID: c.NewID, Now: c.Now,
	}
	results := history.Results{Session: r.turn.Record.Session, Running: r.requests.Exchange.Steps, Earlier: c.Journal.Transcripts}
	tools := c.Sources.Tools.For(&tool.Caller{
		Conversation: conversation, RequestedSkill: r.plan.settings.requestedSkill, Asker: r.person, Results: results.Whole, Subagents: r.spawner,
	})
	r.person.Tools, r.spawner.Tools, r.plan.scene.tools = tools, tools, tools
	r.orders = orders{newID: c.NewID, record: r.turn.Record, answer: r.turn.AnswerID, tools: tools}
}

// answerMessage answers a message: it takes steps until the answer is in the conversation. A turn that
// an earlier kernel began goes on from its last step.
func (r *run) answerMessage(ctx context.Context) error {
	if err := r.restore(ctx); err != nil {
		return err
	}
	if r.turn.Waits() {
		done, err := r.meter.Budget.Within(ctx, r.resumeWaiting)
		if done || err != nil {
			return err
		}
	}
	if r.skill == nil {
		if err := r.chooseSkill(ctx); err != nil {
			return err
		}
		if err := r.recordLostAnswers(ctx, ""); err != nil {
			return err
		}
		if err := r.hooks.notifyStart(ctx); err != nil {
			return err
		}
	}
	return r.loop.Run(ctx)
}

// replyAction returns the action that writes a text as the answer into the turn's conversation.
func (r *run) replyAction(text string) action.Proposed {
	return r.plan.kinds.Specs().Answer(r.turn.Record.Question.Route, text)
}

// chooseSkill chooses the skill that answers.
func (r *run) chooseSkill(ctx context.Context) error {
	k, faults, err := r.agent.choose(ctx, &r.plan, r.steps.Event())
	if err != nil {
		return err
	}
	r.plan.setSkill(k, r.steps.Event)
	r.skill, r.requests.Skill = k, k.Hash
	r.gate.Skill, r.gate.SkillName = k, k.Name
	r.loop.Skill, r.loop.SkillName = k, k.Name
	r.person.Skill, r.spawner.Skill = k.Name, k.Name
	r.showSkillAndModel("") // no model yet: some skills need none
	r.rows.Record(ctx, journal.KindChoice, r.choice(ctx, faults))
	if len(r.requests.Exchange.Steps()) > 0 { // an earlier attempt has used the requested skill
		return nil
	}
	call, err := r.agent.requestedSkillStep(&r.plan)
	if call != nil {
		r.steps.BeginAction()
		r.rows.Record(ctx, journal.KindProposal, map[string]any{"asked": true, "action": call.Action.Canonical()})
		r.steps.Record(ctx, *call)
	}
	return err
}

// showSkillAndModel sets the skill and the model that the answer's drawer names.
func (r *run) showSkillAndModel(model string) {
	r.turn.Describe(r.skill.Name+"@"+r.skill.Hash[:min(8, len(r.skill.Hash))], model)
}

// outcome returns how the turn ended, for the session.
func (r *run) outcome(ctx context.Context, err error) session.Outcome {
	usage := r.meter.Usage()
	o := session.Outcome{State: protocol.TurnAnswered, Model: r.model.Model(), Input: usage.Input, Output: usage.Output, Cost: usage.Cost, Notice: r.loop.Notice()}
	var end loop.EndError
	switch cause := context.Cause(ctx); {
	case err == nil && r.meter.Budget.StopNotice() != "":
		o.Notice = r.meter.Budget.StopNotice()
	case err == nil:
	case errors.Is(cause, session.ErrCancelled):
		o.State, o.Notice = protocol.TurnCancelled, r.plan.program.cancelled
	case errors.Is(cause, session.ErrStopping):
		o.State, o.Notice = protocol.TurnInterrupted, "the kernel ended while this was being answered"
	case r.loop.Partial():
		o.Notice = err.Error() + "; the answer is incomplete"
	case errors.As(err, &end):
		o.State, o.Notice = end.State, end.Notice
	default:
		o.State, o.Notice = protocol.TurnFailed, err.Error()
	}
	o.Notice = r.agent.Hide(o.Notice)
	if err != nil && !r.loop.Partial() {
		r.turn.SetStopReason("") // the notice has the reason
	}
	if err != nil && o.State == protocol.TurnFailed {
		r.log.Warn("turn failed", "err", r.agent.Hide(err.Error()))
	}
	return o
}
