//go:build !race

// These have many steps, each of which the other tests have too. With the race detector they take ten times as long.

package tasks_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/protocol"
)

// Years go by: each planned time has its run, and one only.
func TestYears(t *testing.T) {
	bubble(t, "Europe/Berlin", "2027-01-01 00:00", "* TODO Month\nSCHEDULED: <2027-01-31 Sun 09:00 +1m>\n* TODO Leap\nSCHEDULED: <2028-02-29 Tue 10:00 +1y>\n* Quarter\n:PROPERTIES:\n:CRON: 0 9 1 */3 *\n:END:\n", func(h *home) {
		k := h.start(0)
		defer k.end()
		time.Sleep(3 * 365 * 24 * time.Hour)
		synctest.Wait()
		events := h.events()
		if months, leaps, quarters := strings.Count(events, "Month at"), strings.Count(events, "Leap at"), strings.Count(events, "Quarter at"); months != 35 || leaps != 2 || quarters != 12 {
			t.Errorf("%d months, %d leaps, %d quarters:\n%s", months, leaps, quarters, events)
		}
	})
}

// Of ten thousand tasks those that are due begin, so many at once, and the others cost a look at the clock a minute.
func TestTenThousand(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		at := "2028-03-01 Wed 09:00"
		if i%600 == 0 {
			at = "2027-03-01 Mon 09:00"
		}
		fmt.Fprintf(&b, "* TODO Task %d\nSCHEDULED: <%s>\n", i, at)
	}
	bubble(t, "UTC", "2027-03-01 08:00", b.String(), func(h *home) {
		var mu sync.Mutex
		running, most := 0, 0
		h.work = func(protocol.Event, time.Time) (time.Duration, protocol.TurnState) {
			mu.Lock()
			defer mu.Unlock()
			running++
			most = max(most, running)
			time.AfterFunc(10*time.Second, func() {
				mu.Lock()
				defer mu.Unlock()
				running--
			})
			return 10 * time.Second, protocol.TurnAnswered
		}
		k := h.start(0)
		defer k.end()
		looked := h.looked
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if looks := h.looked - looked; looks > 4*31 {
			t.Errorf("the clock was asked %d times in half an hour without a task", looks)
		}
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		if began := strings.Count(h.events(), "Task"); began != 17 || most > 16 {
			t.Errorf("%d began, %d at once", began, most)
		}
		if done := strings.Count(h.text(), "* DONE"); done != 17 {
			t.Errorf("%d are done", done)
		}
	})
}
