package service_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/session"
	"org-agent/kernel/undo"
)

// echoSessions are conversations in a real journal, in which each answer repeats its question.
type echoSessions struct {
	*session.Sessions
	journal *journal.Journal
	ended   chan journal.Turn
}

func (k *echoSessions) Run(ctx context.Context, t *session.Turn) session.Outcome {
	if err := t.Insert(ctx, "(:type :response)", "you said: "+t.Record.Question.Text); err != nil {
		return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	return session.Outcome{State: protocol.TurnAnswered, Model: "echo"}
}

func newEchoSessions(t *testing.T) *echoSessions {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	k := &echoSessions{journal: j, ended: make(chan journal.Turn, 10)}
	var ids atomic.Int64
	k.Sessions = session.New(session.Config{
		Journal: session.Journal{Turns: j.Turns, Acts: j.Acts, Sessions: j.Sessions, Asks: j.Asks, Usage: j.Usage, Search: j.Search},
		Runner:  k, NewID: func() string { return fmt.Sprint("id-", ids.Add(1)) }, Logger: discardLogger, InsertionAct: act.Insertion, OnTurnEnd: func(turn journal.Turn) { k.ended <- turn },
	})
	t.Cleanup(k.Close)
	return k
}

// send sends a message and waits until its turn has ended.
func (k *echoSessions) send(t *testing.T, conversation, id, text string) journal.Turn {
	t.Helper()
	event := protocol.Event{ID: id, Session: conversation, Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Level: 1, Text: text}
	if _, err := k.Submit(t.Context(), event); err != nil {
		t.Fatal(err)
	}
	return <-k.ended
}

// fakeCompaction records the calls of its methods.
type fakeCompaction struct {
	calls []string
	err   error
}

func (s *fakeCompaction) record(method, session string) (protocol.SessionCompacted, error) {
	s.calls = append(s.calls, method+" "+session)
	return protocol.SessionCompacted{Session: session}, s.err
}
func (s *fakeCompaction) Now(_ context.Context, session string) (protocol.SessionCompacted, error) {
	return s.record("now", session)
}
func (s *fakeCompaction) Stop(_ context.Context, session string) (protocol.SessionCompacted, error) {
	return s.record("stop", session)
}
func (s *fakeCompaction) Undo(_ context.Context, session string) (protocol.SessionCompacted, error) {
	return s.record("undo", session)
}

// Conversations are listed, loaded, searched, summarised and left, and their questions are offered as
// input history.
func TestConversations(t *testing.T) {
	k, s := newEchoSessions(t), &fakeCompaction{}
	k.send(t, "main", "q1", "where is the samovar?")
	k.send(t, "work", "q2", "what is due?")
	var left []string
	conn := serve(t, service.Conversations{
		Sessions: k.Sessions, Questions: k.journal.Search, Names: k.journal.Sessions, Compaction: s, Model: func() string { return "usual" }, OnLeave: func(session string) { left = append(left, session) },
	}.Methods())("a shell")

	var list protocol.SessionListResult
	if err := conn.Call(within(t), protocol.MethodSessionList, protocol.Empty{}, &list); err != nil || len(list.Sessions) != 2 || list.Sessions[0].Name != "work" {
		t.Errorf("the list: %+v, %v", list, err)
	}
	var loaded protocol.SessionLoadResult
	if err := conn.Call(within(t), protocol.MethodSessionLoad, protocol.SessionLoadParams{Session: "main"}, &loaded); err != nil || loaded.Session != "main" || loaded.Model != "usual" {
		t.Errorf("loaded: %+v, %v", loaded, err)
	}
	var found protocol.SessionSearchResult
	if err := conn.Call(within(t), protocol.MethodSessionSearch, protocol.SessionSearchParams{Query: "samovar"}, &found); err != nil || len(found.Hits) == 0 {
		t.Errorf("found: %+v, %v", found, err)
	}
	var asked protocol.InputHistoryResult
	if err := conn.Call(within(t), protocol.MethodSessionAsked, protocol.InputHistoryParams{Except: "work"}, &asked); err != nil || len(asked.Questions) != 1 || asked.Questions[0].Text != "where is the samovar?" {
		t.Errorf("asked: %+v, %v", asked, err)
	}
	if err := conn.Call(within(t), protocol.MethodSessionLeave, protocol.SessionLeaveParams{Session: "main"}, nil); err != nil || !slices.Equal(left, []string{"main"}) {
		t.Errorf("left: %v, %v", left, err)
	}

	compact := func(p protocol.SessionCompactParams) error {
		return conn.Call(within(t), protocol.MethodSessionCompact, p, nil)
	}
	wantError(t, "a summary of nothing", compact(protocol.SessionCompactParams{Session: "nowhere"}), protocol.CodeNotFound, "has no message")
	wantError(t, "two things at once", compact(protocol.SessionCompactParams{Undo: true, Stop: true}), protocol.CodeInvalidParams, "not both")
	for _, p := range []protocol.SessionCompactParams{{}, {Session: "work", Stop: true}, {Session: "work", Undo: true}} {
		if err := compact(p); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"now main", "stop work", "undo work"}; !slices.Equal(s.calls, want) {
		t.Errorf("asked for %v and not %v", s.calls, want)
	}
	s.err = history.ErrNothing
	wantError(t, "nothing to summarise", compact(protocol.SessionCompactParams{}), protocol.CodeConflict, "")
	s.err = history.ErrStopped
	wantError(t, "a summary that was stopped", compact(protocol.SessionCompactParams{}), protocol.CodeCancelled, "")
}

// The changes of a turn are returned for any of its ids, and undone changes are recorded.
func TestChanges(t *testing.T) {
	k := newEchoSessions(t)
	turn := k.send(t, "main", "q1", "change it")
	another := k.send(t, "main", "q2", "and now?")
	edit := `(:type :request :target :emacs :action :edit :file "/n.org" :old "a" :new "b")`
	for _, err := range []error{
		k.journal.Acts.PutAct(t.Context(), journal.Act{ID: "act", Session: "main", Turn: turn.ID, Event: "q1", Kind: journal.ActAction, Action: edit}),
		k.journal.Acts.PutReceipt(t.Context(), "act", journal.Receipt{Receipt: protocol.Receipt{Done: true}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	kinds := kind.New(act.Kinds(act.Deps{})...)
	var shown []string
	conn := serve(t, service.Changes{
		Undone: func(_ context.Context, turn journal.Turn) error { shown = append(shown, turn.ID); return nil },
		IDs:    k.journal.Records, Turns: k.journal.Turns, Journal: undo.Journal{Acts: k.journal.Acts, Rows: k.journal.Records}, Kinds: func() *kind.Set { return kinds },
	}.Methods())("a shell")
	list := func(id string) (result protocol.TurnChangesResult, err error) {
		err = conn.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: id}, &result)
		return result, err
	}
	for _, id := range []string{"q1", turn.ID, turn.Answer, "act"} {
		result, err := list(id)
		if err != nil || result.Event != "q1" || len(result.Changes) != 1 || result.Changes[0].Act != "act" || result.Changes[0].Undone != "" {
			t.Errorf("%s: %+v, %v", id, result, err)
		}
	}
	if result, err := list(another.ID); err != nil || len(result.Changes) > 0 {
		t.Errorf("a turn that changed nothing: %+v, %v", result, err)
	}
	_, err := list("none")
	wantError(t, "an id that is none", err, protocol.CodeNotFound, "none")
	undone := func(p protocol.TurnUndoneParams) error {
		return conn.Call(within(t), protocol.MethodTurnUndone, p, nil)
	}
	wantError(t, "an act that is none", undone(protocol.TurnUndoneParams{Turn: turn.ID, Acts: []string{"none"}}), protocol.CodeNotFound, "no act")
	if err := undone(protocol.TurnUndoneParams{Turn: turn.ID, Acts: []string{"act"}}); err != nil {
		t.Fatal(err)
	}
	if result, err := list("q1"); err != nil || result.Changes[0].Undone == "" {
		t.Errorf("taken back: %+v, %v", result, err)
	}
	if !slices.Equal(shown, []string{turn.ID}) {
		t.Errorf("shown as undone are %v", shown)
	}
}
