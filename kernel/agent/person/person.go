// Package person puts before people what waits for them: the approvals and the questions of turns.
//
// The [Desk] takes the decisions, and has the secrets that people gave. A [Turn] asks, and waits for the
// decision. While it waits its clock stands. What was asked is in the journal before it is shown, so a
// turn waits for it again when the kernel was restarted: [Turn.Reopen].
//
// A Desk is safe for many goroutines. A Turn belongs to one, and its methods block until a person has
// decided or the context ends. They start no goroutine.
package person

import (
	"context"
	"log/slog"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/describe"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/tool"
)

// Config is what a [Desk] works with. All of it is required.
type Config struct {
	Asks Asks
	// Usable reads an action that a person wrote in place of another.
	Usable func(proposed action.Proposed) (action.Proposed, error)
	NewID  func() string
}

// Asks are what waits for a person. [protocol.CodeConflict] is the error of a second decision.
type Asks interface {
	PutAsk(ctx context.Context, ask protocol.Ask) error
	Ask(ctx context.Context, id string) (protocol.Ask, error)
	Decide(ctx context.Context, id string, outcome protocol.AskOutcome) (protocol.Ask, error)
}

// Desk takes what people decide. Make one with [New].
type Desk struct {
	// Secrets are those that people gave to running turns.
	Secrets Secrets

	config  Config
	waiting session.Waiting[Decision]
}

// Decision is what a person decided about an ask, for the turn that waits for it. The journal has no
// secrets: they are here, by the names of their fields, and nowhere else.
type Decision struct {
	protocol.AskOutcome
	secrets map[string]string
	edited  action.Proposed // what the person wrote in place of the action, usable; empty if nothing
}

// New returns a desk.
func New(config Config) *Desk { return &Desk{config: config} }

// Decide records a person's decision about an ask, made with that kind of client, and lets the turn
// go on. Edited is the action of the parameters, as it was read. Only a client with the token may call
// it. The first decision counts: the error of a second one, and of one that comes too late, has
// [protocol.CodeConflict].
func (d *Desk) Decide(ctx context.Context, p protocol.AskDecideParams, edited action.Proposed, client string) (protocol.AskDecideResult, error) {
	var none protocol.AskDecideResult
	ask, err := d.config.Asks.Ask(ctx, p.ID)
	if err != nil {
		return none, err
	}
	decision := Decision{AskOutcome: p.Outcome(client)}
	if err := ask.CheckOutcome(decision.AskOutcome); err != nil {
		return none, err
	}
	if err := ask.CheckWaits(); err != nil {
		return none, err
	}
	if p.Edited != "" {
		if decision.edited, err = d.usable(edited); err != nil {
			return none, err
		}
	}
	if p.Decision == protocol.Answered {
		checked, err := ask.Form.Check(p.Answers)
		if err != nil {
			return none, err
		}
		decision.Answers, decision.secrets = splitSecrets(*ask.Form, checked)
	}
	if len(decision.secrets) > 0 && !d.waiting.Waits(p.ID) {
		return none, protocol.Errorf(protocol.CodeBusy, "the turn does not wait for it yet, as the kernel has just started, and a secret is kept nowhere: answer again in a moment")
	}
	if _, err := d.config.Asks.Decide(ctx, p.ID, decision.AskOutcome); err != nil {
		return none, err
	}
	d.waiting.Resume(p.ID, decision)
	return protocol.AskDecideResult{ID: p.ID, Decision: p.Decision}, nil
}

// Turn is the turn that asks. All of it is required but where it says so.
type Turn struct {
	Desk   *Desk
	Record journal.Turn
	Screen Screen
	Steps  Steps
	Clock  Clock
	// Kinds and Tools describe to a person what an action would do.
	Kinds Kinds
	Tools Tools
	// Skill is the name of the skill that answers, "" for none.
	Skill string
	// Subagent is the label of the subagent that asks, and Parent the conversation that started it.
	// Both are "" if no subagent asks.
	Subagent, Parent string
	// Watch is called when the turn begins to wait and when it goes on; nil for nobody.
	Watch func(waiting bool)
	// Acting is the action that is being performed, which asks the questions.
	Acting kind.Order
	Log    *slog.Logger
}

