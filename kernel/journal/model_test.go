//go:build !race

// These tests have one goroutine, and with the race detector they take three times as long.

package journal_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// TestAgainstModel does random things to a journal and to a plain description
// of it, closing and opening the journal in between; both must agree on what
// is refused and on where every turn stands.
func TestAgainstModel(t *testing.T) {
	path, count := filepath.Join(t.TempDir(), "journal.db"), 0
	m := &model{journal: reopen(t, path)}
	t.Cleanup(func() { must(t, m.journal.Close()) })
	rapid.Check(t, func(r *rapid.T) {
		count++
		m.turns, m.run = map[string]*modelTurn{}, fmt.Sprint("run", count, "-")
		r.Repeat(map[string]func(*rapid.T){
			"accept": func(r *rapid.T) { m.accept(t, r) },
			"set":    func(r *rapid.T) { m.set(t, r) },
			"retry":  func(r *rapid.T) { m.retry(t, r) },
			"reopen": func(r *rapid.T) { m.reopen(t, r) },
			"":       func(r *rapid.T) { m.check(t, r) },
		})
		m.end(t, r)
	})
}

type model struct {
	journal *journal.Journal
	run     string                // begins the ids of this run: all share a file
	turns   map[string]*modelTurn // by the event's id
	clock   int
}

type modelTurn struct {
	session, text string
	state         protocol.TurnState
	attempt       int
	queued        int
}

var (
	modelEvents   = rapid.SampledFrom([]string{"e1", "e2", "e3", "e4"})
	modelSessions = rapid.SampledFrom([]string{"main", "other"})
	modelStates   = rapid.SampledFrom([]protocol.TurnState{"", protocol.TurnQueued, protocol.TurnRunning, protocol.TurnWaiting,
		protocol.TurnAnswered, protocol.TurnFailed, protocol.TurnCancelled, protocol.TurnInterrupted})
)

// reopen does so one time in eight: it takes longer than all the rest.
func (m *model) reopen(t *testing.T, r *rapid.T) {
	if rapid.IntRange(0, 7).Draw(r, "close") > 0 {
		return
	}
	path := m.journal.Path()
	err := m.journal.Close()
	agree(r, err, 0)
	m.journal, err = journal.Open(t.Context(), path)
	agree(r, err, 0)
}

func (m *model) tick() int {
	m.clock++
	return m.clock
}

// agree fails the test unless err has the code, 0 for none.
func agree(r *rapid.T, err error, want protocol.Code) {
	if got := protocol.ErrorCode(err); got != want {
		r.Fatalf("code %d, want %d: %v", got, want, err)
	}
}

func (m *model) accept(t *testing.T, r *rapid.T) {
	id, session := m.run+modelEvents.Draw(r, "event"), modelSessions.Draw(r, "session")
	text := rapid.SampledFrom([]string{"a", "b"}).Draw(r, "text")
	turn, fresh, err := m.journal.Turns.Accept(t.Context(), message(id, session, text), fmt.Sprint("t", m.tick(), "-", id))
	known := m.turns[id]
	switch {
	case known == nil:
		agree(r, err, 0)
		m.turns[id] = &modelTurn{session, text, protocol.TurnQueued, 1, m.clock}
	case known.session != session || known.text != text:
		agree(r, err, protocol.CodeConflict)
		return
	default:
		agree(r, err, 0)
	}
	if fresh != (known == nil) || turn.State != m.turns[id].state {
		r.Fatalf("fresh %v, %+v", fresh, turn)
	}
}

// turnOf is the id of an event's turn, or one that does not exist.
func (m *model) turnOf(t *testing.T, r *rapid.T, event string) string {
	turn, err := m.journal.Turns.TurnOfEvent(t.Context(), event)
	if m.turns[event] == nil {
		agree(r, err, protocol.CodeNotFound)
		return "missing"
	}
	agree(r, err, 0)
	return turn.ID
}

func (m *model) set(t *testing.T, r *rapid.T) {
	event, state := m.run+modelEvents.Draw(r, "event"), modelStates.Draw(r, "state")
	_, err := m.journal.Turns.SetTurn(t.Context(), journal.TurnChange{ID: m.turnOf(t, r, event), State: state})
	known := m.turns[event]
	switch {
	case known == nil:
		agree(r, err, protocol.CodeNotFound)
	case known.state.Final():
		agree(r, err, protocol.CodeConflict)
	default:
		agree(r, err, 0)
		if state != "" {
			known.state = state
		}
	}
}

func (m *model) retry(t *testing.T, r *rapid.T) {
	event := m.run + modelEvents.Draw(r, "event")
	_, err := m.journal.Turns.Retry(t.Context(), m.turnOf(t, r, event), "", nil)
	known := m.turns[event]
	switch {
	case known == nil:
		agree(r, err, protocol.CodeNotFound)
	case !known.state.Final():
		agree(r, err, protocol.CodeConflict)
	default:
		agree(r, err, 0)
		known.state, known.attempt, known.queued = protocol.TurnQueued, known.attempt+1, m.tick()
	}
}

// end leaves nothing unfinished to the next run.
func (m *model) end(t *testing.T, r *rapid.T) {
	for event, known := range m.turns {
		if !known.state.Final() {
			_, err := m.journal.Turns.SetTurn(t.Context(), journal.TurnChange{ID: m.turnOf(t, r, event), State: protocol.TurnCancelled})
			agree(r, err, 0)
		}
	}
}

func (m *model) check(t *testing.T, r *rapid.T) {
	var want []string
	for _, event := range slices.Sorted(maps.Keys(m.turns)) {
		known := m.turns[event]
		turn, err := m.journal.Turns.TurnOfEvent(t.Context(), event)
		agree(r, err, 0)
		if turn.Session != known.session || turn.State != known.state || turn.Attempt != known.attempt || turn.Finished.IsZero() == known.state.Final() {
			r.Fatalf("%+v, want %+v", turn, known)
		}
		if !known.state.Final() {
			want = append(want, event)
		}
	}
	slices.SortFunc(want, func(a, b string) int {
		if m.turns[a].session != m.turns[b].session {
			if m.turns[a].session < m.turns[b].session {
				return -1
			}
			return 1
		}
		return m.turns[a].queued - m.turns[b].queued
	})
	unfinished, err := m.journal.Turns.Unfinished(t.Context())
	agree(r, err, 0)
	var got []string
	for _, turn := range unfinished {
		if strings.HasPrefix(turn.Event, m.run) {
			got = append(got, turn.Event)
		}
	}
	if !slices.Equal(got, want) {
		r.Fatalf("unfinished %v, want %v", got, want)
	}
}
