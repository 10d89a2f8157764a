package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// What tests inside the package begin with too.
var (
	fresh    = journal.Fresh
	reopen   = journal.Reopen
	message  = journal.Message
	accepted = journal.Accepted
	must     = journal.Must
)

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
