package agenda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/agenda"
	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
)

// emacs evaluates a form in a batch Emacs that writes to the file OUT, and returns what it wrote.
func emacs(t *testing.T, zone, form string) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	directory := t.TempDir()
	out := filepath.Join(directory, "out")
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, "emacs", "-Q", "--batch", "-l", "testdata/agenda.el", "--eval", strings.ReplaceAll(form, "OUT", fmt.Sprintf("%q", out)))
	command.Env = append(os.Environ(), "HOME="+directory, "TZ="+zone, "LC_ALL=C.UTF-8")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v\n%s", err, output)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// absolute is the day 1 January 1970 in the count of Emacs's calendar, in which 1 is 1 January of
// the year 1.
const absolute = 719163

// line returns an item in the form in which both sides are compared.
func line(day int, kind string, time int, extra string, title string, at int) string {
	return fmt.Sprintf("%s %-17s %5d %-14s %s:%d", org.Day(day-absolute), kind, time, extra, title, at)
}

func ofEmacs(t *testing.T, zone, file string, from, today org.Day, days int) []string {
	t.Helper()
	var lines []string
	decoder := json.NewDecoder(bytes.NewReader(emacs(t, zone, fmt.Sprintf("(agenda-print OUT '(%q) %d %d %d)", file, from+absolute, days, today+absolute))))
	for decoder.More() {
		var i struct {
			Day, Line, Time    int
			Kind, Extra, Title string
		}
		if err := decoder.Decode(&i); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line(i.Day, i.Kind, i.Time, strings.Join(strings.Fields(i.Extra), " "), i.Title, i.Line))
	}
	slices.Sort(lines)
	return lines
}

func ofFiles(t *testing.T, file string, from, today org.Day, days int) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	parsed := orgquery.Read(orgquery.Source{Path: file, Text: string(text)})
	for _, i := range agenda.Items([]*orgquery.File{parsed}, agenda.Span{From: from, To: from + org.Day(days) - 1, Today: today}) {
		at := -1
		if i.Time != "" {
			fmt.Sscanf(strings.ReplaceAll(i.Time, ":", ""), "%d", &at)
		}
		lines = append(lines, line(int(i.Day)+absolute, string(i.Kind), at, leader(i), i.Entry.Title, i.Entry.Line))
	}
	slices.Sort(lines)
	return lines
}

// leader returns what Org writes before an item.
func leader(i agenda.Item) string {
	switch {
	case i.Kind == agenda.UpcomingDeadline:
		return fmt.Sprintf("In %d d.:", i.Days)
	case i.Kind == agenda.Deadline && i.Days < 0:
		return fmt.Sprintf("%d d. ago:", -i.Days)
	case i.Kind == agenda.Deadline:
		return "Deadline:"
	case i.Kind == agenda.PastScheduled && i.Days > 0:
		return fmt.Sprintf("Sched.%2dx:", i.Days)
	case i.Kind == agenda.Scheduled, i.Kind == agenda.PastScheduled:
		return "Scheduled:"
	case i.Kind == agenda.Block && i.Of > 1:
		return fmt.Sprintf("(%d/%d):", i.Days, i.Of)
	}
	return ""
}

// corpus returns entries of every kind around a day: each of the dates with each ending.
func corpus(today org.Day) string {
	var b strings.Builder
	b.WriteString("#+TODO: TODO NEXT | DONE GONE\nBefore <2026-03-29 Sun>\n")
	random := rand.New(rand.NewPCG(7, 7))
	endings := []string{"", "", " 09:30", " 9:05-10:00", " +1d", " +3d", " ++1w", " .+2w", " 08:00 +1m", " +2m", " +1y", " -3d", " -1w", " --2d", " +1w -2d", " +5h", " 10:00 +7h", " +0d"}
	stamp := func() string {
		day := today + org.Day(random.IntN(81)-40)
		if random.IntN(6) == 0 {
			day = today.Plus(-random.IntN(40))
		}
		return fmt.Sprintf("<%s %s%s>", day, day.Weekday().String()[:3], endings[random.IntN(len(endings))])
	}
	for n := range 112 {
		fmt.Fprintf(&b, "%s %sEntry %d%s\n", strings.Repeat("*", 1+n%3), []string{"", "TODO ", "NEXT ", "DONE ", "TODO [#A] "}[random.IntN(5)], n,
			[]string{"", "", "", " :work:", " :ARCHIVE:"}[random.IntN(5)])
		switch n % 7 {
		case 0:
			fmt.Fprintf(&b, "SCHEDULED: %s\n", stamp())
		case 1:
			fmt.Fprintf(&b, "DEADLINE: %s\n", stamp())
		case 2:
			fmt.Fprintf(&b, "DEADLINE: %s SCHEDULED: %s\nText %s in it.\n", stamp(), stamp(), stamp())
		case 3:
			fmt.Fprintf(&b, ":PROPERTIES:\n:WHEN: %s\n:END:\n- an item %s and %s\n# no %s\n: nor %s\n", stamp(), stamp(), stamp(), stamp(), stamp())
		case 4:
			from := today + org.Day(random.IntN(21)-10)
			to := from + org.Day(random.IntN(6))
			fmt.Fprintf(&b, "<%s Mon%s>--<%s Tue%s>\n#+begin_src sh\n%s\n#+end_src\n#+begin_quote\n%s\n#+end_quote\n",
				from, []string{"", " 10:00"}[random.IntN(2)], to, []string{"", " 12:00"}[random.IntN(2)], stamp(), stamp())
		case 5:
			fmt.Fprintf(&b, "CLOSED: [2026-03-01 Sun]\n| a | %s |\n\n[%s]\n", stamp(), today)
		case 6:
			fmt.Fprintf(&b, "#+CAPTION: %s\nno date <2026-13-45 Fri> nor <2026-03-2>\n", stamp())
		}
	}
	b.WriteString("* COMMENT Off\n** TODO Below\nSCHEDULED: " + stamp() + "\n")
	return b.String()
}

// TestAgendaMatchesOrg checks that the items of files are those of Org's own agenda, also where
// the clock changes.
func TestAgendaMatchesOrg(t *testing.T) {
	for _, c := range []struct {
		today string
		zone  string
		from  int // days from today
		days  int
	}{
		{"2026-03-28", "Europe/Berlin", -3, 14}, // summer time begins on the 29th
		{"2026-10-25", "Europe/Berlin", 0, 7},   // and ends
		{"2024-02-28", "America/New_York", -1, 20},
	} {
		t.Run(c.today, func(t *testing.T) {
			t.Parallel()
			today, _ := org.ParseDay(c.today)
			file := filepath.Join(t.TempDir(), "corpus.org")
			if err := os.WriteFile(file, []byte(corpus(today)), 0o600); err != nil {
				t.Fatal(err)
			}
			from := today + org.Day(c.from)
			want, got := ofEmacs(t, c.zone, file, from, today, c.days), ofFiles(t, file, from, today, c.days)
			if len(want) < 100 {
				t.Fatalf("Emacs shows %d items only", len(want))
			}
			for _, l := range want {
				if !slices.Contains(got, l) {
					t.Errorf("only Emacs: %s", l)
				}
			}
			for _, l := range got {
				if !slices.Contains(want, l) {
					t.Errorf("only here:  %s", l)
				}
			}
			if len(want) != len(got) {
				t.Errorf("%d items, and Emacs has %d", len(got), len(want))
			}
		})
	}
}
