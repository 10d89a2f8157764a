// Package person shows people the approvals and questions that wait for them, and takes their
// decisions.
//
// The [Desk] takes the decisions, and holds the secrets that people gave. A [Turn] asks, and waits for
// the decision. Its clock is stopped while it waits. The journal has an ask before it is shown, so
// after a restart of the kernel the turn waits for it again: [Turn.Reopen].
//
// A Desk is safe for many goroutines. A Turn belongs to one. Its methods block until a person has
// decided or the context ends, and start no goroutine.
package person

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

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
	// Usable checks an action that a person wrote to replace a proposal.
	Usable func(proposed action.Proposed) (action.Proposed, error)
	// Rules write the rule for the decision to allow an action always.
	Rules Rules
	NewID func() string
}

// Rules are the rules of policy.org. Allow adds one for the action with this hash; why says in one line
// what the action does. [policy.RuleFile] implements it.
//
// AllowReading adds those of an offer.
type Rules interface {
	Allow(hash, why string, now time.Time) error
	AllowReading(offer protocol.ReadingOffer, now time.Time) error
}

// Asks stores the asks in the journal. The error of a second decision has [protocol.CodeConflict].
type Asks interface {
	PutAsk(ctx context.Context, ask protocol.Ask) error
	Ask(ctx context.Context, id string) (protocol.Ask, error)
	Decide(ctx context.Context, id string, outcome protocol.AskOutcome) (protocol.Ask, error)
	// ReadingDecided reports whether a person has decided an approval with the read-only set of a project.
	ReadingDecided(ctx context.Context, directory string) (bool, error)
}

// Desk takes the decisions of people. Make one with [New].
type Desk struct {
	// Secrets are the secret answers to running turns.
	Secrets Secrets

	config  Config
	waiting session.Waiters[Decision]
	// deciding is held from the check that an ask waits until its decision is recorded, so that a
	// decision which comes second writes no rule.
	deciding sync.Mutex
}

// Decision is a person's decision about an ask, for the turn that waits for it. It has the secret
// answers by the names of their fields. The journal has none of them.
type Decision struct {
	protocol.AskOutcome
	secrets map[string]string
	edited  action.Proposed // the usable action that replaces the proposal; empty if none does
}

// New returns a desk.
func New(config Config) *Desk { return &Desk{config: config} }

// Decide records a person's decision about an ask, made with that kind of client, and lets the turn go
// on. edited is the parsed action of the parameters. Only a client with the token may call it. The
// first decision counts. The error of a second or a late one has [protocol.CodeConflict].
func (d *Desk) Decide(ctx context.Context, p protocol.AskDecideParams, edited action.Proposed, client string) (protocol.AskDecideResult, error) {
	d.deciding.Lock()
	defer d.deciding.Unlock()
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
		return none, protocol.Errorf(protocol.CodeBusy, "the kernel has just started and the turn does not wait for the answer yet; as secrets are not stored, answer again in a moment")
	}
	note := ""
	switch p.Decision { // first the rule: if the kernel ends now, the ask still waits
	case protocol.AllowReading:
		if err := d.config.Rules.AllowReading(*ask.Reading, time.Now()); err != nil {
			note = fmt.Sprintf("it is allowed once only, because the rules for reading could not be written: %v", err)
			decision.Decision, decision.Comment = protocol.AllowOnce, note
		}
	case protocol.AllowAlways:
		if err := d.config.Rules.Allow(ask.Hash, ask.Summary, time.Now()); err != nil {
			note = fmt.Sprintf("it is allowed in this session only, because no rule could be written: %v", err)
			decision.Decision, decision.Comment = protocol.AllowSession, note
		}
	}
	if _, err := d.config.Asks.Decide(ctx, p.ID, decision.AskOutcome); err != nil {
		return none, err
	}
	d.waiting.Resume(p.ID, decision)
	return protocol.AskDecideResult{ID: p.ID, Decision: decision.Decision, Note: note}, nil
}

// Turn is a turn that asks people. All exported fields are required, except where noted.
type Turn struct {
	Desk   *Desk
	Record journal.Turn
	Screen Screen
	Steps  Steps
	Clock  Clock
	// Kinds and Tools describe the effect of an action.
	Kinds Kinds
	Tools Tools
	// Skill is the name of the skill that answers, "" for none.
	Skill string
	// Subagent is the label of the subagent that asks, and Parent the conversation that started it.
	// Both are "" if no subagent asks.
	Subagent, Parent string
	// OnWaiting is called when the turn begins to wait and when it goes on; nil for nobody.
	OnWaiting func(waiting bool)
	// Order is the order of the running action, which asks the questions.
	Order kind.Order
	Log   *slog.Logger
}

// Screen shows asks to people. A [session.Turn] is one.
type Screen interface {
	Ask(ctx context.Context, ask protocol.Ask) error
	AskClosed(ctx context.Context, id string)
	// SetWaiting records whether the turn waits for a person.
	SetWaiting(ctx context.Context, waiting bool) error
}

// Steps are the steps of a turn.
type Steps interface {
	// BeginAction restarts the measurement of the action's time, which a person's time does not count
	// for.
	BeginAction()
	// SetAnswers sets a person's answers, with secrets, for the skill.
	SetAnswers(answers sexp.List)
}

// Clock measures the time of the turn without the time in which it waits for a person.
type Clock interface {
	Pause()
	Resume()
}

// Kinds describes actions for people.
type Kinds interface {
	Describe(a action.Action, deps describe.Deps) describe.Description
}

// Tools previews the changes of a call.
type Tools interface {
	Preview(ctx context.Context, name string, arguments protocol.Object) (p tool.Preview, known bool, err error)
}

// Waiting is an ask that a turn waits for. The caller has to Close it.
type Waiting struct {
	Ask protocol.Ask

	turn      *Turn
	decisions <-chan Decision
}

// open records an ask and registers the turn as waiting for it.
func (t *Turn) open(ctx context.Context, ask protocol.Ask) (*Waiting, error) {
	w := &Waiting{Ask: ask, turn: t, decisions: t.Desk.waiting.Wait(ask.ID)}
	if err := t.Desk.config.Asks.PutAsk(ctx, ask); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Reopen waits again for an ask that the turn waited for when the kernel ended. It takes a decision
// that a person has made since. closed is true if the ask was closed without one.
func (t *Turn) Reopen(ctx context.Context, id string) (w *Waiting, closed bool, err error) {
	w = &Waiting{turn: t, decisions: t.Desk.waiting.Wait(id)} // register before reading, so that no decision is lost
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

// await shows the ask, waits, and returns the decision. The time of the wait counts neither for the
// turn nor for the action. The error is a [gate.StillWaitingError] if ctx ends first.
func (w *Waiting) await(ctx context.Context) (decision Decision, err error) {
	t := w.turn
	t.Clock.Pause()
	if err := t.setWaiting(ctx, true); err != nil {
		return decision, err
	}
	if err := t.Screen.Ask(ctx, w.Ask); err != nil {
		return decision, err
	}
	select {
	case decision = <-w.decisions:
	case <-ctx.Done():
		return decision, gate.StillWaitingError{Cause: context.Cause(ctx)}
	}
	t.Screen.AskClosed(ctx, w.Ask.ID)
	t.Steps.BeginAction()
	t.Clock.Resume()
	return decision, t.setWaiting(ctx, false)
}

// setWaiting records and shows whether the turn waits for a person.
func (t *Turn) setWaiting(ctx context.Context, waiting bool) error {
	if t.OnWaiting != nil {
		t.OnWaiting(waiting)
	}
	return t.Screen.SetWaiting(ctx, waiting)
}
