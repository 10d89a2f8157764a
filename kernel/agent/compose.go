package agent

import (
	"context"
	"fmt"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// composing is what composes the requests of the turn.
func (r *run) composing(ctx context.Context) *composer.Turn {
	program := r.program()
	program.Before, program.Sent = r.turn.Begun.First(), r.turn.Begun.Requests
	program.Items, program.Recalled, program.System = r.attached, r.recalledBefore, r.systemBefore
	program.Window = func(ctx context.Context) llm.Window { return r.window(ctx, true) }
	return r.agent.composer.Turn(ctx, r.turn.Record, program)
}

// program is how the turn is composed, whether it is answered or only shown.
func (r *run) program() composer.Program {
	program := composer.Program{Forms: r.formLines, Grammar: r.grammar}
	if r.handed != nil {
		program.Mode, program.Bound, program.Change = prompt.Minimal, true, r.subagentFacts
	}
	return program
}

// window is how much the model can be shown. Its server is asked if ask says so.
func (r *run) window(ctx context.Context, ask bool) llm.Window {
	if r.agent.config.Window == nil {
		return llm.Window{}
	}
	return r.agent.config.Window(ctx, r.turn.Record.Wanted, ask)
}

// attached is what the person sent along with the question, whole.
func (r *run) attached(ctx context.Context) ([]protocol.ContextItem, error) {
	items := r.turn.Record.Question.Context
	if len(items) == 0 {
		return nil, nil
	}
	items, err := r.agent.config.Journal.Context(ctx, r.turn.Record.Event)
	if err != nil {
		return nil, fmt.Errorf("read what went along with the message: %w", err)
	}
	return items, nil
}

// composed is the request that asks, with what people said to the turn meanwhile.
func (r *run) composed(ctx context.Context, ask skill.Ask) (composer.Composition, error) {
	if err := r.hear(ctx); err != nil {
		return composer.Composition{}, err
	}
	composed, err := r.compose.Compose(ctx, ask)
	if err == nil {
		r.keep(ctx, composed)
	}
	return composed, err
}

// keep does what a composition has made necessary before it is sent.
func (r *run) keep(ctx context.Context, c composer.Composition) {
	r.asksFor = c.Purpose
	r.input = append(c.Quotable, r.input...) // a reply that repeats what stands here quotes it
	if c.Recalled != nil {
		r.record(ctx, journal.KindRecall, c.Recalled)
	}
	if c.Warning != "" && r.agent.warned.first(r.turn.Record.Session+" "+r.compose.Model()) {
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: c.Warning})
	}
	if c.Past != nil {
		r.keepPast(ctx, *c.Past)
	}
	if c.SummaryDue {
		r.agent.compaction.Start(r.turn.Record.Session)
	}
	if c.Question != "" && !r.kept && c.Question != r.turn.Record.Question.Words() {
		r.kept = true // later turns show it in the same words
		r.recordLater(ctx, journal.KindAsked, r.turn.AnswerID(), map[string]string{"text": c.Question})
	}
}

// keepPast keeps what is shown of the earlier turns, so that the next turn is shown the same.
func (r *run) keepPast(ctx context.Context, shown history.Shown) {
	if err := r.agent.composer.Past.Keep(ctx, r.turn.Record.Session, shown); err != nil {
		r.log.Warn("the next turn may be shown something else of the earlier ones", "err", err)
	}
	if shown.Changed && shown.Digest.By == journal.DigestByCut {
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns do not fit the window of %s any more: it is not shown them", shown.Digest.Turns, r.compose.Model())})
	}
}

// hear adds what a person said to the turn while it ran to what the model is shown.
func (r *run) hear(ctx context.Context) error {
	told, err := r.turn.Told(ctx)
	for _, text := range told {
		r.keepRound(ctx, journal.Round{Said: text})
	}
	return err
}
