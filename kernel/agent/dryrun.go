package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// errDryRun is the error of a note's ask-neuro in a dry run.
var errDryRun = errors.New("the prompt is only looked at; nothing is sent")

// dryRun keeps the composition of a skill's first ask, and answers each ask with an error. A later
// request would depend on the reply, so there is none.
type dryRun struct {
	compose *composer.Turn
	first   *composer.Composition
	err     error // of composing
}

// Ask implements [skill.Asker].
func (d *dryRun) Ask(ctx context.Context, ask skill.Ask) (string, error) {
	if d.first != nil {
		return "", errDryRun
	}
	c, err := d.compose.Compose(ctx, ask)
	if d.err = err; err != nil {
		return "", err
	}
	d.first = &c
	return "", errDryRun
}

// Prompt returns the first request that the model would be sent if the event came now. It is composed
// as [Agent.Run] composes it, for the skill that would answer. Nothing is sent, journalled or
// written. If nothing would be sent, the Note says why. A mode and a kind that are not "" replace
// those of the system prompt.
func (a *Agent) Prompt(ctx context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult {
	record := journal.Turn{Session: event.Session, Stamp: a.config.Now(), Event: event.ID, Question: event, Level: event.Level,
		Parent: event.Parent, Instead: event.Instead, Settings: event.Settings, Wanted: event.Settings.Model()}
	r := a.newRun(&session.Turn{Record: record})
	result := protocol.PromptResult{Session: event.Session, Settings: event.Settings}
	if err := r.beginDry(ctx, mode, kind); err != nil {
		result.Note = "nothing would be sent: " + loop.NoticeOf(err)
		return result
	}
	composed, err := r.composeFirst(ctx)
	if r.skill != nil {
		result.Skill = r.skill.Name
	}
	if err == nil && composed == nil {
		result.Note = fmt.Sprintf("no model would be asked: the skill %s answers by itself", r.skill.Name)
		return result
	}
	if err == nil && a.config.Images != nil {
		composed.Request, err = a.config.Images(composed.Request)
	}
	if err != nil {
		result.Note = "nothing would be sent: " + loop.NoticeOf(err)
		return result
	}
	result.Model = r.compose.Model()
	result.History = r.compose.History()
	composed.Explain(a.config.Dialect, &result)
	return result
}

// beginDry is begin for a dry run: the event holds everything that was sent along, no server is
// asked, and there was no earlier attempt. A mode and a kind that are not "" replace those of every
// system prompt.
func (r *run) beginDry(ctx context.Context, mode prompt.Mode, kind prompt.Kind) (err error) {
	record := r.turn.Record
	if err := r.setProgram(ctx); err != nil {
		return err
	}
	p := r.prompt()
	p.Only, p.Kind = mode, cmp.Or(kind, p.Kind)
	p.Items = func(context.Context) ([]protocol.ContextItem, error) { return record.Question.Context, nil }
	p.Window = func(ctx context.Context) llm.Window { return r.agent.window(ctx, r.settings.Model, false) }
	r.composeWith(ctx, p)
	return nil
}

// composeFirst returns the first request that the skill would send, nil if it would send none.
func (r *run) composeFirst(ctx context.Context) (*composer.Composition, error) {
	k, _, err := r.agent.choose(ctx, r.turn.Record, r.settings, &r.program, r.steps.Event())
	if err != nil {
		return nil, err
	}
	r.skill, r.compose.Skill = k, k.Hash
	call, err := r.askedCall()
	if err != nil {
		return nil, err
	}
	if call != nil {
		r.steps.Add(*call, 0)
		r.compose.Exchange.Add(journal.ToolStep{Action: call.Action.Canonical(), Verdict: call.Verdict, Text: call.Text})
	}
	dry := &dryRun{compose: r.compose}
	out, err := r.skill.DryRun(ctx, r.steps.Event(), dry)
	if err == nil && out.Kind == skill.Prompt {
		_, err = dry.Ask(ctx, skill.Ask{Text: out.Text})
	}
	switch {
	case dry.first != nil:
		return dry.first, nil // the error is the note's, for not being answered
	case dry.err != nil:
		return nil, loop.Ended{State: protocol.TurnFailed, Notice: loop.NoticeOf(dry.err)}
	case err != nil:
		return nil, fmt.Errorf("the skill %s failed: %v", r.skill.Name, err)
	case out.Kind == skill.Proposal:
		if _, err := r.policy.Usable(action.Propose(out.Proposal)); err != nil {
			return nil, fmt.Errorf("the skill %s proposed what is no action: %v", r.skill.Name, err)
		}
	case out.Kind == skill.None:
		return nil, fmt.Errorf("the skill %s had nothing to say to this", r.skill.Name)
	}
	return nil, nil
}
