package session

import (
	"context"
	"slices"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Attach attaches a client to the session. It sends the turns that the client lacks as turn/kept
// notifications before it returns, and later ones as they happen. The first attached client that
// keeps files becomes the keeper. A client that missed a renaming of the session receives
// session/renamed before any other notification, because it shows a notification under the name that
// it knows. A client that only watches has no ids, and is attached to the session that has the name
// now.
//
// An attaching client misses no act. The kernel writes an act to the journal before it reads the list
// of attached clients ([Turn.deliver], [Session.send]). Attach adds the client to that list before it
// reads the journal. So either the journal has the act when Attach reads it, and replay sends the act,
// or the act is written after the client was added, and is delivered to it. If both happen, the client
// receives the act twice and shows it once, by its id. Whether a person removed the act from the file
// is decided by one reading of the journal and a later reading of the file, see [Session.replay].
func (h *Sessions) Attach(ctx context.Context, client Client, p protocol.SessionLoadParams) (protocol.SessionLoadResult, error) {
	name, err := h.attachName(ctx, sessionOrMain(p.Session), p.IDs)
	if p.Watch {
		name, err = h.CurrentName(ctx, sessionOrMain(p.Session))
	}
	if err != nil {
		return protocol.SessionLoadResult{}, err
	}
	s, err := h.use(name)
	if err != nil {
		return protocol.SessionLoadResult{}, err
	}
	defer s.release()
	view := p.View
	if view == "" {
		view = protocol.ViewSubtree
	}
	a := &attachment{client: client, view: view}
	a.ctx, a.leave = context.WithCancel(h.ctx)
	result := s.attachAs(a, p)
	if !p.Watch {
		if result.NeverReceived, err = s.replay(ctx, client, p.IDs, view); err != nil {
			s.detach(ctx, client.ID())
			return result, err
		}
		s.sendClosed(ctx, client, p.Waiting)
	}
	if running := s.queue.current(); running != nil {
		if progress := running.progress(); progress != nil {
			client.Notify(protocol.MethodTurnProgress, *progress)
		}
	}
	if err := s.describe(ctx, &result); err != nil {
		s.detach(ctx, client.ID())
		return result, err
	}
	return result, nil
}

// describe adds the values for a client's header line: the chosen model, the chosen preset and the
// usage of the session.
func (s *Session) describe(ctx context.Context, result *protocol.SessionLoadResult) (err error) {
	if result.Model, err = s.sessions.config.Journal.Sessions.SessionModel(ctx, s.name()); err != nil {
		return err
	}
	if result.Preset, err = s.sessions.config.Journal.Sessions.SessionPreset(ctx, s.name()); err != nil {
		return err
	}
	result.Usage, err = s.total(ctx)
	return err
}

// total returns the usage of the session, nil if none was counted.
func (s *Session) total(ctx context.Context) (*protocol.Usage, error) {
	rows, err := s.sessions.config.Journal.Usage.Sum(ctx, protocol.UsageTotal, s.name(), time.Time{}, 0)
	if len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// attachAs attaches a client that knows the session by the name in p. It cannot be renamed
// meanwhile.
func (s *Session) attachAs(a *attachment, p protocol.SessionLoadParams) protocol.SessionLoadResult {
	s.acceptMu.Lock()
	defer s.acceptMu.Unlock()
	if known := sessionOrMain(p.Session); !p.Watch && known != s.name() {
		a.client.Notify(protocol.MethodSessionRenamed, protocol.SessionRenamed{Session: known, To: s.name(), File: s.file.path()})
	}
	return s.attach(a)
}

// attach adds the client, in the place of an earlier attachment of the same connection, and returns the
// state of the session. The client holds the session until detach.
func (s *Session) attach(a *attachment) protocol.SessionLoadResult {
	s.hold()
	result := protocol.SessionLoadResult{Session: s.name(), File: s.file.path()}
	replaced := 0
	s.file.mu.Lock() // the kernel does not write a file that a client keeps, nor finish to write it then
	replaced, result.Keeper = s.viewers.add(a, result.File != "")
	s.file.mu.Unlock()
	for range replaced {
		s.release()
	}
	// Read after the client was added: it is notified of later changes.
	running, waiting := s.queue.state()
	if running != nil {
		result.Running, result.RunningEvent = running.Record.ID, running.Record.Event
	}
	for _, t := range waiting {
		result.Queued = append(result.Queued, t.ID)
		result.QueuedEvents = append(result.QueuedEvents, t.Event)
	}
	return result
}

// replay sends the questions and answers that the client lacks, and returns those of its ids that
// the kernel never received. It does not send a text that a person removed from the file: one that is
// saved in the journal's marks and is not in the file. The file is read after the marks, and the
// pages of turns, which may be saved meanwhile, do not count for this.
func (s *Session) replay(ctx context.Context, client Client, held []string, view protocol.View) ([]string, error) {
	j := s.sessions.config.Journal
	marks, err := j.Turns.Marks(ctx, s.name())
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, id := range held {
		has[id] = true
	}
	never, err := s.neverReceived(ctx, marks, held)
	if err != nil {
		return nil, err
	}
	saved := map[string]bool{}
	for _, m := range marks {
		saved[m.ID] = m.Saved
	}
	removed := s.file.removedByPerson()
	lacks := func(id string) bool { return !has[id] && !(saved[id] && removed(id)) }
	lacking := incompleteTurns(marks, lacks)
	const page = 200
	for ids := range slices.Chunk(lacking, page) {
		turns, err := j.Turns.TurnsOf(ctx, ids...)
		if err == nil {
			err = s.replayTurns(ctx, client, turns, view, lacks)
		}
		if err != nil {
			return nil, err
		}
	}
	return never, nil
}

// neverReceived returns the ids of held that the session does not have. Nearly all ids are among its
// marks. The journal looks the others up.
func (s *Session) neverReceived(ctx context.Context, marks []journal.Mark, held []string) (never []string, err error) {
	marked := make(map[string]bool, len(marks))
	for _, m := range marks {
		marked[m.ID] = true
	}
	others := slices.DeleteFunc(slices.Clone(held), func(id string) bool { return marked[id] })
	known, err := s.sessions.config.Journal.Sessions.KnownIDs(ctx, s.name(), others)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(others, func(id string) bool { return known[id] }), nil
}

// incompleteTurns returns the turns with a lacking text, in the order of the conversation.
func incompleteTurns(marks []journal.Mark, lacks func(id string) bool) (turns []string) {
	incomplete := map[string]bool{}
	for _, m := range marks {
		if lacks(m.ID) {
			incomplete[m.Turn] = true
		}
	}
	for _, m := range marks {
		if incomplete[m.Turn] {
			incomplete[m.Turn] = false
			turns = append(turns, m.Turn)
		}
	}
	return turns
}

func (s *Session) replayTurns(ctx context.Context, client Client, turns []journal.Turn, view protocol.View, lacks func(id string) bool) error {
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i] = t.ID
	}
	acts, err := s.sessions.config.Journal.Acts.ActsOf(ctx, ids...)
	if err != nil {
		return err
	}
	if err := s.sessions.config.replaceClosedAsks(ctx, acts); err != nil {
		return err
	}
	byTurn := map[string][]journal.Act{}
	for _, a := range acts {
		byTurn[a.Turn] = append(byTurn[a.Turn], a)
	}
	for _, t := range turns {
		kept := protocol.StoredTurn{Session: s.name(), Turn: t.ID, Event: t.Event, State: t.State, Words: headingWords(t)}
		if lacks(t.Event) {
			kept.Question, kept.Parent = questionSubtree(t), t.Parent
		}
		sent := false
		for _, a := range byTurn[t.ID] {
			a.Text = withPreference(a, t)
			if wire, ok := s.wireAct(a, t, view); ok && lacks(a.ID) {
				kept.ID, kept.Answer = a.ID, wire.Payload.Text("text")
				client.Notify(protocol.MethodTurnKept, kept)
				kept.Question, sent = "", true
			}
		}
		if !sent && kept.Question != "" {
			client.Notify(protocol.MethodTurnKept, kept)
		}
	}
	return nil
}

