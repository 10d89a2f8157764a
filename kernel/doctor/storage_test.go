package doctor_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/doctor"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// texts returns the findings of a check that are not good, as text.
func texts(t *testing.T, c doctor.Config, check string) string {
	t.Helper()
	var all []string
	for _, f := range doctor.Examine(t.Context(), c, check) {
		if f.State != doctor.OK {
			all = append(all, f.Text)
		}
	}
	return strings.Join(all, "\n")
}

// TestDiskThatTakesNothing: a disk that takes no more is found by a write, whatever it says of its space, and
// the write leaves nothing behind.
func TestDiskThatTakesNothing(t *testing.T) {
	const alone = "ORG_AGENT_TEST_FULL_DISK"
	if os.Getenv(alone) == "" { // what "go test" itself writes meanwhile would be refused, too
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestDiskThatTakesNothing$")
		command.Env = append(os.Environ(), alone+"=1")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	c := patient(t, nil)
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: before.Max}))
	found := texts(t, c, "disk")
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	for _, directory := range []string{c.Paths.State, c.Paths.Home, c.Paths.Sessions} {
		if !strings.Contains(found, "nothing can be written in "+directory+": ") {
			t.Errorf("of %s it says %q", directory, found)
		}
	}
	if found := texts(t, c, "disk"); strings.Contains(found, "nothing can be written") {
		t.Errorf("with room again it says %q", found)
	}
	for _, directory := range []string{c.Paths.State, c.Paths.Home, c.Paths.Sessions} {
		if left, _ := filepath.Glob(filepath.Join(directory, ".doctor.*")); left != nil {
			t.Errorf("left: %q", left)
		}
	}
}

// TestConversationFiles: a conversation that cannot be written is found, and mended if it is read-only.
func TestConversationFiles(t *testing.T) {
	c := patient(t, nil)
	must(t, os.WriteFile(filepath.Join(c.Paths.Sessions, "closed.org"), nil, 0o400))
	must(t, os.Mkdir(filepath.Join(c.Paths.Sessions, "directory.org"), 0o700))
	found := texts(t, c, "home")
	for _, want := range []string{"closed.org is read-only", "directory.org is not a regular file"} {
		if !strings.Contains(found, want) {
			t.Errorf("it says %q, not %q", found, want)
		}
	}
	doctor.Mend(t.Context(), c, "home")
	if found := texts(t, c, "home"); strings.Contains(found, "read-only") {
		t.Errorf("after --fix it says %q", found)
	}
}

// TestArchiveOfOldRequests: a damaged archive of old requests is found, and saved as far as it can be read.
func TestArchiveOfOldRequests(t *testing.T) {
	c := patient(t, nil)
	j, err := journal.Open(t.Context(), c.Paths.Journal)
	must(t, err)
	for _, id := range []string{"q1", "q2"} {
		_, _, err = j.Turns.Accept(t.Context(), protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Text: id}, "t"+id)
		must(t, err)
		_, err = j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelReply, Turn: "t" + id, Data: json.RawMessage(`{"text":"` + strings.Repeat("words ", 99) + `"}`)})
		must(t, err)
		_, err = j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "t" + id, State: protocol.TurnAnswered})
		must(t, err)
	}
	_, err = j.Archive.Move(t.Context(), time.Now().Add(time.Hour))
	must(t, errors.Join(err, j.Close()))
	archive := journal.ArchivePath(c.Paths.Journal)
	if found := texts(t, c, "journal"); found != "" {
		t.Errorf("it says %q", found)
	}
	file, err := os.OpenFile(archive, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt([]byte("garbage"), 4096*2) // the index of its rows
	must(t, errors.Join(err, file.Close()))
	if found := texts(t, c, "journal"); !strings.Contains(found, "the archive of old requests "+archive+" is damaged") {
		t.Errorf("damaged it says %q", found)
	}
	doctor.Mend(t.Context(), c, "journal")
	if found := texts(t, c, "journal"); found != "" {
		t.Errorf("after --fix it says %q", found)
	}
	j, err = journal.OpenToRead(t.Context(), c.Paths.Journal)
	must(t, err)
	defer j.Close()
	if state, err := j.Archive.State(t.Context()); err != nil || state.Rows != 1 {
		t.Errorf("it has %+v, %v", state, err)
	}
}
