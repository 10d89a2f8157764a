package subagent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// together is how long the end of one is kept for others to come with it, and retryPause how
// long after a report could not be made it is tried again.
const (
	together   = 300 * time.Millisecond
	retryPause = 2 * time.Second
	idle       = time.Hour
)

// FindingsLimit is how many bytes of what one found are told at once. The rest is kept, and told
// part by part.
const FindingsLimit = 24 << 10

// Outcome is how a subagent is doing, or how it ended.
type Outcome struct {
	protocol.Subagent
	// Findings are its last answer, "" if it has none.
	Findings string
}

// report is an event that tells a conversation of the ends of its subagents.
type report struct {
	event     string
	session   string
	subagents []journal.Subagent
	at        time.Time
	kept      bool // the journal has it that this event tells of them
}

// later has the end of a subagent reported, together with those that end soon after it.
func (p *Pool) later(s journal.Subagent) {
	p.mu.Lock()
	at := slices.IndexFunc(p.due, func(r *report) bool { return r.session == s.Session && !r.kept })
	if at < 0 {
		p.due = append(p.due, &report{event: p.config.NewID(), session: s.Session, at: time.Now().Add(together)})
		at = len(p.due) - 1
	}
	p.due[at].subagents = append(p.due[at].subagents, s)
	p.mu.Unlock()
	p.rouse()
}

// tellDue makes the reports whose time has come, and returns how long it is to the next.
func (p *Pool) tellDue(ctx context.Context) time.Duration {
	now := time.Now()
	var ready []*report
	p.mu.Lock()
	p.due = slices.DeleteFunc(p.due, func(r *report) bool {
		if r.at.After(now) {
			return false
		}
		ready = append(ready, r)
		return true
	})
	p.mu.Unlock()
	for _, r := range ready {
		if err := p.report(ctx, r); err != nil {
			p.config.Logger.Error("a conversation is not told of its subagents yet", "session", r.session, "err", err)
			r.at = time.Now().Add(retryPause)
			p.mu.Lock()
			p.due = append(p.due, r)
			p.mu.Unlock()
		}
	}
	next := idle
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.due {
		next = min(next, max(time.Until(r.at), 0))
	}
	return next
}

// report reports the ends that were not reported before. The journal has the report before it is sent:
// if the kernel ends in between, the next one sends it under the same id.
func (p *Pool) report(ctx context.Context, r *report) error {
	if !r.kept {
		ids := make([]string, len(r.subagents))
		for i, s := range r.subagents {
			ids[i] = s.ID
		}
		fresh, err := p.config.Journal.Subagents.Report(ctx, r.event, ids...)
		if err != nil {
			return err
		}
		r.subagents = slices.DeleteFunc(r.subagents, func(s journal.Subagent) bool { return !slices.Contains(fresh, s.ID) })
		r.kept = true
	}
	if len(r.subagents) == 0 {
		return nil
	}
	event := protocol.Event{ID: r.event, Session: r.session, Sensor: protocol.SensorReport, Route: r.subagents[0].Route, Level: 1}
	if r.subagents[0].Group {
		event.Payload.Set(protocol.PayloadGroup, true)
	}
	var lines []string
	for _, s := range r.subagents {
		outcome, err := p.Outcome(ctx, s.ID)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("- %s: %s", s.Label, outcome.State)
		if outcome.Notice != "" {
			line += ", " + outcome.Notice
		}
		lines = append(lines, line)
		if text := outcome.FindingsFrom(0); text != "" {
			event.Context = append(event.Context, protocol.ContextItem{Kind: "subagent", Name: s.Label, Place: s.Conversation, Bytes: len(text), Text: text})
		}
	}
	first := "A subagent has ended"
	if len(lines) > 1 {
		first = fmt.Sprintf("%d subagents have ended", len(lines))
	}
	event.Text = first + "\n" + strings.Join(lines, "\n")
	_, err := p.config.Sessions.Submit(ctx, event)
	return err
}

// FindingsFrom is the part of the findings that begins at a byte, with how the rest is had.
func (o Outcome) FindingsFrom(from int) string {
	text := o.Findings
	if from > 0 {
		text = text[min(from, len(text)):]
	}
	if len(text) <= FindingsLimit {
		return strings.ToValidUTF8(text, "")
	}
	return fmt.Sprintf("%s\n[%d bytes more: list_subagents (:id %q :from %d) gives you them]",
		strings.ToValidUTF8(text[:FindingsLimit], ""), len(text)-FindingsLimit, o.ID, from+FindingsLimit)
}