// Screen shows a person what waits. A [session.Turn] is one.
type Screen interface {
	Ask(ctx context.Context, ask protocol.Ask) error
	AskClosed(ctx context.Context, id string)
	// Waiting records that the turn waits for a person, or no longer.
	Waiting(ctx context.Context, waiting bool) error
}

// Steps are the steps of a turn.
type Steps interface {
	// Begin notes that the next action begins, so that a person's time is not counted for it.
	Begin()
	// Answered keeps what a person answered, for the skill.
	Answered(answers sexp.List)
}

// Clock measures what the turn takes, which the time of a person is no part of.
type Clock interface {
	Pause()
	Resume()
}

// Kinds describes actions.
type Kinds interface {
	Describe(a action.Action, deps describe.Deps) describe.Description
}

// Tools shows what a call would change.
type Tools interface {
	Preview(ctx context.Context, name string, arguments protocol.Object) (p tool.Preview, known bool, err error)
}

// Waiting is an ask that a turn waits for. Close ends the wait.
type Waiting struct {
	Ask protocol.Ask

	turn      *Turn
	decisions <-chan Decision
}

// open records an ask, and waits for it.
func (t *Turn) open(ctx context.Context, ask protocol.Ask) (*Waiting, error) {
	w := &Waiting{Ask: ask, turn: t, decisions: t.Desk.waiting.Wait(ask.ID)}
	if err := t.Desk.config.Asks.PutAsk(ctx, ask); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Reopen waits again for an ask that the turn waited for when the kernel ended. A decision that a person
// has made since counts. closed is true if the ask was closed without one.
func (t *Turn) Reopen(ctx context.Context, id string) (w *Waiting, closed bool, err error) {
	w = &Waiting{turn: t, decisions: t.Desk.waiting.Wait(id)} // before it is read, so that no decision is lost
	w.Ask, err = t.Desk.config.Asks.Ask(ctx, id)
	w.Ask.ID = id
	switch {
	case err != nil:
		w.Close()
		return nil, false, err
	case w.Ask.Decision != "":
		edited, err := t.Desk.readEdited(w.Ask.Edited)
		if err != nil {
			w.Close()
			return nil, false, err
		}
		t.Desk.waiting.Resume(id, Decision{AskOutcome: w.Ask.AskOutcome, edited: edited})
	case !w.Ask.Waits():
		w.Close()
		return nil, true, nil
	}
	return w, false, nil
}

// Close ends the wait.
func (w *Waiting) Close() { w.turn.Desk.waiting.Forget(w.Ask.ID) }

// await shows the ask and returns what a person decides. The time that the person takes is not counted,
// neither for the turn nor for the action. The error is a [gate.StillWaiting] if ctx ends first.
func (w *Waiting) await(ctx context.Context) (decision Decision, err error) {
	t := w.turn
	t.Clock.Pause()
	if err := t.waits(ctx, true); err != nil {
		return decision, err
	}
	if err := t.Screen.Ask(ctx, w.Ask); err != nil {
		return decision, err
	}
	select {
	case decision = <-w.decisions:
	case <-ctx.Done():
		return decision, gate.StillWaiting{Cause: context.Cause(ctx)}
	}
	t.Screen.AskClosed(ctx, w.Ask.ID)
	t.Steps.Begin()
	t.Clock.Resume()
	return decision, t.waits(ctx, false)
}

// waits shows that the turn waits for a person, or no longer.
func (t *Turn) waits(ctx context.Context, waiting bool) error {
	if t.Watch != nil {
		t.Watch(waiting)
	}
	return t.Screen.Waiting(ctx, waiting)
}
