package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// errDryRun is what a note's ask-neuro ends with when its prompt is only shown.
var errDryRun = errors.New("the prompt is only looked at; nothing is sent")

// dryRun answers a skill's first ask with its composition and an error. What a later request
// would be depends on the reply.
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

// Prompt is what the model would be sent first if the event came now. It is composed as
// [Agent.Run] composes it, by the skill that would answer; nothing is sent, journalled or
// written by it. Why nothing would be sent is in the Note. A mode and a kind that are not ""
// are those of the system prompt, whatever they would be.
func (a *Agent) Prompt(ctx context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult {
	record := journal.Turn{Session: event.Session, Stamp: a.config.Now(), Event: event.ID, Question: event, Level: event.Level,
		Parent: event.Parent, Instead: event.Instead, Settings: event.Settings, Wanted: event.Settings.Value(protocol.SettingModel)}
	r := a.newRun(&session.Turn{Record: record}, budget{})
	result := protocol.PromptResult{Session: event.Session, Settings: event.Settings}
	if err := r.beginDry(ctx, mode, kind); err != nil {
		result.Note = "nothing would be sent: " + noticeOf(err)
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
		result.Note = "nothing would be sent: " + noticeOf(err)
		return result
	}
	result.Model = r.compose.Model()
	result.History = r.compose.History()
	composed.Explain(&result)
	return result
}

// beginDry is begin for a turn that is only shown: what it is composed of stands in the event, no
// server is asked, and there was no earlier attempt. A mode and a kind that are not "" are those of
// every system prompt.
func (r *run) beginDry(ctx context.Context, mode prompt.Mode, kind prompt.Kind) (err error) {
	record := r.turn.Record
	if r.program, err = r.agent.programOf(ctx, record, r.budget.Budget); err != nil {
		return err
	}
	p := r.program.prompt
	p.Only, p.Forms, p.Grammar = mode, r.formLines, r.grammar
	p.Change = func(facts *prompt.Facts) { facts.Kind = cmp.Or(kind, facts.Kind) }
	p.Items = func(context.Context) ([]protocol.ContextItem, error) { return record.Question.Context, nil }
	p.Window = func(ctx context.Context) llm.Window { return r.agent.window(ctx, record.Wanted, false) }
	r.compose = r.agent.composer.Turn(ctx, record, p)
	return nil
}

// composeFirst is the first request that the skill would send; nil where it would send none.
func (r *run) composeFirst(ctx context.Context) (*composer.Composition, error) {
	k, _, err := r.agent.choose(ctx, r.turn.Record, &r.program, r.event())
	if err != nil {
		return nil, err
	}
	r.skill, r.compose.Skill = k, k.Hash
	call, err := r.agent.askedCall(r.turn.Record)
	if err != nil {
		return nil, err
	}
	if call != nil {
		r.results = append(r.results, *call)
		r.compose.Exchange.Add(journal.ToolStep{Action: call.action.Canonical(), Verdict: call.verdict, Text: call.text})
	}
	dry := &dryRun{compose: r.compose}
	out, err := r.skill.Look(ctx, r.event(), dry)
	if err == nil && out.Kind == skill.Prompt {
		_, err = dry.Ask(ctx, skill.Ask{Text: out.Text})
	}
	switch {
	case dry.first != nil:
		return dry.first, nil // the error is the note's, for not being answered
	case dry.err != nil:
		return nil, ended{protocol.TurnFailed, noticeOf(dry.err)}
	case err != nil:
		return nil, failf("the skill %s failed: %v", r.skill.Name, err)
	case out.Kind == skill.Proposal:
		if _, err := r.agent.config.Policy.Usable(action.Propose(out.Proposal)); err != nil {
			return nil, failf("the skill %s proposed what is no action: %v", r.skill.Name, err)
		}
	case out.Kind == skill.None:
		return nil, failf("the skill %s had nothing to say to this", r.skill.Name)
	}
	return nil, nil
}
