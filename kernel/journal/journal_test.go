package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// TestMain runs a child process of a test, when this is one, else the tests;
// no goroutine may be left.
func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		os.Exit(children[role](os.Getenv(childPath)))
	}
	benchDirectory, err := os.MkdirTemp("", "journal")
	if err != nil {
		os.Exit(complain(err))
	}
	journal.SetBenchDirectory(benchDirectory)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(benchDirectory); err != nil {
			code = complain(err)
		}
		os.Exit(code)
	}))
}

// fresh opens a new journal that is closed when the test ends.
func fresh(t testing.TB) *journal.Journal {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "journal.db"))
}

func reopen(t testing.TB, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// message is a chat message with the id.
func message(id, session, text string) protocol.Event {
	return protocol.Event{ID: id, Session: session, Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Text: text, Level: 1}
}

// accepted takes a message and returns its turn, "turn-" and the id.
func accepted(t testing.TB, j *journal.Journal, id, session, text string) journal.Turn {
	t.Helper()
	turn, fresh, err := j.Turns.Accept(t.Context(), message(id, session, text), "turn-"+id)
	if err != nil || !fresh {
		t.Fatalf("accept %s: fresh %v, %v", id, fresh, err)
	}
	return turn
}

// answered gives a turn an answer and ends it.
func answered(t testing.TB, j *journal.Journal, turn journal.Turn, act, raw string) {
	t.Helper()
	must(t, j.Acts.PutAct(t.Context(), journal.Act{ID: act, Session: turn.Session, Turn: turn.ID, Event: turn.Event, Kind: journal.ActAnswer, Raw: raw, Final: true}))
	set(t, j, turn.ID, protocol.TurnAnswered)
}

func set(t testing.TB, j *journal.Journal, turn string, state protocol.TurnState) journal.Turn {
	t.Helper()
	changed, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn, State: state})
	must(t, err)
	return changed
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode fails the test unless err is a *protocol.Error with the code.
func wantCode(t testing.TB, err error, code protocol.Code) {
	t.Helper()
	if _, ok := errors.AsType[*protocol.Error](err); !ok || protocol.ErrorCode(err) != code {
		t.Fatalf("want an error with code %d, got %v", code, err)
	}
}

// ids are the ids of turns.
func ids(turns []journal.Turn) string {
	var list []string
	for _, turn := range turns {
		list = append(list, turn.ID)
	}
	return fmt.Sprint(list)
}

func entries(t testing.TB, j *journal.Journal, query journal.Query) []journal.Entry {
	t.Helper()
	found, err := j.Records.Entries(context.WithoutCancel(t.Context()), query)
	must(t, err)
	return found
}
