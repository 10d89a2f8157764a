package history_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/quick"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// journalFiles returns the files of an open journal after random changes: the file, and the log that
// follows it. Nearly all rows are in the log, in the order of their writing.
func journalFiles(t *testing.T, seed uint64) (file, log []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 62))
	k := newConversation(t)
	for range 14 {
		k.randomChange(random)
		k.ask("now?")
		_ = k.show(500 + random.IntN(4000))
	}
	for path, data := range map[string]*[]byte{k.j.Path(): &file, k.j.Path() + "-wal": &log} {
		var err error
		*data, err = os.ReadFile(path)
		k.must(err)
	}
	if len(file) > 4096 || len(log) > 4<<20 {
		t.Fatalf("the journal has %d bytes and %d log it: it was put in order already", len(file), len(log))
	}
	return file, log
}

// TestDamagedTailIsValid: whatever part of the last writes the disk lost or damaged, the journal opens, and
// the excerpt makes a request that a server accepts, with whole pairs of calls and results.
func TestDamagedTailIsValid(t *testing.T) {
	var files, logs [3][]byte
	for seed := range files {
		files[seed], logs[seed] = journalFiles(t, uint64(seed))
	}
	shown, calls := 0, 0
	property := func(seed uint64) bool {
		random := rand.New(rand.NewPCG(seed, 63))
		which := random.IntN(len(files))
		log := append([]byte{}, logs[which]...)
		at := len(log) - random.IntN(len(log)*3/4)
		switch random.IntN(3) {
		case 0:
			log = log[:at]
		case 1: // a page that never came
			clear(log[at:min(at+4096, len(log))])
		default:
			for range 1 + random.IntN(8) {
				log[at+random.IntN(len(log)-at+1)-1] ^= byte(1 + random.IntN(255))
			}
		}
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(path, files[which], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(t.Context(), path)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return false
		}
		defer j.Close()
		past := history.New(journalOf(j), plists, questionOf)
		turn, _, err := j.Turns.Accept(t.Context(), protocol.Event{ID: "after", Session: "main", Sensor: protocol.SensorChatMessage, Text: "and now?", Level: 1}, "turn-after")
		if err != nil {
			t.Errorf("seed %d: nothing can be asked: %v", seed, err)
			return false
		}
		view, err := past.Show(t.Context(), "main", turn.ID, history.Room{Tokens: []int{500, 4000, 100_000}[random.IntN(3)]})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return false
		}
		request := requestOf(view, "and now?")
		if fault := valid(request); fault != "" {
			t.Errorf("seed %d: %s in\n%.3000s", seed, fault, text(request))
			return false
		}
		if faults, err := j.Check(t.Context()); err != nil || len(faults) > 0 {
			t.Errorf("seed %d: the journal is not whole: %v, %v", seed, faults, err)
			return false
		}
		shown += len(view.Messages)
		for _, m := range view.Messages {
			calls += len(m.Calls)
		}
		return true
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 25}); err != nil {
		t.Error(err)
	}
	if shown < 25 || calls < 5 {
		t.Errorf("only %d messages were shown, of which %d are calls: that tells nothing", shown, calls)
	}
}
