package tasks_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/protocol"
)

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, zone, at, text string, test func(h *home)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t, zone, at, text)
		defer h.close()
		test(h)
	})
}

// A repeating task begins at its times, once each, and its heading moves; one that does not repeat becomes done.
func TestDue(t *testing.T) {
	bubble(t, "Europe/Berlin", "2027-03-01 08:00", "* TODO Report\nSCHEDULED: <2027-03-01 Mon 09:00 ++1d>\n* TODO Letter\nDEADLINE: <2027-03-02 Tue 10:00>\nto Ada\n", func(h *home) {
		k := h.start(0)
		defer k.end()
		k.expect("2027-03-01 08:59", "")
		k.expect("2027-03-01 09:01", "Report at Mon 03-01 09:00 +0100")
		if text := h.text(); !strings.Contains(text, "<2027-03-02 Tue 09:00 ++1d>") || strings.Count(text, "Done, planned for 2027-03-01 09:00 +0100; conversation: Report 2027-03-01 0900 ") != 1 {
			t.Errorf("the file is\n%s", text)
		}
		k.expect("2027-03-03 12:00", "Report at Mon 03-01 09:00 +0100, Report at Tue 03-02 09:00 +0100, Letter at Tue 03-02 10:00 +0100, Report at Wed 03-03 09:00 +0100")
		if text := h.text(); !strings.Contains(text, "* DONE Letter") || strings.Count(text, "- State") != 4 {
			t.Errorf("the file is\n%s", text)
		}
		if len(h.delivered) != 4 {
			t.Errorf("told %v", h.delivered)
		}
	})
}

// The weeks in which clocks change, in three zones.
func TestClocksThatChange(t *testing.T) {
	for _, c := range []struct{ zone, from, until, rule, want string }{
		{"Europe/Berlin", "2027-03-26 12:00", "2027-03-29 12:00", "30 2 * * *", "T at Sat 03-27 02:30 +0100, T at Sun 03-28 03:30 +0200, T at Mon 03-29 02:30 +0200"},
		{"America/New_York", "2027-11-06 12:00", "2027-11-08 12:00", "30 1 * * *", "T at Sun 11-07 01:30 -0400, T at Mon 11-08 01:30 -0500"},
		{"Australia/Lord_Howe", "2027-04-03 12:00", "2027-04-05 12:00", "45 1 * * *", "T at Sun 04-04 01:45 +1100, T at Mon 04-05 01:45 +1030"},
	} {
		bubble(t, c.zone, c.from, "* T\n:PROPERTIES:\n:CRON: "+c.rule+"\n:END:\n", func(h *home) {
			k := h.start(0)
			defer k.end()
			k.expect(c.until, c.want)
		})
	}
}

// A laptop that slept for a week makes up for what the person wants, and a kernel that did not run too.
func TestAsleep(t *testing.T) {
	for _, restarts := range []bool{true, false} {
		for policy, want := range map[string]string{
			"once": "T at Mon 03-08 10:00 +0100, T at Tue 03-09 09:00 +0100",
			"skip": "T at Tue 03-09 09:00 +0100",
			"all":  strings.Repeat("T at Mon 03-08 10:00 +0100, ", 7) + "T at Tue 03-09 09:00 +0100",
		} {
			bubble(t, "Europe/Berlin", "2027-03-01 12:00", "* TODO T\nSCHEDULED: <2027-03-02 Tue 09:00 +1d>\n:PROPERTIES:\n:MISFIRE: "+policy+"\n:END:\n", func(h *home) {
				k := h.start(0)
				if restarts {
					k.end()
				}
				h.set("2027-03-08 09:59")
				if restarts {
					k = h.start(0)
				} else {
					time.Sleep(time.Minute)
				}
				defer k.end()
				want := want
				if restarts {
					want = strings.ReplaceAll(want, "10:00", "09:59")
				}
				k.expect("2027-03-09 09:30", want)
				if text := h.text(); !strings.Contains(text, "<2027-03-10 Wed 09:00 +1d>") {
					t.Errorf("%s: the file is\n%s", policy, text)
				}
			})
		}
	}
}

