package org_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/org"
)

// What becomes of a repeating timestamp is what Org makes of it, in zones with and without changes of the clock, with
// leap days, ends of months, ranges, warnings and habits.
func TestRepeatedMatchesOrg(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	for i, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			where, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(uint64(i), 7))
			pick := func(of ...string) string { return of[random.IntN(len(of))] }
			var lines []string
			var want []string
			for len(lines) < 80 {
				day := time.Date(2024, 1, 1+random.IntN(1500), 0, 0, 0, 0, time.UTC)
				if random.IntN(3) == 0 {
					day = time.Date(2024+random.IntN(4), time.Month(1+random.IntN(12)), 31, 0, 0, 0, 0, time.UTC)
				}
				text := "<" + day.Format("2006-01-02") + pick(" "+day.Format("Mon"), " "+day.Format("Mon"), "")
				unit, timed := pick("d", "w", "m", "y", "h"), random.IntN(2) == 0
				if timed || unit == "h" {
					text += fmt.Sprintf(" %02d:%02d", 4+random.IntN(18), random.IntN(60))
					if unit != "h" {
						text += pick("", "", "-23:10")
					}
				}
				repeater := pick("+", "++", ".+")
				text += " " + repeater + pick("1", "2", "3", "10") + unit
				if repeater == ".+" && unit == "d" {
					text += pick("", "/4d")
				}
				text += pick("", "", " -2d", " --3d") + ">"
				stamp, ok := org.ParseTimestamp(text)
				if !ok {
					t.Fatalf("%s is no timestamp", text)
				}
				done := time.Date(day.Year(), day.Month(), day.Day()-3+random.IntN(60), random.IntN(24), random.IntN(60), random.IntN(60), 0, where)
				again, ok := stamp.Repeated(done)
				if !ok {
					t.Fatalf("%s does not repeat", text)
				}
				if unit == "h" && crosses(day, done, where) {
					continue // hours over a change of the clock: see TestRepeatedKeepsTheClock
				}
				lines, want = append(lines, fmt.Sprint(done.Unix(), " ", text)), append(want, again.Text)
			}
			got := repeatInEmacs(t, zone, lines)
			if len(got) != len(want) {
				t.Fatalf("%d results for %d timestamps", len(got), len(want))
			}
			refused := 0
			for i := range want {
				if got[i] == "refused" {
					refused++
				} else if got[i] != want[i] {
					seconds, _, _ := strings.Cut(lines[i], " ")
					var unix int64
					fmt.Sscan(seconds, &unix)
					t.Errorf("%s, done on %s, becomes %s; Org makes %s of it", lines[i], time.Unix(unix, 0).In(where).Format("2006-01-02 15:04:05"), want[i], got[i])
				}
			}
			if refused > len(want)/10 {
				t.Errorf("Org refused %d of %d timestamps", refused, len(want))
			}
		})
	}
}

// crosses reports whether the clock changes between a day and a moment, or in the days after them.
func crosses(day, done time.Time, where *time.Location) bool {
	_, before := day.In(where).Zone()
	for at := day; at.Before(done.AddDate(0, 0, 3)); at = at.AddDate(0, 0, 1) {
		if _, offset := at.In(where).Zone(); offset != before {
			return true
		}
	}
	return false
}

// repeatInEmacs returns what Org makes of the timestamps.
func repeatInEmacs(t *testing.T, zone string, lines []string) []string {
	t.Helper()
	directory := t.TempDir()
	in, out := filepath.Join(directory, "in"), filepath.Join(directory, "out")
	if err := os.WriteFile(in, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	emacs := exec.CommandContext(ctx, "emacs", "-Q", "--batch", "-l", filepath.Join("testdata", "repeat.el"))
	emacs.Env = append(os.Environ(), "TZ="+zone, "LC_ALL=C", "REPEAT_IN="+in, "REPEAT_OUT="+out)
	if message, err := emacs.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// A time that a change of the clock leaves out is kept as it is written.
func TestRepeatedKeepsTheClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	stamp, _ := org.ParseTimestamp("<2027-03-27 Sat 02:30 +1d>")
	for _, want := range []string{"<2027-03-28 Sun 02:30 +1d>", "<2027-03-29 Mon 02:30 +1d>"} {
		again, ok := stamp.Repeated(time.Date(2027, 3, 29, 3, 0, 0, 0, berlin))
		if !ok || again.Text != want {
			t.Errorf("it becomes %s, not %s", again.Text, want)
		}
		stamp = again
	}
	for _, text := range []string{"<2027-03-27 Sat>", "<2027-03-27 Sat +1h>", "<9998-03-27 Fri +9y>", "<2027-03-27 Sat +0d>"} {
		stamp, ok := org.ParseTimestamp(text)
		if again, repeats := stamp.Repeated(time.Now()); !ok || repeats {
			t.Errorf("%s becomes %s", text, again.Text)
		}
	}
}
