//go:build !race

// These tests have one goroutine, and with the race detector they take three times as long.

package journal_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

var sessionNames = []string{"one", "two", "three", "four", "five"}

// muddle is what people do to a few conversations, at random.
type muddle struct {
	t        *testing.T
	j        *journal.Journal
	random   *rand.Rand
	sessions []string
	turns    []journal.Turn // as they were accepted; their sessions may have other names now
	count    int
}

func (m *muddle) some() journal.Turn { return m.turns[m.random.IntN(len(m.turns))] }

func (m *muddle) id(of string) string { m.count++; return fmt.Sprint(of, m.count) }

// step does one thing. What the journal refuses, as to retry what has not ended, changes nothing.
func (m *muddle) step() {
	m.t.Helper()
	ctx := m.t.Context()
	session := m.sessions[m.random.IntN(len(m.sessions))]
	what := m.random.IntN(12)
	if len(m.turns) == 0 {
		what = 11
	}
	switch what {
	case 0, 6, 7:
		turn := m.some()
		if _, err := m.j.Turns.Retry(ctx, turn.ID, "", nil); err == nil && m.random.IntN(4) > 0 {
			m.answer(turn)
		}
	case 1, 2:
		acts, err := m.j.Acts.ActsOf(ctx, m.some().ID)
		must(m.t, err)
		if len(acts) > 0 {
			_, err = m.j.Turns.Prefer(ctx, acts[m.random.IntN(len(acts))].ID, m.random.IntN(2) == 0)
			must(m.t, err)
		}
	case 3:
		id := m.id("s")
		_ = m.j.Turns.PutSteer(ctx, journal.Steer{ID: id, Turn: m.some().ID, Text: "by the way"})
		if m.random.IntN(2) == 0 {
			must(m.t, m.j.Turns.UseSteers(ctx, id))
		}
	case 4:
		name := sessionNames[m.random.IntN(len(sessionNames))] // also one of before
		if has, err := m.j.Sessions.HasSession(ctx, session); err == nil && has {
			if _, err := m.j.Sessions.Rename(ctx, session, name); err == nil {
				m.sessions[slices.Index(m.sessions, session)] = name
			}
		}
	case 5:
		m.fork(session, sessionNames[m.random.IntN(len(sessionNames))])
	case 8:
		m.answer(m.some())
	default:
		event := message(m.id("q"), session, "a question")
		if len(m.turns) > 0 && m.random.IntN(3) == 0 {
			event.Instead = m.some().Event // of another session: refused
		}
		if turn, _, err := m.j.Turns.Accept(ctx, event, m.id("t")); err == nil {
			m.turns = append(m.turns, turn)
			if m.random.IntN(4) > 0 {
				m.answer(turn)
			}
		}
	}
}

func (m *muddle) answer(turn journal.Turn) {
	m.t.Helper()
	now, err := m.j.Turns.Turn(m.t.Context(), turn.ID)
	must(m.t, err)
	must(m.t, m.j.Acts.PutAct(m.t.Context(), journal.Act{ID: m.id("a"), Session: now.Session, Turn: now.ID, Event: now.Event, Kind: journal.ActAnswer, Raw: m.id("raw "), Final: true}))
	skill := m.id("skill")
	_, _ = m.j.Turns.SetTurn(m.t.Context(), journal.TurnChange{ID: now.ID, State: protocol.TurnAnswered, Skill: &skill}) // it may have ended
}

func (m *muddle) fork(session, name string) {
	m.t.Helper()
	if has, err := m.j.Sessions.HasSession(m.t.Context(), name); err != nil || has {
		return
	}
	turns, err := m.j.Turns.List(m.t.Context(), session, 0, 0)
	must(m.t, err)
	fork := journal.Fork{Session: name, Parent: session}
	for _, turn := range turns {
		c := journal.Copy{Turn: turn, Origin: turn.ID, Answers: map[string]string{}}
		c.Turn.ID, c.Turn.Event, c.Turn.Replaces, c.Turn.Answer, c.Turn.Preferred = m.id("t"), m.id("q"), "", "", ""
		c.Turn.Question.ID = c.Turn.Event
		if turn.Answer != "" {
			act, err := m.j.Acts.Act(m.t.Context(), turn.Answer)
			must(m.t, err)
			act.ID = m.id("a")
			c.Acts, c.Turn.Answer, c.Answers[act.ID] = []journal.Act{act}, act.ID, turn.Answer
		}
		fork.Copies = append(fork.Copies, c)
		m.turns = append(m.turns, c.Turn)
	}
	must(m.t, m.j.Sessions.Fork(m.t.Context(), fork))
	m.sessions = append(m.sessions, name)
}

// TestTurnOrderIsCached: whatever people and other processes do to conversations, what is read of one
// with all that is kept in memory is what is read with nothing kept; also where only the last
// turns are kept, or those from a turn on.
func TestTurnOrderIsCached(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 9))
		j := fresh(t)
		other := reopen(t, j.Path())                                         // another process, as far as what is kept goes
		m := &muddle{t: t, random: random, sessions: []string{"one", "two"}} // which have no row yet
		for step := range 80 {
			m.j = []*journal.Journal{j, other}[random.IntN(2)]
			m.step()
			none, err := journal.OpenToRead(t.Context(), j.Path())
			must(t, err)
			for _, session := range sessionNames {
				compare(t, random, fmt.Sprintf("seed %d, step %d", seed, step), j, none, session)
			}
			must(t, none.Close())
		}
	}
}

// compare reads a session with what is kept and without.
func compare(t *testing.T, random *rand.Rand, at string, j, none *journal.Journal, session string) {
	t.Helper()
	before, from, limit := "", int64(0), random.IntN(8)
	turns, err := j.Turns.List(t.Context(), session, 0, 0)
	must(t, err)
	if len(turns) > 0 && random.IntN(4) == 0 {
		before = turns[random.IntN(len(turns))].ID
	}
	if len(turns) > 0 && random.IntN(3) == 0 {
		from = turns[random.IntN(len(turns))].Seq
	}
	if random.IntN(12) == 0 {
		must(t, j.Transcripts.ReadTurnOrder(t.Context(), session, from, 1+random.IntN(4)))
	}
	got, gotWhole, err := j.Transcripts.HistoryFrom(t.Context(), session, before, from, limit)
	must(t, err)
	want, wantWhole, err := none.Transcripts.HistoryFrom(t.Context(), session, before, from, limit)
	must(t, err)
	if !reflect.DeepEqual(got, want) || gotWhole != wantWhole {
		t.Fatalf("%s: %s before %q from %d, at most %d is\n%+v, %v\nand should be\n%+v, %v", at, session, before, from, limit, got, gotWhole, want, wantWhole)
	}
}
