package agent

import (
	"context"
	"encoding/json"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/skill"
)

// system is the system prompt: what live skills add for everyone, then the tools
// and skills that are offered, then what the asking skill says.
func (r *run) system(ctx context.Context, ask skill.Ask) string {
	var parts []string
	for _, part := range []string{r.agent.config.Skills.Current().Augments(ctx), r.offered(ask), ask.System} {
		if !blank(part) {
			parts = append(parts, strings.TrimSpace(part))
		}
	}
	return strings.Join(parts, "\n\n")
}

// history is the conversation before this turn, oldest first, as far as it fits
// the budget.
func (r *run) history(ctx context.Context) ([]llm.Message, error) {
	c := r.agent.config
	exchanges, err := c.Journal.History(ctx, r.turn.Record.Session, r.turn.Record.ID, c.HistoryTurns)
	if err != nil {
		return nil, err
	}
	from, size := len(exchanges), 0
	for from > 0 {
		e := exchanges[from-1]
		if size+len(e.Question)+len(e.Answer) > c.HistoryBytes {
			break
		}
		size += len(e.Question) + len(e.Answer)
		from--
	}
	var messages []llm.Message
	questions, err := r.questions(ctx, exchanges[from:], c.HistoryBytes-size)
	if err != nil {
		return nil, err
	}
	for i, e := range exchanges[from:] {
		messages = append(messages,
			llm.Message{Role: llm.RoleUser, Content: questions[i]},
			llm.Message{Role: llm.RoleAssistant, Content: e.Answer})
	}
	return messages, nil
}

// record writes a row of this turn into the journal. What cannot be kept is
// logged: the turn goes on, its end is kept or fails on its own.
func (r *run) record(ctx context.Context, kind journal.Kind, data any) {
	if r.looked != nil {
		return
	}
	raw, err := json.Marshal(data)
	if err == nil {
		_, err = r.agent.config.Journal.Append(context.WithoutCancel(ctx), journal.Entry{
			Kind: kind, Session: r.turn.Record.Session, Turn: r.turn.Record.ID, Data: r.agent.hideJSON(raw)})
	}
	if err != nil {
		r.log.Error("journal row not kept", "kind", kind, "err", err)
	}
}
