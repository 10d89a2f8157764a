package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// Decide records a person's decision about an ask, made with that kind of client, and lets the turn
// go on. Only a client with the token may call it. The first decision counts: the error of a second
// one, and of one that comes too late, has [protocol.CodeConflict].
func (a *Agent) Decide(ctx context.Context, p protocol.AskDecideParams, client string) (protocol.AskDecideResult, error) {
	var none protocol.AskDecideResult
	ask, err := a.config.Journal.Asks.Ask(ctx, p.ID)
	if err != nil {
		return none, err
	}
	decision := session.Decision{AskOutcome: p.Outcome(client)}
	if err := ask.CheckOutcome(decision.AskOutcome); err != nil {
		return none, err
	}
	if err := ask.CheckWaits(); err != nil {
		return none, err
	}
	if _, err := a.readEdited(p.Edited); err != nil {
		return none, err
	}
	if p.Decision == protocol.Answered {
		checked, err := ask.Form.Check(p.Answers)
		if err != nil {
			return none, err
		}
		decision.Answers, decision.Secrets = splitSecrets(*ask.Form, checked)
	}
	if len(decision.Secrets) > 0 && !a.asks.Waits(p.ID) {
		return none, protocol.Errorf(protocol.CodeBusy, "the turn does not wait for it yet, as the kernel has just started, and a secret is kept nowhere: answer again in a moment")
	}
	if _, err := a.config.Journal.Asks.Decide(ctx, p.ID, decision.AskOutcome); err != nil {
		return none, err
	}
	a.asks.Resume(p.ID, decision)
	return protocol.AskDecideResult{ID: p.ID, Decision: p.Decision}, nil
}

// readEdited reads the action that a person wrote in place of a proposal. It is empty if the text is.
func (a *Agent) readEdited(text string) (edited action.Proposed, err error) {
	if text == "" {
		return edited, nil
	}
	if edited, err = action.Read(text); err != nil {
		return edited, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be read: %v", err)
	}
	if edited, err = a.config.Policy.With(a.config.Kinds()).Usable(edited); err != nil {
		return edited, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be used: %v", err)
	}
	return edited, nil
}

// person decides the approvals of a turn.
type person struct{ run *run }

// Decide implements [gate.Person]: it puts the action before a person and waits for the decision.
func (p person) Decide(ctx context.Context, verdict policy.Verdict, hash string) (gate.Decision, error) {
	r := p.run
	record := r.turn.Record
	approval := protocol.Ask{
		ID: r.agent.config.NewID(), Sort: protocol.AskApproval, Session: record.Session, Turn: record.ID, Event: record.Event,
		Asked:       time.Now().UTC().Format(time.RFC3339),
		AskedAction: protocol.AskedAction{Action: verdict.Action.Canonical(), Hash: hash, Reason: verdict.Reason, Once: verdict.OnceOnly},
	}
	approval.Subagent, approval.Parent = r.program.label, r.program.parent
	r.describeApproval(ctx, &approval, verdict.Action)
	decisions := r.agent.asks.Wait(approval.ID)
	defer r.agent.asks.Forget(approval.ID)
	if err := r.agent.config.Journal.Asks.PutAsk(ctx, approval); err != nil {
		return gate.Decision{}, err
	}
	return p.await(ctx, approval, decisions)
}

// await shows the approval and waits for the decision.
func (p person) await(ctx context.Context, approval protocol.Ask, decisions <-chan session.Decision) (gate.Decision, error) {
	r := p.run
	r.log.Info("waiting for a decision", "approval", approval.ID, "action", approval.Summary, "reason", approval.Reason)
	decision, err := r.personDecides(ctx, approval, decisions)
	if still, ok := errors.AsType[gate.StillWaiting](err); ok {
		return gate.Decision{}, still.Cause
	}
	if err != nil {
		return gate.Decision{}, err
	}
	edited, err := r.agent.readEdited(decision.Edited)
	if err != nil {
		return gate.Decision{}, err
	}
	return gate.Decision{Denied: decision.Decision == protocol.Deny, Reason: decision.Comment, Edited: edited}, nil
}

// resume waits again for what the turn had asked a person before the kernel was restarted.
func (r *run) resume(ctx context.Context) (bool, error) {
	rows, err := r.agent.config.Journal.Records.Entries(ctx, journal.Query{
		Turn: r.turn.Record.ID, Kinds: []journal.Kind{journal.KindApproval, journal.KindQuestion}, Latest: true, Limit: 1})
	switch {
	case err != nil:
		return false, err
	case len(rows) == 0:
		return false, interruptedWaiting()
	case rows[0].Kind == journal.KindQuestion:
		return false, questioner{r}.resume(ctx, rows[0].ID)
	}
	return r.resumeApproval(ctx, rows[0].ID)
}

// interruptedWaiting is the end of a turn whose question or approval the last kernel closed.
func interruptedWaiting() error {
	return loop.Ended{State: protocol.TurnInterrupted, Notice: "the kernel ended while this waited for you"}
}

// resumeApproval waits again for the decision on an approval. A decision that the last kernel did not
// carry out counts.
func (r *run) resumeApproval(ctx context.Context, id string) (bool, error) {
	decisions := r.agent.asks.Wait(id)
	defer r.agent.asks.Forget(id)
	approval, err := r.readAgain(ctx, id)
	if err != nil {
		return false, err
	}
	if err := r.pick(ctx); err != nil {
		return false, err
	}
	if err := r.recordUntold(ctx, approval.ID); err != nil {
		return false, err
	}
	asked, err := action.Read(approval.Action)
	if err != nil {
		return false, fmt.Errorf("read the action that waits: %w", err)
	}
	decision, err := person{r}.await(ctx, approval, decisions)
	if err != nil {
		return false, err
	}
	result, err := r.gate.Decided(ctx, asked.Action(), approval.Hash, decision)
	if err != nil {
		return false, err
	}
	return r.loop.Record(ctx, result)
}
