package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// stateHome is a directory for a journal and one for its conversations.
type stateHome struct{ path, sessions string }

func newStateHome(t *testing.T) stateHome {
	t.Helper()
	h := stateHome{filepath.Join(t.TempDir(), "journal.db"), t.TempDir()}
	return h
}

// start starts the journal and returns what a person is told.
func (h stateHome) start(t *testing.T) (*journal.Journal, string) {
	t.Helper()
	j, incidents, err := journal.Start(t.Context(), h.path, h.sessions, nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	var told []string
	for _, i := range incidents {
		told = append(told, i.Text)
	}
	kept, err := j.Incidents(t.Context(), time.Now().Add(-time.Minute))
	must(t, err)
	if len(kept) < len(incidents) {
		t.Errorf("told %q, of which the journal has %v", told, kept)
	}
	return j, strings.Join(told, "\n")
}

// talk starts the journal, asks and answers some questions, and closes it.
func (h stateHome) talk(t *testing.T, questions int) {
	t.Helper()
	j, told := h.start(t)
	if told != "" {
		t.Fatalf("told %s", told)
	}
	for i := range questions {
		id := fmt.Sprintf("q%d-%d", os.Getpid(), i)
		turn := accepted(t, j, id, "main", strings.Repeat(fmt.Sprint("question ", i, " "), 1+i%100))
		must(t, j.Acts.PutAct(t.Context(), journal.Act{ID: "a-" + id, Session: "main", Turn: turn.ID, Event: id, Kind: journal.ActAnswer, Plain: "answer " + id, Text: "** answer"}))
		_, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered})
		must(t, err)
	}
	must(t, os.WriteFile(filepath.Join(h.sessions, "main.org"), []byte("* question :user:\n:PROPERTIES:\n:ID: q0\n:END:\n"), 0o600))
	must(t, j.Close())
}

func (h stateHome) kept(t *testing.T, what string) []string {
	t.Helper()
	found, err := filepath.Glob(h.path + "." + what + "-*")
	must(t, err)
	return found
}

// TestIdentity: a journal keeps its identity, and the conversations know it.
func TestIdentity(t *testing.T) {
	h := newStateHome(t)
	h.talk(t, 1)
	j, told := h.start(t)
	id, made, err := j.Identity(t.Context())
	must(t, err)
	known, err := os.ReadFile(filepath.Join(h.sessions, ".journal"))
	must(t, err)
	if told != "" || len(id) != 32 || strings.TrimSpace(string(known)) != id || time.Since(made) > time.Minute {
		t.Errorf("the identity %s of %v, known as %s; told %q", id, made, known, told)
	}
	other := newStateHome(t)
	other.talk(t, 1)
	must(t, j.Close())
	data, err := os.ReadFile(other.path)
	must(t, err)
	must(t, os.WriteFile(h.path, data, 0o600))
	j, told = h.start(t)
	if !strings.Contains(told, "is another one than that of your conversations") || !strings.Contains(told, "nothing is sent again") {
		t.Errorf("told %q", told)
	}
	must(t, j.Close())
	if _, told = h.start(t); told != "" {
		t.Errorf("told again: %q", told)
	}
}

// TestLostJournal: a journal or its log that is gone is told, and the next start is quiet.
func TestLostJournal(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(h stateHome) error
		says string
	}{
		"removed": {func(h stateHome) error { return os.Remove(h.path) }, "is missing, and a new one was begun"},
		"removed, identity never kept": {func(h stateHome) error {
			_ = os.Remove(filepath.Join(h.sessions, ".journal"))
			return os.Remove(h.path)
		}, "is missing, and a new one was begun"},
		"emptied":     {func(h stateHome) error { return os.Truncate(h.path, 0) }, "is empty, and a new one was begun"},
		"log removed": {func(h stateHome) error { return os.WriteFile(h.path+"-open", nil, 0o600) }, "journal.db-wal is missing"},
		"log overwritten": {func(h stateHome) error {
			_ = os.WriteFile(h.path+"-open", nil, 0o600)
			return os.WriteFile(h.path+"-wal", bytes.Repeat([]byte("no log "), 5000), 0o600)
		}, "the beginning of"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newStateHome(t)
			h.talk(t, 3)
			must(t, test.harm(h))
			j, told := h.start(t)
			if !strings.Contains(told, test.says) {
				t.Errorf("told %q", told)
			}
			must(t, j.Close())
			if _, told = h.start(t); told != "" {
				t.Errorf("told again: %q", told)
			}
		})
	}
}

// TestFirstStartIsQuiet: where nothing was lost, nothing is told: in a new home, and after an end in the middle of
// the first start.
func TestFirstStartIsQuiet(t *testing.T) {
	h := newStateHome(t)
	must(t, os.WriteFile(h.path, nil, 0o600))
	if _, told := h.start(t); told != "" {
		t.Errorf("told %q", told)
	}
	h = stateHome{h.path + "2", filepath.Join(h.sessions, "none")}
	if _, told := h.start(t); told != "" {
		t.Errorf("told %q", told)
	}
}

// copyOpen copies the files of a journal that is open, as they are when its process dies.
func (h stateHome) copyOpen(t *testing.T) stateHome {
	t.Helper()
	to := newStateHome(t)
	for _, suffix := range []string{"", "-wal", "-open"} {
		data, err := os.ReadFile(h.path + suffix)
		must(t, err)
		must(t, os.WriteFile(to.path+suffix, data, 0o600))
	}
	known, err := os.ReadFile(filepath.Join(h.sessions, ".journal"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(to.sessions, ".journal"), known, 0o600))
	return to
}

