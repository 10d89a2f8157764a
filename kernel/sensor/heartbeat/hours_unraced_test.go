//go:build !race

// These weeks have thousands of beats, each of which the other tests have too. With the race detector they take ten times as long.

package heartbeat_test

import (
	"testing"
	"time"
)

// The weeks in which the clocks change, in three zones: nothing outside the active hours, and nothing on quiet days.
func TestActiveHours(t *testing.T) {
	for _, c := range []struct{ zone, from, until string }{
		{"Europe/Berlin", "2027-03-24 00:00", "2027-03-31 00:00"},
		{"America/New_York", "2027-11-03 00:00", "2027-11-10 00:00"},
		{"Australia/Lord_Howe", "2027-04-01 00:00", "2027-04-08 00:00"},
	} {
		for _, hours := range []struct{ from, to, wantDays int }{{9, 17, 6}, {22, 27, 6}, {0, 24, 6}} {
			bubble(t, c.zone, c.from, func(h *home) {
				h.list = "- [ ] look\n"
				h.settings.From, h.settings.To = time.Duration(hours.from)*time.Hour, time.Duration(hours.to)*time.Hour
				h.settings.Quiet[time.Saturday] = true
				k := h.start(0)
				defer k.end()
				h.until(c.until)
				seen := map[string]bool{}
				days := map[string]bool{}
				for _, e := range h.events {
					at := e.Stamp.In(h.settings.Zone)
					hour, day := at.Hour(), at
					if hour < hours.from && hours.to > 24 {
						hour, day = hour+24, at.AddDate(0, 0, -1)
					}
					if hour < hours.from || hour >= hours.to || day.Weekday() == time.Saturday {
						t.Errorf("it beat at %v, with the hours %v", at, hours)
					}
					if at.Minute()%30 != 0 || seen[at.String()] {
						t.Errorf("it beat at %v", at)
					}
					seen[at.String()] = true
					days[day.Format(time.DateOnly)] = true
				}
				beats := 6 * 2 * (hours.to - hours.from)
				if len(days) < hours.wantDays || len(h.events) < beats-8 || len(h.events) > beats+8 {
					t.Errorf("%s: %d beats on %d days, not about %d", c.zone, len(h.events), len(days), beats)
				}
			})
		}
	}
}
