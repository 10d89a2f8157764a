package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
)

func queue(t *testing.T, j *journal.Journal, id, text string) {
	t.Helper()
	must(t, j.Queue.Put(t.Context(), journal.QueuedEvent{ID: id, Sensor: "rain", Text: text, Time: nine}))
}

// queued returns the events that wait, with how often they came and how many were dropped before.
func queued(t *testing.T, j *journal.Journal) (all []string, last int64) {
	t.Helper()
	waiting, err := j.Queue.Waiting(t.Context())
	must(t, err)
	for _, e := range waiting {
		all, last = append(all, fmt.Sprintf("%s:%s*%d-%d", e.ID, e.Text, e.Times, e.Dropped)), e.Seq
	}
	return all, last
}

// Events wait in their order across restarts, once for each id. What comes again in a row is one of them.
func TestQueue(t *testing.T) {
	j := fresh(t)
	queue(t, j, "a", "wet")
	queue(t, j, "b", "wet")
	queue(t, j, "c", "dry")
	queue(t, j, "d", "wet")
	j = reopen(t, closed(t, j))
	queue(t, j, "a", "wet")
	queue(t, j, "d", "wet")
	all, last := queued(t, j)
	if got := strings.Join(all, " "); got != "b:wet*2-0 c:dry*1-0 d:wet*1-0" {
		t.Errorf("%s wait", got)
	}
	queue(t, j, "e", "wet") // while a heartbeat has those before it
	must(t, j.Queue.Take(t.Context(), last, nine))
	queue(t, j, "c", "dry")
	if all, _ := queued(t, j); strings.Join(all, " ") != "e:wet*2-0" {
		t.Errorf("%s wait", all)
	}
}

// Twenty events wait. The others are counted, the oldest first.
func TestQueueIsBounded(t *testing.T) {
	j := fresh(t)
	queue(t, j, "a", "wet")
	queue(t, j, "b", "wet")
	for i := range 25 {
		queue(t, j, fmt.Sprint("n", i), fmt.Sprint(i))
	}
	j = reopen(t, closed(t, j))
	all, last := queued(t, j)
	if len(all) != 20 || all[0] != "n5:5*1-0" {
		t.Errorf("%s wait", all)
	}
	dropped := 0
	waiting, err := j.Queue.Waiting(t.Context())
	must(t, err)
	for _, e := range waiting {
		dropped += e.Dropped
	}
	if dropped != 7 {
		t.Errorf("%d are dropped", dropped)
	}
	must(t, j.Queue.Take(t.Context(), last, time.Time{}))
	if all, _ := queued(t, j); len(all) != 0 {
		t.Errorf("%s wait", all)
	}
}