// TestLogWithoutJournal: what is in a log is saved if the file beside it is emptied, where SQLite
// would remove the log.
func TestLogWithoutJournal(t *testing.T) {
	h := newStateHome(t)
	j, _ := h.start(t)
	accepted(t, j, "q1", "main", "one")
	for name, harm := range map[string]func(path string) error{
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"removed": os.Remove,
	} {
		to := h.copyOpen(t)
		must(t, harm(to.path))
		j, told := to.start(t)
		if !strings.Contains(told, "but not the log beside it") {
			t.Errorf("%s: told %q", name, told)
		}
		if _, err := j.Turns.Turn(t.Context(), "turn-q1"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamageIsSalvaged: whatever pages are damaged, the journal opens, is whole and keeps what the other
// pages have, and the damaged file stays as it was.
func TestDamageIsSalvaged(t *testing.T) {
	h := newStateHome(t)
	const questions = 200
	h.talk(t, questions)
	whole, err := os.ReadFile(h.path)
	must(t, err)
	known, err := os.ReadFile(filepath.Join(h.sessions, ".journal"))
	must(t, err)
	pageCount := len(whole) / 4096
	random := rand.New(rand.NewPCG(1, 1))
	garbage := func(data []byte) {
		for i := range data {
			data[i] = byte(random.Uint32())
		}
	}
	harms := map[string]struct {
		least int // turns that are saved at least
		harm  func(data []byte) []byte
	}{
		"the header":     {questions, func(data []byte) []byte { garbage(data[:100]); return data }},
		"the first page": {questions, func(data []byte) []byte { garbage(data[:4096]); return data }},
		"the first half": {10, func(data []byte) []byte { garbage(data[:len(data)/2]); return data }},
		"the end is cut": {10, func(data []byte) []byte { return data[:len(data)/2+1000] }},
		"every tenth page": {questions / 2, func(data []byte) []byte {
			for i := 1; i < pageCount; i += 10 {
				garbage(data[i*4096 : (i+1)*4096])
			}
			return data
		}},
	}
	for range 6 {
		at := random.IntN(pageCount)
		harms[fmt.Sprint("page ", at+1, " zeroed")] = struct {
			least int
			harm  func(data []byte) []byte
		}{questions - 60, func(data []byte) []byte { clear(data[at*4096 : (at+1)*4096]); return data }}
	}
	for name, test := range harms {
		t.Run(name, func(t *testing.T) {
			to := newStateHome(t)
			damaged := test.harm(bytes.Clone(whole))
			must(t, os.WriteFile(to.path, damaged, 0o600))
			must(t, os.WriteFile(to.path+"-open", nil, 0o600))
			must(t, os.WriteFile(to.path+"-wal", nil, 0o600))
			must(t, os.WriteFile(filepath.Join(to.sessions, ".journal"), known, 0o600))
			j, told := to.start(t)
			checkWhole(t, j)
			saved := 0
			for i := range questions {
				turn, err := j.Turns.Turn(t.Context(), fmt.Sprintf("turn-q%d-%d", os.Getpid(), i))
				if err == nil && turn.State == protocol.TurnAnswered {
					saved++
				}
			}
			if saved < test.least {
				t.Errorf("%d of %d turns were saved; told %s", saved, questions, told)
			}
			kept := to.kept(t, "damaged")
			if told == "" && saved == questions && len(kept) == 0 {
				return // the page was a free one
			}
			if len(kept) == 0 || !strings.Contains(told, "was damaged") || !strings.Contains(told, kept[0]) {
				t.Fatalf("told %q, kept %v", told, kept)
			}
			if after, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(after, damaged) {
				t.Errorf("the damaged file was changed: %v", err)
			}
			if saved > 0 && found(t, j, "question", "") == "" {
				t.Error("nothing is found")
			}
			accepted(t, j, "new", "main", "goes on")
		})
	}
}

// TestNothingToSalvage: a file that never was a journal is refused, and stays.
func TestNothingToSalvage(t *testing.T) {
	h := newStateHome(t)
	text := bytes.Repeat([]byte("a text of somebody. "), 1000)
	must(t, os.WriteFile(h.path, text, 0o600))
	if _, _, err := journal.Start(t.Context(), h.path, h.sessions, nil); protocol.ErrorCode(err) != protocol.CodeStorage || !strings.Contains(err.Error(), "no row of a journal") {
		t.Errorf("it says %v", err)
	}
	if after, err := os.ReadFile(h.path); err != nil || !bytes.Equal(after, text) {
		t.Errorf("it was changed: %v", err)
	}
	if left, _ := filepath.Glob(h.path + "?*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestReadersLeaveTheLog: who only reads a journal whose kernel died leaves its log.
func TestReadersLeaveTheLog(t *testing.T) {
	h := newStateHome(t)
	j, _ := h.start(t)
	accepted(t, j, "q1", "main", "one")
	to := h.copyOpen(t)
	reader, err := journal.OpenToRead(t.Context(), to.path)
	must(t, err)
	if _, err := reader.Turns.Turn(t.Context(), "turn-q1"); err != nil {
		t.Error(err)
	}
	must(t, reader.Close())
	must(t, journal.Snapshot(t.Context(), to.path, to.path+".picture"))
	if _, told := to.start(t); told != "" {
		t.Errorf("told %q", told)
	}
}