// A clock that is set back has nothing done twice, and one that was in the future holds nothing up.
func TestClockIsSet(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:30", "* T\n:PROPERTIES:\n:CRON: 0 * * * *\n:END:\n", func(h *home) {
		k := h.start(0)
		defer k.end()
		k.expect("2027-03-01 09:10", "T at Mon 03-01 09:00 +0000")
		h.set("2027-03-01 08:50")
		k.expect("2027-03-01 10:10", "T at Mon 03-01 09:00 +0000, T at Mon 03-01 10:00 +0000")
		h.set("2031-03-01 08:50")
		k.expect("2031-03-01 08:55", "T at Mon 03-01 09:00 +0000, T at Mon 03-01 10:00 +0000, T at Sat 03-01 08:50 +0000")
		h.set("2027-03-01 10:20") // 11:00 was done, by the clock of then
		k.expect("2027-03-01 12:10", "T at Mon 03-01 09:00 +0000, T at Mon 03-01 10:00 +0000, T at Sat 03-01 08:50 +0000, T at Mon 03-01 12:00 +0000")
	})
}

// What comes while the task is at work waits, is left out, or begins beside it.
func TestOverlap(t *testing.T) {
	for policy, want := range map[string]string{
		"wait": "T at Mon 03-01 09:00 +0000, T at Mon 03-01 09:25 +0000, T at Mon 03-01 09:50 +0000",
		"skip": "T at Mon 03-01 09:00 +0000, T at Mon 03-01 09:30 +0000",
		"both": "T at Mon 03-01 09:00 +0000, T at Mon 03-01 09:10 +0000, T at Mon 03-01 09:20 +0000, T at Mon 03-01 09:30 +0000, T at Mon 03-01 09:40 +0000, T at Mon 03-01 09:50 +0000",
	} {
		bubble(t, "UTC", "2027-03-01 08:55", "* T\n:PROPERTIES:\n:CRON: */10 * * * *\n:OVERLAP: "+policy+"\n:END:\n", func(h *home) {
			h.work = func(protocol.Event, time.Time) (time.Duration, protocol.TurnState) {
				return 25 * time.Minute, protocol.TurnAnswered
			}
			k := h.start(0)
			defer k.end()
			k.expect("2027-03-01 09:55", want)
		})
	}
}

// Failures are tried again, later each time, and are no runs. What fails in the end is in the log of the task, which moves
// all the same.
func TestRetries(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:55", "* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\n:PROPERTIES:\n:MAX_RUNS: 2\n:END:\n", func(h *home) {
		failures := 2
		h.work = func(protocol.Event, time.Time) (time.Duration, protocol.TurnState) {
			if failures--; failures >= 0 {
				return time.Second, protocol.TurnFailed
			}
			return time.Second, protocol.TurnAnswered
		}
		k := h.start(0)
		defer k.end()
		k.expect("2027-03-01 10:00", "T at Mon 03-01 09:00 +0000, T again at Mon 03-01 09:01 +0000, T again at Mon 03-01 09:03 +0000")
		if text := h.text(); !strings.Contains(text, ":RUNS:     1\n") || strings.Contains(text, "Failed") {
			t.Errorf("the file is\n%s", text)
		}
		failures = 3
		k.expect("2027-03-02 10:00", h.events()+", T at Tue 03-02 09:00 +0000, T again at Tue 03-02 09:01 +0000, T again at Tue 03-02 09:03 +0000")
		if text := h.text(); !strings.Contains(text, ":RUNS:     1\n") || !strings.Contains(text, "Failed, planned for 2027-03-02 09:00 +0000: no model") || !strings.Contains(text, "<2027-03-03 Wed 09:00 +1d>") {
			t.Errorf("the file is\n%s", text)
		}
		k.expect("2027-03-09 10:00", h.events()+", T at Wed 03-03 09:00 +0000")
		if text := h.text(); !strings.Contains(text, "* DONE T\n") || !strings.Contains(text, ":RUNS:     2\n") {
			t.Errorf("the file is\n%s", text)
		}
	})
}

