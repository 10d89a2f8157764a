//go:build !race

// These tests have one goroutine, and with the race detector they take three times as long.

package journal_test

import (
	"bufio"
	"fmt"
	"org-agent/kernel/journal"
	"strings"
	"syscall"
	"testing"
)

// TestIndexingBesideWork: in every state of an index that is being made, whatever is said,
// forked and renamed meanwhile, a search finds exactly what was said.
func TestIndexingBesideWork(t *testing.T) {
	k, _ := oldTalk(t, 400)
	u, err := k.j.Search.Unindexed(t.Context())
	must(t, err)
	if u.Rows < 800 || u.Rows != u.All || u.Percent() != 100 {
		t.Fatalf("an old journal has %+v to index", u)
	}
	k.compare("before")
	steps := 0
	for more, left := true, u.Rows; more; steps++ {
		switch k.from.IntN(4) {
		case 0:
			k.say()
		case 1:
			k.fork()
		case 2:
			k.rename()
		}
		more, err = k.j.Search.IndexPiece(t.Context())
		must(t, err)
		u, err := k.j.Search.Unindexed(t.Context())
		must(t, err)
		if u.Rows >= left || (u.Rows == 0) == more || u.Percent() > 100 || (u.Percent() == 0) == more {
			t.Fatalf("after %d steps %+v, %d before; more %v", steps, u, left, more)
		}
		left = u.Rows
		if steps%12 == 0 || !more {
			k.compare(fmt.Sprintf("%d left", left))
		}
	}
	if steps < 8 {
		t.Fatalf("only %d steps: the test proves nothing", steps)
	}
	must(t, k.j.Search.Index(t.Context()))
	k.compare("after")
	checkWhole(t, k.j)
	if left := formerTables(t, k.j); left > 0 {
		t.Errorf("%d tables are left of the former index", left)
	}
	if u, err := k.j.Search.Unindexed(t.Context()); err != nil || u != (journal.Unindexed{}) {
		t.Errorf("%+v is left, %v", u, err)
	}
}

// TestKilledWhileIndexing: an indexing that is killed again and again goes on where it was.
func TestKilledWhileIndexing(t *testing.T) {
	k, path := oldTalk(t, 700)
	for round, left := 0, int64(1<<62); round < 4; round++ {
		must(t, k.j.Close())
		command := child(t, "index", path)
		output, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		lines := bufio.NewScanner(output)
		for seen := 0; lines.Scan(); seen++ {
			if seen == 2 {
				must(t, command.Process.Signal(syscall.SIGKILL))
			}
		}
		if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: the child was not killed: %v", round, err)
		}
		k.j = reopen(t, path)
		u, err := k.j.Search.Unindexed(t.Context())
		must(t, err)
		if u.Rows == 0 || u.Rows >= left {
			t.Fatalf("round %d: %d rows are left of %d", round, u.Rows, left)
		}
		left = u.Rows
		k.say()
		k.compare(fmt.Sprintf("killed at %d", left))
	}
	must(t, k.j.Search.Index(t.Context()))
	k.compare("at last")
	checkWhole(t, k.j)
}
