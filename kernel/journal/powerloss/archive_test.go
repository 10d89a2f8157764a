package powerloss_test

import (
	"encoding/json"
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

// TestArchivingPowerLoss: at whatever moment the power is lost while old requests are moved to the archive, each
// is whole in one of the two files, and moving goes on.
func TestArchivingPowerLoss(t *testing.T) {
	directory := t.TempDir()
	d := newDisk(t, directory)
	j, err := journal.Open(t.Context(), filepath.Join(directory, "journal.db"))
	must(t, err)
	var turns []string
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 14 {
		id := fmt.Sprint("q", i)
		turn, _, err := j.Turns.Accept(t.Context(), message(id, "text"), "turn-"+id)
		must(t, err)
		for range 3 {
			data, err := json.Marshal(map[string]string{"text": strings.Repeat(fmt.Sprint(id, "/", random.Uint64(), " "), 600)})
			must(t, err)
			_, err = j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelReply, Session: "main", Turn: turn.ID, Data: data})
			must(t, err)
		}
		_, err = j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered})
		must(t, err)
		turns = append(turns, turn.ID)
	}
	_, _, err = j.Turns.Accept(t.Context(), message("last", "text"), "turn-last") // what was before it is on the disk
	must(t, err)
	first := d.moment()
	moved, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour))
	if err != nil || moved != 3*len(turns) {
		t.Fatal(moved, err)
	}
	must(t, j.Close())
	for n := range images(t) {
		moment := first + random.IntN(d.moment()-first+1)
		part := []float64{0, 0.5, 0.9, 0.1}[n%4]
		left := d.lose(moment, func() bool { return random.Float64() < part })
		checkArchivingImage(t, fmt.Sprintf("image %d, after %d of %d changes", n, moment-first, d.moment()-first), left, turns)
	}
}

func checkArchivingImage(t *testing.T, name string, left image, turns []string) {
	t.Helper()
	home, err := os.MkdirTemp(t.TempDir(), "image")
	must(t, err)
	defer os.RemoveAll(home)
	must(t, left.save(home))
	j, incidents, err := journal.Start(t.Context(), filepath.Join(home, "journal.db"), filepath.Join(home, "sessions"), nil)
	if err != nil || len(incidents) > 0 {
		t.Errorf("%s: %v, %v", name, incidents, err)
		return
	}
	defer j.Close()
	for range 2 { // as it was left, and when moving has gone on
		for _, turn := range turns {
			rows, err := j.Records.Entries(t.Context(), journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindModelReply}})
			if err != nil || len(rows) != 3 {
				t.Errorf("%s: %s has %d replies, %v", name, turn, len(rows), err)
			}
			for _, row := range rows {
				if len(row.Data) < 10_000 {
					t.Errorf("%s: row %d is %.300s", name, row.Seq, row.Data)
				}
			}
		}
		if _, err := j.Archive.Move(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	faults, err := j.Check(t.Context())
	if err != nil || len(faults) > 0 {
		t.Errorf("%s: %v %v", name, faults, err)
	}
}