// A file that is edited during a run keeps what the person wrote, and the outcome is written where the heading is now.
func TestEditedDuringRun(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:55", "* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\n", func(h *home) {
		h.work = func(protocol.Event, time.Time) (time.Duration, protocol.TurnState) {
			return 10 * time.Minute, protocol.TurnAnswered
		}
		k := h.start(0)
		defer k.end()
		k.expect("2027-03-01 09:05", "T at Mon 03-01 09:00 +0000")
		h.write("* Mine\n* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\nmore\n* Also mine\n")
		k.sensor.Reload()
		k.expect("2027-03-01 09:20", "T at Mon 03-01 09:00 +0000")
		if text := h.text(); !strings.HasPrefix(text, "* Mine\n* TODO T\nSCHEDULED: <2027-03-02 Tue 09:00 +1d>\n") || !strings.HasSuffix(text, ":END:\nmore\n* Also mine\n") {
			t.Errorf("the file is\n%s", text)
		}
		h.write(strings.Replace(h.text(), "TODO T", "TODO Another", 1))
		k.sensor.Reload()
		k.expect("2027-03-02 09:30", "T at Mon 03-01 09:00 +0000, Another at Tue 03-02 09:00 +0000")
	})
}

// A heading that is renamed while its task is at work is the same task: it is not begun again, and gets the outcome.
func TestRenamedDuringRun(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:55", "* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\n* Other\nSCHEDULED: <2027-03-05 Fri 09:00>\n", func(h *home) {
		h.work = func(protocol.Event, time.Time) (time.Duration, protocol.TurnState) {
			return 10 * time.Minute, protocol.TurnAnswered
		}
		k := h.start(0)
		defer k.end()
		k.expect("2027-03-01 09:05", "T at Mon 03-01 09:00 +0000")
		h.write(strings.Replace(h.text(), "TODO T", "TODO Renamed", 1))
		k.sensor.Reload()
		k.expect("2027-03-01 09:20", "T at Mon 03-01 09:00 +0000")
		if text := h.text(); !strings.HasPrefix(text, "* TODO Renamed\nSCHEDULED: <2027-03-02 Tue 09:00 +1d>\n") {
			t.Errorf("the file is\n%s", text)
		}
		k.expect("2027-03-02 09:20", "T at Mon 03-01 09:00 +0000, Renamed at Tue 03-02 09:00 +0000")
	})
}

// A kernel that is killed between any two steps of a fire leaves it to the next one: the task is begun once, told, and
// written once into its log.
func TestKilledBetweenSteps(t *testing.T) {
	killed := true
	for dies := 1; killed; dies++ {
		bubble(t, "UTC", "2027-03-01 08:55", "* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\n", func(h *home) {
			k := h.start(dies)
			time.Sleep(6 * time.Minute)
			k.life.Lock()
			killed = k.dead
			k.life.Unlock()
			k.end()
			h.set("2027-03-01 09:30")
			k = h.start(0)
			defer k.end()
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			text := h.text()
			if events := h.events(); strings.Count(events, "T at") != 1 || strings.Count(text, "- State") != 1 || !strings.Contains(text, "<2027-03-02 Tue 09:00 +1d>") || len(h.delivered) != 1 {
				t.Errorf("killed before step %d, began\n%s\ntold %v, and the file is\n%s", dies, events, h.delivered, text)
			}
			if open, err := h.j.Leases.OpenLeases(h.t.Context()); err != nil || len(open) > 0 {
				t.Errorf("killed before step %d, open are %+v, %v", dies, open, err)
			}
		})
		if dies > 50 {
			t.Fatal("there is no end of steps")
		}
	}
}

// What is not saved in Emacs stays there: the outcome goes into the buffer, and the file stays as it is.
func TestUnsavedInEmacs(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:55", "* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00>\n", func(h *home) {
		h.buffer = "* Unsaved\n* TODO T\nSCHEDULED: <2027-03-01 Mon 09:00>\n"
		k := h.start(0)
		defer k.end()
		k.expect("2027-03-01 09:05", "T at Mon 03-01 09:00 +0000")
		if !strings.HasPrefix(h.buffer, "* Unsaved\n* DONE T\n") || strings.Contains(h.text(), "DONE") {
			t.Errorf("the buffer is\n%s\nand the file is\n%s", h.buffer, h.text())
		}
	})
}

// What is wrong with the file is told with its line, and told to be mended.
func TestFaultsAreTold(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:55", "* T\n:PROPERTIES:\n:CRON: never\n:END:\n", func(h *home) {
		k := h.start(0)
		defer k.end()
		if len(h.reported) != 1 || !strings.Contains(h.reported[0], "tasks.org:3:1: error: :CRON: \"never\" is no rule") {
			t.Errorf("told is %q", h.reported)
		}
	})
}
