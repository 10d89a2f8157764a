package journal_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// TestChangedLog: where bits of the log have changed, a person is told, and what was said behind them is saved, as
// far as it is not on the pages that have changed themselves. SQLite alone would take the first of them for the
// end of the log.
func TestChangedLog(t *testing.T) {
	h := newStateHome(t)
	j, _ := h.start(t)
	const questions = 40
	for i := range questions {
		id := fmt.Sprint("q", i)
		turn := accepted(t, j, id, "main", strings.Repeat(fmt.Sprint("question ", i, " "), 60))
		_, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered})
		must(t, err)
	}
	const frame = 24 + 4096
	random := rand.New(rand.NewPCG(5, 6))
	at := func(n, frames int) int64 { return 32 + int64(n%frames)*frame }
	for name, test := range map[string]struct {
		harm  func(log []byte, frames int) []byte
		least int
		told  bool
	}{
		"one bit of a page": {func(log []byte, frames int) []byte {
			log[at(frames/3, frames)+24+int64(random.IntN(4096))] ^= 4
			return log
		}, questions - 2, true},
		"a frame's header": {func(log []byte, frames int) []byte { log[at(frames/2, frames)+2] ^= 1; return log }, questions - 2, true},
		"a frame's checksum": {func(log []byte, frames int) []byte {
			log[at(frames/2, frames)+17] ^= 1
			return log
		}, questions - 2, true},
		"three pages beside each other": {func(log []byte, frames int) []byte {
			for n := range 3 {
				clear(log[at(frames/2+n, frames)+100:][:2000])
			}
			return log
		}, questions - 4, true},
		"pages here and there": {func(log []byte, frames int) []byte {
			for n := frames / 4; n < frames-10; n += 40 {
				log[at(n, frames)+1000] ^= 1
			}
			return log
		}, questions - 8, true},
		"nothing":              {func(log []byte, _ int) []byte { return log }, questions, false},
		"its end is cut":       {func(log []byte, _ int) []byte { return log[:len(log)-2000] }, questions - 1, false},
		"its last page is old": {func(log []byte, frames int) []byte { clear(log[at(frames-1, frames):]); return log }, questions - 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			to := h.copyOpen(t)
			log, err := os.ReadFile(to.path + "-wal")
			must(t, err)
			frames := 0
			for 32+(frames+1)*frame <= len(log) && bytes.Equal(log[at(frames, frames+1)+8:][:8], log[16:24]) {
				frames++ // behind it are those of a former log
			}
			log = log[:32+frames*frame]
			must(t, os.WriteFile(to.path+"-wal", test.harm(log, frames), 0o600))
			again, told := to.start(t)
			if strings.Contains(told, "are not as they were written") != test.told || (told != "") != test.told {
				t.Errorf("told %q", told)
			}
			checkWhole(t, again)
			saved := 0
			for i := range questions {
				if _, err := again.Turns.Turn(t.Context(), fmt.Sprint("turn-q", i)); err == nil {
					saved++
				}
			}
			if saved < test.least {
				t.Errorf("%d of %d are saved; told %q", saved, questions, told)
			}
			accepted(t, again, "new", "main", "goes on")
		})
	}
}

// TestLogOfAnotherBoot: after the system was started again, a page of the log that is not whole was perhaps never
// flushed: the log ends there, as SQLite has it, and nobody is told.
func TestLogOfAnotherBoot(t *testing.T) {
	h := newStateHome(t)
	j, _ := h.start(t)
	for i := range 10 {
		accepted(t, j, fmt.Sprint("q", i), "main", "question")
	}
	to := h.copyOpen(t)
	must(t, os.WriteFile(to.path+"-open", []byte("another"), 0o600))
	log, err := os.ReadFile(to.path + "-wal")
	must(t, err)
	log[len(log)-3*(24+4096)] ^= 1
	must(t, os.WriteFile(to.path+"-wal", log, 0o600))
	if _, told := to.start(t); told != "" {
		t.Errorf("told %q", told)
	}
}
