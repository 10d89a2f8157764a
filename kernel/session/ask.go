package session

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// An ask stands below the turn's question, in every client that shows the conversation and in its
// file. It is an act, as an answer is, so that it is there exactly once, whatever is killed when.
// When it is closed its subtree becomes one heading.

// openAsks are the asks of a session that a client may show as waiting, by id, each with its turn. At
// the end of the turn all of them are shown as closed. The zero value is empty.
type openAsks struct {
	mu    sync.Mutex
	turns map[string]string
}

func (o *openAsks) add(ask, turn string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turns == nil {
		o.turns = map[string]string{}
	}
	o.turns[ask] = turn
}

func (o *openAsks) remove(ask string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.turns, ask)
}

// ofTurn returns the ids of the turn's asks.
func (o *openAsks) ofTurn(turn string) (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, of := range o.turns {
		if of == turn {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Ask shows an ask below the question. If the last kernel showed the ask of that id, it is not shown
// again.
func (t *Turn) Ask(ctx context.Context, ask protocol.Ask) error {
	s := t.session
	act := journal.Act{
		ID: ask.ID, Session: s.name(), Turn: t.Record.ID, Event: t.Record.Event, Kind: journal.ActAsk,
		Text: waitingSubtree(t.Record.Level, ask, s.sessions.config.heldTags()...),
	}
	err := s.retryWrite(ctx, func() error { return s.sessions.config.Journal.Acts.PutAct(ctx, act) })
	switch {
	case protocol.ErrorCode(err) == protocol.CodeConflict: // the last kernel showed it
	case err != nil:
		return fmt.Errorf("show what waits for a person: %w", err)
	default:
		s.send(ctx, act, t.Record)
	}
	shown, err := askForClients(ctx, s.sessions.config.Journal, ask)
	if err != nil {
		return err
	}
	s.asks.add(ask.ID, t.Record.ID)
	s.unattended.Store(t.Record.Question.Route.Unattended())
	s.notifyAsk(protocol.MethodAskOpened, shown)
	s.sessions.config.askChanged()
	return nil
}

// askForClients returns a waiting ask as the clients of its conversation receive it.
func askForClients(ctx context.Context, j Journal, ask protocol.Ask) (protocol.Ask, error) {
	ask = ask.Shortened()
	act, err := j.Acts.Act(ctx, ask.ID)
	if err != nil && protocol.ErrorCode(err) != protocol.CodeNotFound {
		return ask, fmt.Errorf("look for what is shown: %w", err)
	}
	ask.Subtree = act.Text // "" for an approval of an earlier version
	return ask, nil
}

// Remind notifies a client that attaches to a session of the asks that wait there.
func (h *Sessions) Remind(ctx context.Context, client Client, session string) error {
	open, err := h.config.Journal.Asks.OpenAsks(ctx)
	if err != nil {
		return err
	}
	s, err := h.use(session)
	if err != nil {
		return err
	}
	defer s.release()
	for _, ask := range open {
		if ask.Session != session {
			continue
		}
		shown, err := askForClients(ctx, h.config.Journal, ask)
		if err != nil {
			return err
		}
		s.asks.add(ask.ID, ask.Turn)
		client.Notify(protocol.MethodAskOpened, shown)
		s.showClosed(ctx, client, ask.ID) // if it was closed since it was looked for
	}
	return nil
}

// AskClosed shows that the ask of this id is closed.
func (t *Turn) AskClosed(ctx context.Context, id string) {
	t.session.showClosed(context.WithoutCancel(ctx), nil, id)
	t.session.file.reconcileUnkept(ctx)
}

// showClosed notifies one client, or all with nil, that the ask of this id is closed. It does
// nothing while the ask waits.
func (s *Session) showClosed(ctx context.Context, client Client, id string) {
	ask, err := s.sessions.config.readAsk(ctx, id)
	switch {
	case err != nil:
		s.logger().Error("an approval or a question is not shown as closed", "id", id, "err", err)
	case ask.ask.Waits():
	case client != nil:
		client.Notify(protocol.MethodAskClosed, ask.notification(s.name()))
	default:
		s.asks.remove(id)
		s.notifyAsk(protocol.MethodAskClosed, ask.notification(s.name()))
		s.sessions.config.askChanged()
	}
}

// askChanged tells that something waits, or does not wait any more.
func (c *Config) askChanged() {
	if c.OnAsk != nil {
		c.OnAsk()
	}
}

// renderedAsk is an ask with its subtrees in the conversation.
type renderedAsk struct {
	ask     protocol.Ask
	waiting string // its subtree while it waits
	closed  string // and when it is closed
	undone  bool   // a person undid what it allowed
}

// notification tells clients that the ask is closed.
func (a renderedAsk) notification(session string) protocol.AskClosed {
	return protocol.AskClosed{
		ID: a.ask.ID, Sort: a.ask.Sort, Session: session, Turn: a.ask.Turn, Decision: a.ask.Decision, Client: a.ask.Client,
		Waiting: a.waiting, Subtree: a.closed,
	}
}

// readAsk reads the ask of this id.
func (c *Config) readAsk(ctx context.Context, id string) (renderedAsk, error) {
	j, tags := c.Journal, c.heldTags()
	ask, err := j.Asks.Ask(ctx, id)
	if err != nil {
		return renderedAsk{}, fmt.Errorf("look for what a person was asked: %w", err)
	}
	record, err := j.Turns.Turn(ctx, ask.Turn)
	if err != nil {
		return renderedAsk{}, fmt.Errorf("look for the turn that asked: %w", err)
	}
	placed := renderedAsk{ask: ask, waiting: waitingSubtree(record.Level, ask, tags...)}
	if ask.Waits() {
		return placed, nil
	}
	if act, err := j.Acts.Act(ctx, id); err == nil {
		placed.waiting = act.Text
	}
	if placed.undone, err = isUndone(ctx, j, ask); err != nil {
		return renderedAsk{}, fmt.Errorf("look whether it was undone: %w", err)
	}
	placed.closed = closedSubtree(record.Level, ask, placed.undone, tags...)
	return placed, nil
}

// isUndone reports whether a person undid what the ask of a turn allowed: each act of the turn with
// its action.
func isUndone(ctx context.Context, j Journal, ask protocol.Ask) (bool, error) {
	if ask.Sort == protocol.AskQuestion || ask.Decision == "" || ask.Decision == protocol.Deny {
		return false, nil
	}
	undone, err := j.Acts.UndoneActs(ctx, ask.Turn)
	if err != nil || len(undone) == 0 {
		return false, err
	}
	acts, err := j.Acts.ActsOf(ctx, ask.Turn)
	if err != nil {
		return false, err
	}
	allowed := ask.Action
	if ask.Edited != "" {
		allowed = ask.Edited
	}
	found := false
	for _, a := range acts {
		if a.Kind != journal.ActAction || a.Action != allowed {
			continue
		}
		if !slices.Contains(undone, a.ID) {
			return false, nil
		}
		found = true
	}
	return found, nil
}

// ShowUndone has the conversation of a turn say which of the approvals of the turn were undone, in its
// clients and in its file.
func (h *Sessions) ShowUndone(ctx context.Context, turn journal.Turn) error {
	s, err := h.use(turn.Session)
	if err != nil {
		return err
	}
	defer s.release()
	acts, err := h.config.Journal.Acts.ActsOf(ctx, turn.ID)
	if err != nil {
		return fmt.Errorf("look for what was undone: %w", err)
	}
	for _, a := range acts {
		if a.Kind != journal.ActAsk {
			continue
		}
		ask, err := h.config.readAsk(ctx, a.ID)
		if err != nil {
			return err
		}
		if !ask.undone {
			continue
		}
		// What was closed is closed again, otherwise.
		ask.waiting = closedSubtree(turn.Level, ask.ask, false, h.config.heldTags()...)
		s.notifyAsk(protocol.MethodAskClosed, ask.notification(s.name()))
		s.file.replaceUnkept(ctx, ask.waiting, ask.closed)
	}
	return nil
}

// replaceClosedAsks replaces the texts of closed asks by their closed subtrees.
func (c *Config) replaceClosedAsks(ctx context.Context, acts []journal.Act) error {
	for i, a := range acts {
		if a.Kind != journal.ActAsk {
			continue
		}
		ask, err := c.readAsk(ctx, a.ID)
		if err != nil {
			return err
		}
		if !ask.ask.Waits() {
			acts[i].Text = ask.closed
		}
	}
	return nil
}

// sendClosed notifies a client of the asks that are closed, among those that its buffer shows as
// waiting.
func (s *Session) sendClosed(ctx context.Context, client Client, waiting []string) {
	for _, id := range waiting {
		s.showClosed(ctx, client, id)
	}
}
