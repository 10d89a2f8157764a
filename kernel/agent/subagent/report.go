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
	"org-agent/kernel/text"
)

// reportDelay is how long a report waits for the ends of further subagents. retryDelay is the time between
// a failed report and the next try. idleDelay is how long Run sleeps without reports.
const (
	reportDelay = 300 * time.Millisecond
	retryDelay  = 2 * time.Second
	idleDelay   = time.Hour
)

// FindingsLimit is the largest part of the findings, in bytes, in one report. The tool list_subagents
// returns the other parts.
const FindingsLimit = 24 << 10

// Outcome is the state of a subagent, with its findings when it has ended.
type Outcome struct {
	protocol.Subagent
	// Findings is its answer, "" if it has none.
	Findings string
}

// report is an event that reports to a conversation the ends of its subagents.
type report struct {
	event     string
	session   string
	subagents []journal.Subagent
	sendTime  time.Time
	recorded  bool // whether the journal has the report
}

// queueReport queues the report of a subagent's end, together with ends soon after it.
func (p *Pool) queueReport(s journal.Subagent) {
	p.mu.Lock()
	at := slices.IndexFunc(p.reports, func(r *report) bool { return r.session == s.Session && !r.recorded })
	if at < 0 {
		p.reports = append(p.reports, &report{event: p.config.NewID(), session: s.Session, sendTime: time.Now().Add(reportDelay)})
		at = len(p.reports) - 1
	}
	p.reports[at].subagents = append(p.reports[at].subagents, s)
	p.mu.Unlock()
	p.wakeRun()
}

// sendDueReports sends the reports that are due, and returns the time until the next one.
func (p *Pool) sendDueReports(ctx context.Context) time.Duration {
	now := time.Now()
	var ready []*report
	p.mu.Lock()
	p.reports = slices.DeleteFunc(p.reports, func(r *report) bool {
		if r.sendTime.After(now) {
			return false
		}
		ready = append(ready, r)
		return true
	})
	p.mu.Unlock()
	for _, r := range ready {
		if err := p.report(ctx, r); err != nil {
			p.config.Logger.Error("the report of subagents failed and will be retried", "session", r.session, "err", err)
			r.sendTime = time.Now().Add(retryDelay)
			p.mu.Lock()
			p.reports = append(p.reports, r)
			p.mu.Unlock()
		}
	}
	next := idleDelay
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.reports {
		next = min(next, max(time.Until(r.sendTime), 0))
	}
	return next
}

// report reports the ends that were not reported before. The journal has the report before it is sent:
// if the kernel ends in between, the next one sends it under the same id.
func (p *Pool) report(ctx context.Context, r *report) error {
	if !r.recorded {
		ids := make([]string, len(r.subagents))
		for i, s := range r.subagents {
			ids[i] = s.ID
		}
		fresh, err := p.config.Journal.Subagents.Report(ctx, r.event, ids...)
		if err != nil {
			return err
		}
		r.subagents = slices.DeleteFunc(r.subagents, func(s journal.Subagent) bool { return !slices.Contains(fresh, s.ID) })
		r.recorded = true
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

// FindingsFrom returns the part of the findings from an offset, with a hint how to get the rest.
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

// Outcome returns the state of a subagent, and its findings when it has ended. The error for an unknown
// id has CodeNotFound.
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

// List returns the subagents of a conversation, the latest first; for "" the unfinished ones of all
// conversations.
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
		for _, c := range p.tasks {
			subagents = append(subagents, c.row)
		}
		p.mu.Unlock()
		slices.SortFunc(subagents, func(a, b journal.Subagent) int { return b.Requested.Compare(a.Requested) })
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

// info returns the state of a subagent, from memory while it runs, else from the journal.
func (p *Pool) info(ctx context.Context, s journal.Subagent) (protocol.Subagent, error) {
	info := protocol.Subagent{ID: s.ID, Session: s.Session, Turn: s.Turn, Event: s.Event, Child: s.Conversation, Label: s.Label, Waits: s.Wait,
		State: protocol.SubagentQueued, Requested: s.Requested.UTC().Format(time.RFC3339)}
	p.mu.Lock()
	c := p.tasks[s.ID]
	if c != nil {
		if !c.startTime.IsZero() {
			info.State, info.Started, info.Seconds = protocol.SubagentRunning, c.startTime.UTC().Format(time.RFC3339), time.Since(c.startTime).Seconds()
		}
		if c.waiting {
			info.State = protocol.SubagentWaiting
		}
		info.Round, info.Tokens, info.Cost = c.progress.Round, c.progress.Tokens, c.progress.Cost
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
	info.State, info.Notice, info.Tokens = stateOf(turn), text.Line(turn.Notice), turn.Input+turn.Output
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

// stateOf returns the state of the subagent with this turn. The notice of an interrupted turn has the
// name of the setting whose limit was reached.
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