// Outcome is how one is doing, or ended, and what it found; CodeNotFound for an id of none.
func (p *Pool) Outcome(ctx context.Context, id string) (Outcome, error) {
	s, err := p.config.Journal.Subagents.Subagent(ctx, id)
	if err != nil {
		return Outcome{}, err
	}
	info, err := p.info(ctx, s)
	if err != nil || info.State != protocol.SubagentDone {
		return Outcome{Subagent: info}, err
	}
	turn, _, err := p.config.Journal.Subagents.TurnOfSubagent(ctx, id)
	if err != nil || turn.Answer == "" {
		return Outcome{Subagent: info}, err
	}
	act, err := p.config.Journal.Acts.Act(ctx, turn.Answer)
	return Outcome{Subagent: info, Findings: cmp.Or(act.Raw, act.Plain)}, err
}

// List is how those of a conversation are doing, the latest first; "" for all that have not ended.
func (p *Pool) List(ctx context.Context, session string) ([]protocol.Subagent, error) {
	if p == nil {
		return nil, nil
	}
	var subagents []journal.Subagent
	var err error
	if session != "" {
		subagents, err = p.config.Journal.Subagents.List(ctx, session)
	} else {
		p.mu.Lock()
		for _, c := range p.live {
			subagents = append(subagents, c.record)
		}
		p.mu.Unlock()
		slices.SortFunc(subagents, func(a, b journal.Subagent) int { return b.Asked.Compare(a.Asked) })
	}
	if err != nil {
		return nil, err
	}
	list := make([]protocol.Subagent, len(subagents))
	for i, s := range subagents {
		if list[i], err = p.info(ctx, s); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// info is how a subagent is doing: from memory while it runs, else from the journal.
func (p *Pool) info(ctx context.Context, s journal.Subagent) (protocol.Subagent, error) {
	info := protocol.Subagent{ID: s.ID, Session: s.Session, Turn: s.Turn, Event: s.Event, Child: s.Conversation, Label: s.Label, Waits: s.Wait,
		State: protocol.SubagentQueued, Asked: s.Asked.UTC().Format(time.RFC3339)}
	p.mu.Lock()
	c := p.live[s.ID]
	if c != nil {
		if !c.started.IsZero() {
			info.State, info.Started, info.Seconds = protocol.SubagentRunning, c.started.UTC().Format(time.RFC3339), time.Since(c.started).Seconds()
		}
		if c.waiting {
			info.State = protocol.SubagentWaiting
		}
		info.Round, info.Tokens, info.Cost = c.at.Round, c.at.Tokens, c.at.Cost
	}
	p.mu.Unlock()
	if c != nil {
		return info, nil
	}
	turn, has, err := p.config.Journal.Subagents.TurnOfSubagent(ctx, s.ID)
	if err != nil {
		return info, err
	}
	if !has {
		if s.Cancelled {
			info.State = protocol.SubagentCancelled
		}
		now, err := p.config.Journal.Subagents.Subagent(ctx, s.ID)
		if now.Cancelled {
			info.State = protocol.SubagentCancelled
		}
		return info, err
	}
	info.State, info.Notice, info.Tokens = stateOf(turn), strings.Join(strings.Fields(turn.Notice), " "), turn.Input+turn.Output
	if turn.Cost > 0 {
		info.Cost = &turn.Cost
	}
	if !turn.Started.IsZero() {
		info.Started = turn.Started.UTC().Format(time.RFC3339)
		end := turn.Finished
		if end.IsZero() {
			end = time.Now()
		}
		info.Seconds = end.Sub(turn.Started).Seconds()
	}
	return info, nil
}

// stateOf is how a subagent is doing whose turn it is. A turn that was cut short says in its notice
// what was used up, by the name of the setting.
func stateOf(turn journal.Turn) protocol.SubagentState {
	switch turn.State {
	case protocol.TurnQueued:
		return protocol.SubagentQueued
	case protocol.TurnRunning:
		return protocol.SubagentRunning
	case protocol.TurnWaiting:
		return protocol.SubagentWaiting
	case protocol.TurnAnswered:
		return protocol.SubagentDone
	case protocol.TurnCancelled:
		return protocol.SubagentCancelled
	case protocol.TurnInterrupted:
		switch {
		case strings.Contains(turn.Notice, "("+protocol.SettingBudgetTime+")"):
			return protocol.SubagentTimeout
		case strings.Contains(turn.Notice, "(BUDGET_") || strings.Contains(turn.Notice, "This was stopped"):
			return protocol.SubagentError
		}
		return protocol.SubagentUnknown
	}
	return protocol.SubagentError
}
