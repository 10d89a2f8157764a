//go:build !race

// What is killed here is a program of its own. With the race detector it takes three times as
// long.

package journal_test

import (
	"bufio"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestKilledWhileWriting: whatever was acknowledged before SIGKILL is there,
// and whatever is there is whole. The same file is killed again and again.
func TestKilledWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	acknowledged := map[string]string{}
	for round := range 6 {
		command := child(t, "write for ever", path)
		output, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		lines := bufio.NewScanner(output)
		for seen := 0; lines.Scan(); seen++ {
			if seen == 17+13*round {
				must(t, command.Process.Signal(syscall.SIGKILL))
			}
			what, id, _ := strings.Cut(lines.Text(), " ") // what it said before it died counts too
			acknowledged[id] = what
		}
		if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the child was not killed: %v", err)
		}
		j, err := journal.Open(t.Context(), path)
		must(t, err)
		checkAcknowledged(t, j, acknowledged)
		checkWhole(t, j)
		must(t, j.Close())
	}
	if len(acknowledged) < 100 {
		t.Fatalf("only %d writes were acknowledged: the test proves nothing", len(acknowledged))
	}
}

func checkAcknowledged(t *testing.T, j *journal.Journal, acknowledged map[string]string) {
	t.Helper()
	for id, what := range acknowledged {
		if what == "act" {
			if _, err := j.Acts.Act(t.Context(), id); err != nil {
				t.Errorf("the act %s was acknowledged: %v", id, err)
			}
			continue
		}
		turn, err := j.Turns.Turn(t.Context(), id)
		if err != nil || (what == "answered") != (turn.State == protocol.TurnAnswered) && what == "answered" {
			t.Errorf("%s %s was acknowledged, but it is %q: %v", what, id, turn.State, err)
		}
	}
}

// TestKilledWhilePuttingFiles: what was put in before SIGKILL is found, each document as it was
// put in last and nothing else, and those that were put in at once are all there. The index is
// not made anew.
func TestKilledWhilePuttingFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	acknowledged := 0
	for round := range 12 {
		command := child(t, "put files for ever", path)
		output, err := command.StdoutPipe()
		must(t, err)
		must(t, command.Start())
		lines := bufio.NewScanner(output)
		for seen := 0; lines.Scan(); seen++ {
			if seen == 3+round {
				must(t, command.Process.Signal(syscall.SIGKILL))
			}
			_, version, _ := strings.Cut(lines.Text(), " ") // what it said before it died counts too
			acknowledged, err = strconv.Atoi(version)
			must(t, err)
		}
		if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: the child was not killed: %v", round, err)
		}
		f, fresh, err := journal.OpenFiles(t.Context(), path)
		must(t, err)
		if fresh {
			t.Errorf("round %d: the index was made anew", round)
		}
		checkVersions(t, f, acknowledged)
		must(t, f.Close())
	}
	if acknowledged < 50 {
		t.Fatalf("only %d versions were acknowledged: the test proves nothing", acknowledged)
	}
}
