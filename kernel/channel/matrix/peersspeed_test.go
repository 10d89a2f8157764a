//go:build peers

package matrix_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/channel"
)

// TestRealSpeed measures how long an answer takes to the homeserver, how long a message takes to come, and what a driver
// costs that has nothing to do.
func TestRealSpeed(t *testing.T) {
	h := newHouse(t)
	w := watch(t, h.config())
	h.meet()
	h.text("hello")
	w.messages(1)
	var coming, going []time.Duration
	for i := range 30 {
		began := time.Now()
		h.text(fmt.Sprint("question ", i))
		w.messages(1)
		coming = append(coming, time.Since(began))
		began = time.Now()
		if _, err := w.Send(t.Context(), channel.Outgoing{ID: fmt.Sprint("turn-", i), Chat: string(h.room), Text: plain("answer")}); err != nil {
			t.Fatal(err)
		}
		going = append(going, time.Since(began))
	}
	slices.Sort(coming)
	slices.Sort(going)
	t.Logf("a message is written and comes in %v, an answer is there in %v (medians of %d)", coming[15], going[15], len(going))
	if going[15] > 500*time.Millisecond || coming[15] > time.Second {
		t.Error("that is far too long for a homeserver on this machine")
	}

	used := func() time.Duration {
		var of syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &of); err != nil {
			t.Fatal(err)
		}
		return time.Duration(of.Utime.Nano() + of.Stime.Nano())
	}
	const idle = 5 * time.Second
	before := used()
	time.Sleep(idle)
	share := 100 * float64(used()-before) / float64(idle)
	t.Logf("a driver that has nothing to do uses %.2f %% of a processor", share)
	if share > 1 {
		t.Error("that is more than 1 %")
	}
}
