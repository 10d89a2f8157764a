// Package powerloss has tests only: what is left of a journal after the power was lost or the disk failed. It is a
// package of its own because its file system is that of every database of the process.
package powerloss_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// acknowledged is what a kernel told somebody, and how many changes the disk had then. flushed is true
// if it survives the loss of power.
type acknowledged struct {
	turn    string
	moment  int
	flushed bool
}

// story opens a journal, lets much happen in it, closes it and opens it again. It returns what was
// acknowledged. The texts are long enough for several merges of the log.
func story(t *testing.T, d *disk, path string) (told []acknowledged) {
	t.Helper()
	for round := range 2 {
		j, err := journal.Open(t.Context(), path)
		must(t, err)
		for i := range 30 {
			id := fmt.Sprintf("%d-%d", round, i)
			turn, fresh, err := j.Turns.Accept(t.Context(), message(id, strings.Repeat("word ", 6000)), "turn-"+id)
			must(t, err)
			if !fresh {
				t.Fatalf("%s was there", id)
			}
			told = append(told, acknowledged{turn.ID, d.moment(), true})
			must(t, j.Acts.PutAct(t.Context(), journal.Act{ID: "a-" + id, Session: "main", Turn: turn.ID, Event: id, Kind: journal.ActAnswer, Plain: strings.Repeat("answer ", 4000)}))
			_, err = j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered})
			must(t, err)
			told = append(told, acknowledged{turn.ID, d.moment(), false})
		}
		must(t, j.Close())
	}
	return told
}

func message(id, text string) protocol.Event {
	return protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Text: text, Level: 1}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// images is how many moments of a loss of power are tried; ORG_AGENT_POWER_LOSSES says another number.
func images(t *testing.T) int {
	t.Helper()
	if text := os.Getenv("ORG_AGENT_POWER_LOSSES"); text != "" {
		n, err := strconv.Atoi(text)
		must(t, err)
		return n
	}
	return 12
}

// TestPowerLoss: at whatever moment the power is lost, and whatever part of what was not flushed is on the
// disk, the journal opens and is whole, has every message that was acknowledged and all that was
// committed before it, and has no turn twice.
func TestPowerLoss(t *testing.T) {
	directory := t.TempDir()
	d := newDisk(t, directory)
	told := story(t, d, filepath.Join(directory, "journal.db"))
	random := rand.New(rand.NewPCG(1, 2))
	for n := range images(t) {
		moment := random.IntN(len(d.changes) + 1)
		if n%2 == 0 { // right after an acknowledgement, when most is owed
			moment = told[random.IntN(len(told))].moment
		}
		part := []float64{0, 0.5, 0.9, 0.1}[n%4]
		left := d.lose(moment, func() bool { return random.Float64() < part })
		checkImage(t, fmt.Sprintf("image %d, after %d of %d changes", n, moment, len(d.changes)), left, told, moment)
	}
}

// checkImage opens an image as a kernel does and checks the promise of the journal.
func checkImage(t *testing.T, name string, left image, told []acknowledged, moment int) {
	t.Helper()
	home, err := os.MkdirTemp(t.TempDir(), "image")
	must(t, err)
	must(t, left.save(home))
	j, incidents, err := journal.Start(t.Context(), filepath.Join(home, "journal.db"), filepath.Join(home, "sessions"), nil)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer os.RemoveAll(home)
	defer j.Close()
	if len(incidents) > 0 {
		t.Errorf("%s: a person is told %v", name, incidents)
	}
	if faults, err := j.Check(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("%s: %v %v", name, faults, err)
	}
	last := -1
	for i, a := range told {
		if a.moment <= moment && a.flushed {
			last = i
		}
	}
	for i, a := range told[:last+1] {
		turn, err := j.Turns.Turn(t.Context(), a.turn)
		if err != nil {
			t.Errorf("%s: %s was acknowledged: %v", name, a.turn, err)
		} else if !a.flushed && turn.State != protocol.TurnAnswered {
			t.Errorf("%s: %s was answered before acknowledgement %d, and is %s", name, a.turn, i, turn.State)
		}
	}
	extent, err := journal.ReadExtent(t.Context(), filepath.Join(home, "journal.db"))
	must(t, err)
	sessions, err := j.Sessions.List(t.Context())
	must(t, err)
	if extent.Sessions > 1 || len(sessions) == 1 && sessions[0].Turns > len(told)/2 {
		t.Errorf("%s: there are %+v", name, sessions)
	}
}

// TestDiskFails: at whatever call the disk is full or fails, the error says what to do, nothing that was
// acknowledged is lost, and with the disk in order the same journal goes on.
func TestDiskFails(t *testing.T) {
	directory := t.TempDir()
	d := newDisk(t, directory)
	path := filepath.Join(directory, "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	text := strings.Repeat("word ", 2000)
	var told []string
	for _, fault := range []struct {
		code   int32
		op     byte
		advice string
	}{
		{sqlite3.SQLITE_FULL, 'w', "is full: free space and send again"},
		{sqlite3.SQLITE_IOERR_WRITE, 'w', "look at the system's log"},
		{sqlite3.SQLITE_IOERR_FSYNC, 's', "look at the system's log"},
	} {
		failed := 0
		for nth := 1; nth <= 20; nth++ {
			seen := 0
			d.setFailure(func(_ int, op byte) int32 {
				if op == fault.op {
					if seen++; seen >= nth {
						return fault.code
					}
				}
				return 0
			})
			id := fmt.Sprintf("%d-%c-%d", fault.code, fault.op, nth)
			_, _, err := j.Turns.Accept(t.Context(), message(id, text), "turn-"+id)
			d.setFailure(nil)
			if err != nil {
				failed++
				if protocol.ErrorCode(err) != protocol.CodeStorage || !strings.Contains(err.Error(), fault.advice) {
					t.Fatalf("call %d with %d: %v", nth, fault.code, err)
				}
				if _, fresh, err := j.Turns.Accept(t.Context(), message(id, text), "turn-"+id); err != nil || !fresh {
					t.Fatalf("sent again after call %d with %d: fresh %v, %v", nth, fault.code, fresh, err)
				}
			}
			told = append(told, "turn-"+id)
		}
		if failed == 0 {
			t.Errorf("no call failed with %d", fault.code)
		}
	}
	must(t, j.Close())
	again, err := journal.Open(t.Context(), path)
	must(t, err)
	defer again.Close()
	if faults, err := again.Check(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("%v %v", faults, err)
	}
	for _, id := range told {
		if _, err := again.Turns.Turn(t.Context(), id); err != nil {
			t.Errorf("%s was acknowledged: %v", id, err)
		}
	}
}