// Leave detaches a client from a session.
func (h *Sessions) Leave(client Client, session string) {
	name, err := h.CurrentName(h.ctx, sessionOrMain(session))
	if err != nil {
		h.config.Logger.Error("client not detached", "session", session, "err", err)
		return
	}
	if s, err := h.use(name); err == nil {
		s.detach(h.ctx, client.ID())
		s.release()
	}
}

// Pace notes how far apart a client wishes the pieces of an answer in a session to be.
func (h *Sessions) Pace(ctx context.Context, client Client, p protocol.SessionPaceParams) error {
	name, err := h.CurrentName(ctx, sessionOrMain(p.Session))
	if err != nil {
		return err
	}
	s, err := h.use(name)
	if err != nil {
		return err
	}
	defer s.release()
	s.viewers.setPause(client.ID(), time.Duration(p.Milliseconds)*time.Millisecond)
	return nil
}

// Detach detaches a client whose connection has ended from every session.
func (h *Sessions) Detach(client Client) {
	h.endWaiters.drop("", client)
	for _, s := range h.all() {
		s.detach(h.ctx, client.ID())
	}
}

// detach removes the client. If it was the keeper, the next client that can becomes the keeper, and the
// kernel adds the turns that the file lacks.
func (s *Session) detach(ctx context.Context, id string) {
	gone, wasKeeper := s.viewers.remove(id)
	if gone == nil {
		return
	}
	defer s.release()
	if !wasKeeper {
		return
	}
	// A receipt that came may still wait for the disk. Without it the turn would count as one that the file
	// never had, and come back after a person removed it.
	gone.receipts.Wait()
	successor := s.viewers.handOver()
	s.file.write(ctx)
	s.file.reconcileUnkept(ctx)
	if successor != nil {
		successor.client.Notify(protocol.MethodSessionKeeper, protocol.SessionKeeper{Session: s.name(), File: s.file.path(), Keeper: true})
	}
}
