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

// written is the files of a journal in which all sorts of things were done, as they are while
// it is open: nearly everything stands in the log behind the file, in the order in which it was
// written.
func written(t *testing.T, seed uint64) (file, behind []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 62))
	k := newTalk(t)
	for range 14 {
		k.meddle(random)
		k.ask("now?")
		_ = k.show(500 + random.IntN(4000))
	}
	for path, data := range map[string]*[]byte{k.j.Path(): &file, k.j.Path() + "-wal": &behind} {
		var err error
		*data, err = os.ReadFile(path)
		k.must(err)
	}
	if len(file) > 4096 || len(behind) > 4<<20 {
		t.Fatalf("the journal has %d bytes and %d behind it: it was put in order already", len(file), len(behind))
	}
	return file, behind
}

// TestDamagedTailIsValid: whatever the disk lost or garbled of what was written last, the journal opens,
// and what is shown of it is a request that a server takes, with whole pairs of calls and
// results.
func TestDamagedTailIsValid(t *testing.T) {
	var files, behinds [3][]byte
	for seed := range files {
		files[seed], behinds[seed] = written(t, uint64(seed))
	}
	shown, calls := 0, 0
	property := func(seed uint64) bool {
		random := rand.New(rand.NewPCG(seed, 63))
		which := random.IntN(len(files))
		behind := append([]byte{}, behinds[which]...)
		at := len(behind) - random.IntN(len(behind)*3/4)
		switch random.IntN(3) {
		case 0:
			behind = behind[:at]
		case 1: // a page that never came
			clear(behind[at:min(at+4096, len(behind))])
		default:
			for range 1 + random.IntN(8) {
				behind[at+random.IntN(len(behind)-at+1)-1] ^= byte(1 + random.IntN(255))
			}
		}
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := os.WriteFile(path, files[which], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-wal", behind, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(t.Context(), path)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			return false
		}
		defer j.Close()
		past := history.New(journalOf(j), plists, asked)
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
