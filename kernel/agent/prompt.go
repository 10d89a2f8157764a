package agent

import (
	"cmp"
	"context"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Prompt returns the first request that the model would be sent if the event came now. It is composed
// in the same way as for [Agent.Run], for the skill that would answer. Nothing is sent, journalled or
// written. If nothing would be sent, the Note says why. A mode and a kind that are not "" replace those
// of the system prompt.
func (a *Agent) Prompt(ctx context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult {
	record := journal.Turn{Session: event.Session, Stamp: a.config.Now(), Event: event.ID, Question: event, Level: event.Level,
		Parent: event.Parent, Replaces: event.Instead, Settings: event.Settings, RequestedModel: event.Settings.Model()}
	result := protocol.PromptResult{Session: event.Session, Settings: event.Settings}
	if err := a.addPrompt(ctx, record, mode, kind, &result); err != nil {
		result.Note = "nothing would be sent: " + loop.NoticeOf(err)
	}
	return result
}

// addPrompt adds the request to the result, or a note why no model would be asked.
func (a *Agent) addPrompt(ctx context.Context, record journal.Turn, mode prompt.Mode, kind prompt.Kind, result *protocol.PromptResult) error {
	p, err := a.newPlan(ctx, record)
	if err != nil {
		return err
	}
	requests := a.composer.Turn(ctx, record, a.dryRunProgram(&p, mode, kind))
	event := eventOf(record)
	k, _, err := a.choose(ctx, &p, event)
	if err != nil {
		return err
	}
	result.Skill, requests.Skill = k.Name, k.Hash
	call, err := a.requestedSkillStep(&p)
	if err != nil {
		return err
	}
	if call != nil {
		event = loop.Event(event, *call)
		requests.Exchange.Add(journal.ToolStep{Action: call.Action.Canonical(), Verdict: call.Verdict, Text: call.Text})
	}
	p.setSkill(k, func() sexp.List { return event })
	first, out, err := requests.First(ctx, k, event)
	if err == nil && first == nil {
		if err = p.answersItself(k, out); err == nil {
			result.Note = fmt.Sprintf("no model would be asked: the skill %s answers by itself", k.Name)
			return nil
		}
	}
	if err == nil && a.config.Images != nil {
		first.Request, err = a.config.Images(first.Request)
	}
	if err != nil {
		return err
	}
	result.Model, result.History = requests.Model(), requests.History()
	first.Explain(a.config.Sources.Dialect, result)
	return nil
}

// dryRunProgram returns the composer's program for a dry run: the event has the items that were sent
// along, no server is asked, and there is no earlier attempt.
func (a *Agent) dryRunProgram(p *plan, mode prompt.Mode, kind prompt.Kind) composer.Program {
	program := p.promptProgram()
	program.ForcedMode, program.Kind = mode, cmp.Or(kind, program.Kind)
	program.Items = func(context.Context) ([]protocol.ContextItem, error) { return p.record.Question.Context, nil }
	program.Window = func(ctx context.Context) llm.Window { return a.window(ctx, p.settings.Model, false) }
	return program
}

// answersItself returns nil if the skill's proposal without a model is an answer.
func (p *plan) answersItself(k *skill.Skill, out skill.Outcome) error {
	switch out.Kind {
	case skill.Proposal:
		if _, err := p.policy.Usable(action.Propose(out.Proposal)); err != nil {
			return fmt.Errorf("the skill %s proposed what is no action: %v", k.Name, err)
		}
	case skill.None:
		return fmt.Errorf("the skill %s had nothing to say to this", k.Name)
	}
	return nil
}
