package journal_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Some tests need a second process: the test's own program, started with a
// role from this table in its environment.
const (
	childRole = "JOURNAL_TEST_ROLE"
	childPath = "JOURNAL_TEST_PATH"
)

var children = map[string]func(path string) int{
	"write for ever":     writeForEver,
	"accept fifty":       acceptFifty,
	"open as nobody":     openAsNobody,
	"index":              indexForEver,
	"put files for ever": putFilesForEver,
}

// child is this program in a role. Its errors go to the test's.
func child(t *testing.T, role, path string, environment ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(append(os.Environ(), childRole+"="+role, childPath+"="+path), environment...)
	command.Stderr = os.Stderr
	return command
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// writeForEver takes questions and answers them, and says on stdout what the
// journal has acknowledged, until it is killed.
func writeForEver(path string) int {
	ctx := context.Background()
	j, err := journal.Open(ctx, path)
	if err != nil {
		return complain(err)
	}
	long := strings.Repeat("a long answer ", 5000) // many pages, so that a kill falls between them
	for i := 0; ; i++ {
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		turn, _, err := j.Turns.Accept(ctx, message("q"+id, "main", long), "t"+id)
		if err != nil {
			return complain(err)
		}
		fmt.Println("accept", turn.ID)
		act := journal.Act{ID: "a" + id, Session: "main", Turn: turn.ID, Event: turn.Event, Kind: journal.ActAnswer, Raw: long}
		if err := j.Acts.PutAct(ctx, act); err != nil {
			return complain(err)
		}
		fmt.Println("act", act.ID)
		if _, err := j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered}); err != nil {
			return complain(err)
		}
		fmt.Println("answered", turn.ID)
	}
}

// checkWhole fails the test if a row is there without what belongs to it.
func checkWhole(t *testing.T, j *journal.Journal) {
	t.Helper()
	for _, check := range []struct{ query, want string }{
		{"SELECT group_concat(integrity_check) FROM pragma_integrity_check", "ok"},
		{"SELECT count(*) FROM pragma_foreign_key_check", "0"},
		{"SELECT count(*) FROM journal AS j LEFT JOIN turn AS t USING (seq) WHERE j.kind = 'event' AND t.seq IS NULL", "0"},
		{"SELECT count(*) FROM journal AS j LEFT JOIN act AS a USING (seq) WHERE j.kind = 'act' AND a.seq IS NULL", "0"},
		{"SELECT count(*) FROM journal AS j LEFT JOIN ask AS a USING (seq) WHERE j.kind IN ('approval', 'question') AND a.seq IS NULL", "0"},
		{"SELECT count(*) FROM turn WHERE (finished = 0) <> (state IN ('queued', 'running', 'waiting'))", "0"},
		{"SELECT count(*) FROM session AS s WHERE turns <> (SELECT count(*) FROM turn WHERE session = s.name)", "0"},
		{"SELECT count(*) FROM ask AS p JOIN turn AS t ON t.id = p.turn WHERE p.closed = 0 AND t.finished > 0", "0"},
	} {
		var got string
		must(t, j.QueryRow(t.Context(), check.query).Scan(&got))
		if got != check.want {
			t.Errorf("%s: %s, want %s", check.query, got, check.want)
		}
	}
}

// acceptFifty takes fifty messages, half of which the other process takes too.
func acceptFifty(path string) int {
	j, err := journal.Open(context.Background(), path)
	if err != nil {
		return complain(err)
	}
	for i := range 50 {
		id := fmt.Sprintf("shared%d", i)
		if i%2 == 1 {
			id = fmt.Sprintf("own%d-%d", os.Getpid(), i)
		}
		if _, _, err := j.Turns.Accept(context.Background(), message(id, "main", "text"), fmt.Sprintf("t%d-%d", os.Getpid(), i)); err != nil {
			return complain(err)
		}
	}
	if err := j.Close(); err != nil {
		return complain(err)
	}
	return 0
}

// TestTwoProcesses: processes that make one new journal at once and write to
// it all get through, and take a message that both send once.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var group sync.WaitGroup
	const processes = 4
	for range processes {
		command := child(t, "accept fifty", path)
		group.Go(func() {
			if err := command.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	j := reopen(t, path)
	unfinished, err := j.Turns.Unfinished(t.Context())
	must(t, err)
	if want := 25 + processes*25; len(unfinished) != want {
		t.Errorf("%d turns, want %d", len(unfinished), want)
	}
	checkWhole(t, j)
}
