package task_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
	"org-agent/kernel/task"
)

func read(text string) *task.File {
	return task.Read(task.Source{Path: "/home/tasks.org", Text: text, Zone: time.UTC})
}

// faults returns what is wrong with a text, a line each.
func faults(f *task.File) string {
	var lines []string
	for _, d := range f.Faults {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// A file as people write it: what is a task and what is none, what is to be done, and how.
func TestRead(t *testing.T) {
	f := read(`#+TODO: TODO NEXT | DONE DROPPED
* TODO Report of the day :work:
SCHEDULED: <2027-03-01 Mon 09:00 ++1d>
:PROPERTIES:
:ID:       report
:SKILL:    morning
:SESSION:  Daily
:MAX_RUNS: 10
:RUNS:     3
:MISFIRE:  skip
:OVERLAP:  both
:RETRY:    4 30s
:SILENT:   t
:TZ:       Europe/Berlin
:END:
:LOGBOOK:
- State "DONE"       from "TODO"       [2027-02-28 Sun 09:00]
:END:
Look at my agenda.
- and be short
** What I like
Bullet points.
** TODO Another task
DEADLINE: <2027-03-02 Tue -1d>
Its own text.
*** Detail
*** COMMENT Never said
** DONE Yesterday's
SCHEDULED: <2027-02-28 Sun>
* Hourly
:PROPERTIES:
:CRON:     0 * * * *
:ENABLED:  nil
:END:
* DROPPED Old
SCHEDULED: <2027-03-01 Mon>
* COMMENT Not now
SCHEDULED: <2027-03-01 Mon>
* Archived :ARCHIVE:
** Below
SCHEDULED: <2027-03-01 Mon>
* Private :noagent:
SCHEDULED: <2027-03-01 Mon>
* Inactive
SCHEDULED: [2027-03-01 Mon]
* Appointment <2027-03-01 Mon>
* No task
`)
	if text := faults(f); text != "" {
		t.Errorf("faults:\n%s", text)
	}
	var titles []string
	for _, one := range f.Tasks {
		titles = append(titles, fmt.Sprintf("%d %s", one.Line, one.Title))
	}
	if got := strings.Join(titles, ", "); got != "2 Report of the day, 23 Another task, 30 Hourly" {
		t.Fatalf("the tasks are %s", got)
	}
	report := f.Tasks[0]
	if want := "Report of the day\nLook at my agenda.\n- and be short\n** What I like\nBullet points."; report.Text() != want {
		t.Errorf("to be done is\n%s", report.Text())
	}
	due, ok := report.Due()
	if s := report.Settings; report.ID != "id:report" || s.Skill != "morning" || s.Session != "Daily" || s.MaxRuns != 10 || s.Runs != 3 || s.Misfire != task.MisfireSkip ||
		s.Overlap != task.OverlapBoth || s.Retries != 4 || s.Backoff != 30*time.Second || !s.Silent || !s.Enabled || !ok || due.Format(time.RFC3339) != "2027-03-01T09:00:00+01:00" {
		t.Errorf("the report is %+v, due %v", report, due)
	}
	if another := f.Tasks[1]; another.Text() != "Another task\nIts own text.\n*** Detail" {
		t.Errorf("another is\n%s", another.Text())
	}
	if due, _ := f.Tasks[1].Due(); due.Format(time.RFC3339) != "2027-03-01T08:00:00Z" {
		t.Errorf("another is due %v", due)
	}
	hourly := f.Tasks[2]
	if hourly.Settings.Enabled || hourly.When != "0 * * * *" {
		t.Errorf("hourly is %+v", hourly)
	}
	if next, ok := hourly.Rule(time.Time{}).Next(time.Date(2027, 1, 1, 0, 30, 0, 0, time.UTC)); !ok || next.Hour() != 1 {
		t.Errorf("hourly comes %v", next)
	}
}

// What cannot be done as it is written is told with its line and with what to do.
func TestFaults(t *testing.T) {
	const planned = "* Task\nSCHEDULED: <2027-03-01 Mon 09:00>\n"
	drawer := func(line string) string { return planned + ":PROPERTIES:\n" + line + "\n:END:\n" }
	for text, want := range map[string]string{
		"* Task\n:PROPERTIES:\n:CRON: 61 * * * *\n:END:\n":  `3:1: error: :CRON: "61 * * * *" is no rule`,
		"* Task\n:PROPERTIES:\n:CRON: 0 0 30 2 *\n:END:\n":  "there is no such day",
		drawer(":CRON: @daily"):                             "1:1: error: the task has a timestamp and :CRON: too: keep one of them",
		drawer(":MISFIRE: twice"):                           `4:1: error: :MISFIRE: "twice" is not one of once, skip and all`,
		drawer(":OVERLAP: no"):                              `"no" is not one of wait, skip and both`,
		drawer(":RETRY: many"):                              `"many" is no number from 0 to 20, and a pause may follow, as in 3 5m`,
		drawer(":RETRY: 3 soon"):                            `"soon" is no pause`,
		drawer(":MAX_RUNS: 0"):                              "is no number from 1 to",
		drawer(":ENABLED: perhaps"):                         `"perhaps" is neither t nor nil`,
		drawer(":TZ: Europe/Berlim"):                        `"Europe/Berlim" is no time zone`,
		drawer(":SESSION: ../x"):                            `"../x" names no conversation`,
		drawer(":MISFIER: once"):                            "4:1: warning: :MISFIER: means nothing to a task; did you mean :MISFIRE:?",
		"* \nSCHEDULED: <2027-03-01 Mon 09:00>\n":           "1:1: error: the task has no title",
		"* Task\nSCHEDULED: <2027-03-01 Mon +1h>\n":         "2:1: error: <2027-03-01 Mon +1h> repeats within the day and has no time: write one, as in <2027-03-01 09:00 +1h>",
		planned + planned:                                   "3:1: error: the task on line 1 has the same title and place: rename one, or give each an :ID: (M-x org-id-get-create)",
		planned + strings.Repeat("x", 5<<20):                "1:1: error: the text of the task has more than the 4 MB",
		strings.Repeat("x", 33<<20):                         "1:1: error: the file has 33 MB, more than the 32 that are read",
		drawer(":ORDERED: t\n:CATEGORY: x\n:STYLE: habit"):  "",
		drawer(":SESSION: new\n:ENABLED: t\n:Effort: 1:00"): "",
	} {
		got := faults(read(text))
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.80q: %s, not %s", text, got, want)
		}
	}
}

// The hash stays when a repeater moves and when the log grows, and changes with all that decides what is done.
func TestHash(t *testing.T) {
	const text = "* TODO Task\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\n:PROPERTIES:\n:SKILL: a\n:MAX_RUNS: 9\n:END:\nDo it\n"
	at := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	before := read(text)
	after, err := before.Fired(before.Tasks[0].ID, task.Outcome{Result: task.Done, Planned: at, Ended: at})
	if err != nil {
		t.Fatal(err)
	}
	if moved := read(after); len(moved.Tasks) != 1 || moved.Tasks[0].Hash != before.Tasks[0].Hash || moved.Tasks[0].Settings.Runs != 1 {
		t.Errorf("%+v\n%s", moved.Tasks, after)
	}
	for _, change := range [][2]string{{"Do it", "Do that"}, {"TODO Task", "TODO Other"}, {"+1d", "+1w"}, {"09:00", "10:00"}, {":SKILL: a", ":SKILL: b"}, {":MAX_RUNS: 9", ":SESSION: x"}, {"SCHEDULED", "DEADLINE"}} {
		other := read(strings.Replace(text, change[0], change[1], 1))
		if len(other.Tasks) != 1 || other.Tasks[0].Hash == before.Tasks[0].Hash {
			t.Errorf("%q for %q is not seen", change[1], change[0])
		}
	}
}

// Pauses double up to an hour, and are never shorter than what was asked for.
func TestPause(t *testing.T) {
	for _, c := range []struct {
		backoff time.Duration
		failed  int
		want    time.Duration
	}{{time.Minute, 1, time.Minute}, {time.Minute, 3, 4 * time.Minute}, {time.Minute, 20, time.Hour}, {5 * time.Hour, 4, 5 * time.Hour}, {45 * time.Minute, 2, time.Hour}} {
		if got := (task.Settings{Backoff: c.backoff}).Pause(c.failed); got != c.want {
			t.Errorf("%v after %d: %v", c.backoff, c.failed, got)
		}
	}
}

// many is a file with that many tasks of all kinds.
func many(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "* TODO Task %d\n", i)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "SCHEDULED: <2027-%02d-%02d Mon 09:%02d ++1d>\n", 1+i%12, 1+i%28, i%60)
		case 1:
			fmt.Fprintf(&b, "DEADLINE: <2020-%02d-%02d Mon 09:%02d +1h -2d>\n", 1+i%12, 1+i%28, i%60)
		case 2:
			fmt.Fprintf(&b, ":PROPERTIES:\n:CRON:     %d %d * * 1-5\n:ID:       task-%d\n:END:\n", i%60, i%24, i)
		case 3:
			fmt.Fprintf(&b, ":PROPERTIES:\n:CRON:     TZ=Europe/Berlin %d 9 29 2 *\n:END:\n:LOGBOOK:\n- Note\n:END:\n", i%60)
		}
		b.WriteString("Say what there is to say, in a few words.\n")
	}
	return b.String()
}

// BenchmarkTenThousand reads that many tasks and finds when each is due: the target is 500 ms.
func BenchmarkTenThousand(b *testing.B) {
	text := many(10_000)
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	for b.Loop() {
		f := read(text)
		if len(f.Tasks) != 10_000 {
			b.Fatal(len(f.Tasks), faults(f))
		}
		for _, one := range f.Tasks {
			if _, ok := one.Rule(now).Next(now); !ok {
				b.Fatal(one.When)
			}
		}
	}
}

// BenchmarkFired writes an outcome into a text of that many tasks, which was not read yet: the target is 50 ms.
func BenchmarkFired(b *testing.B) {
	source := task.Source{Path: "/home/tasks.org", Text: many(10_000), Zone: time.UTC}
	at := time.Date(2028, 3, 1, 9, 0, 0, 0, time.UTC)
	for b.Loop() {
		if after, err := task.Fired(source, "id:task-7002", task.Outcome{Result: task.Done, Planned: at, Covered: at, Ended: at}); err != nil || len(after) <= len(source.Text) {
			b.Fatal(err)
		}
	}
}

// Whatever a file has, reading it and writing an outcome ends, changes no other entry, and leaves a task that is due later
// or done.
func FuzzTask(f *testing.F) {
	f.Add(many(4), uint8(0))
	f.Add("* TODO a\r\nSCHEDULED: <0001-01-01 Mon 00:00 +1h>\r\n", uint8(1))
	f.Add("* a\nSCHEDULED: <2027-03-01 Mon>--<2027-03-02 Tue>\n:PROPERTIES:\n:MAX_RUNS: 1\n:END:\n:LOGBOOK:\n:END:", uint8(2))
	f.Add("* \xff\nDEADLINE: <2027-03-01 Mon 09:00 .+1m --2d>", uint8(0))
	f.Add("* \xff\nDEADLINE: <2027-03-01 Mon (9:00 .+1m -70y>", uint8(0))
	results := []task.Result{task.Done, task.Failed, task.Skipped}
	f.Fuzz(func(t *testing.T, text string, result uint8) {
		file := read(text)
		now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
		for _, one := range file.Tasks[:min(len(file.Tasks), 3)] {
			planned, ok := one.Due()
			if !ok {
				if planned, ok = one.Rule(now).Next(now); !ok {
					continue
				}
			}
			checkFired(t, file, one, task.Outcome{Result: results[int(result)%3], Planned: planned, Covered: now, Ended: now})
		}
	})
}

// failing is a test that can fail.
type failing interface {
	Helper()
	Fatalf(format string, arguments ...any)
}

// checkFired checks what an outcome changes.
func checkFired(t failing, f *task.File, one task.Task, o task.Outcome) {
	t.Helper()
	after, err := f.Fired(one.ID, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Text)
	}
	old, new := org.Parse(f.Text), org.Parse(after)
	if len(old.Headings) != len(new.Headings) {
		t.Fatalf("%d headings became %d:\n%q\n%q", len(old.Headings), len(new.Headings), f.Text, after)
	}
	for i, h := range old.Headings {
		next := func(d *org.Document) int {
			if i+1 < len(d.Headings) {
				return d.Headings[i+1].Start
			}
			return len(d.Source)
		}
		was, is := f.Text[h.Start:next(old)], after[new.Headings[i].Start:next(new)]
		if h.Line != one.Line && was != is {
			t.Fatalf("the heading on line %d became\n%q", h.Line, is)
		}
		if h.Line == one.Line {
			checkEntry(t, was, is)
		}
	}
	again, err := read(after).Fired(one.ID, o)
	if err != nil || again != after {
		t.Fatalf("once more it becomes\n%s, %v", again, err)
	}
	for _, left := range read(after).Tasks {
		stamp, _ := org.ParseTimestamp(left.When) // one warned of for longer than until it comes again is due at once
		if due, ok := left.Due(); ok && stamp.Warning == 0 && left.ID == one.ID && o.Result == task.Done && !due.After(o.Covered) && due.Year() < 9990 {
			t.Fatalf("it is due again at %v:\n%s", due, after)
		}
	}
}

// checkEntry checks that what an entry has gained are whole lines and parts of its head.
func checkEntry(t failing, was, is string) {
	t.Helper()
	lines := strings.SplitAfter(is, "\n")
	for line := range strings.Lines(was) {
		i := 0
		for i < len(lines) && lines[i] != line && strings.TrimSuffix(lines[i], "\n") != line {
			i++
		}
		upper := strings.ToUpper(line)
		isHead := strings.HasPrefix(line, "*") || strings.Contains(line, "SCHEDULED:") || strings.Contains(line, "DEADLINE:") || strings.Contains(upper, ":RUNS:") || strings.Contains(upper, ":LAST_REPEAT:")
		if i == len(lines) {
			if !isHead {
				t.Fatalf("the line %q is lost:\n%q\n%q", line, was, is)
			}
			continue
		}
		lines = lines[i+1:]
	}
}

// Of a random file one entry changes, as said.
func TestFiredTouchesNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for i := range rapid.IntRange(1, 6).Draw(t, "entries") {
			b.WriteString(entry(t, i))
		}
		text := b.String()
		if rapid.Bool().Draw(t, "cut") {
			text = strings.TrimSuffix(text, "\n")
		}
		f := read(text)
		if len(f.Tasks) == 0 {
			return
		}
		one := rapid.SampledFrom(f.Tasks).Draw(t, "task")
		planned, ok := one.Due()
		if !ok {
			planned = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
		}
		o := task.Outcome{
			Result: rapid.SampledFrom([]task.Result{task.Done, task.Failed, task.Skipped}).Draw(t, "result"), Planned: planned,
			Covered: planned.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "hours")) * time.Hour),
			Session: "Task 1", Note: rapid.SampledFrom([]string{"", "no\n* model :END:", "<2027-03-01 Mon> [[x]]"}).Draw(t, "note"),
		}
		o.Ended = o.Covered.Add(time.Minute)
		checkFired(t, f, one, o)
	})
}

// entry draws an entry of a file.
func entry(t *rapid.T, i int) string {
	pick := func(of ...string) string { return rapid.SampledFrom(of).Draw(t, "part") }
	text := pick("* ", "* TODO ", "** TODO [#A] ", "*  TODO  ") + fmt.Sprint("Task ", i) + pick("", "  :tag:", " [1/2]") + "\n"
	indentation := pick("", "  ")
	stamp := "<2027-03-01 Mon" + pick("", " 09:00", " 09:00-10:00") + pick("", "", " +1d", " ++1w", " .+2m", " +1y -3d", " +2d --1d") + ">"
	text += pick(indentation+"SCHEDULED: "+stamp+"\n", indentation+"DEADLINE: "+stamp+"  \n", indentation+"CLOSED: [2027-01-01 Fri] SCHEDULED:  "+stamp+" DEADLINE: <2027-03-05 Fri 10:00 +1d>\n", "")
	text += pick("", indentation+":PROPERTIES:\n"+indentation+pick(":CRON:  @daily", ":MAX_RUNS: 3", ":MAX_RUNS: 1\n"+indentation+":runs: 0", ":LAST_REPEAT: [2027-02-01 Mon 09:00]")+"\n"+indentation+":END:\n")
	text += pick("", indentation+":LOGBOOK:\n"+indentation+"CLOCK: [2027-02-01 Mon 09:00]\n"+indentation+":END:\n", ":LOGBOOK:\n:END:\n", ":OTHER:\n:END:\n\n:LOGBOOK:\n- x\n:END:\n", ":LOGBOOK:\n")
	return text + pick("", "text\n", "\n\n- [ ] item\n#+begin_src x\n:LOGBOOK:\n:END:\n#+end_src\n")
}

// A task that the person moved on while it was done, or that was done before its time, stays as it is; its log says what
// was done, and its runs count.
func TestFiredEarly(t *testing.T) {
	for _, stamp := range []string{"<2027-03-08 Mon 09:00 +1d>", "<2027-03-08 Mon 09:00>"} {
		f := read("* TODO T\nSCHEDULED: " + stamp + "\n:PROPERTIES:\n:MAX_RUNS: 5\n:END:\n")
		at := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
		after, err := f.Fired(f.Tasks[0].ID, task.Outcome{Result: task.Done, Planned: at, Ended: at})
		want := "* TODO T\nSCHEDULED: " + stamp + "\n:PROPERTIES:\n:MAX_RUNS: 5\n:RUNS:     1\n:END:\n:LOGBOOK:\n- Note taken on [2027-03-01 Mon 09:00] \\\\\n  Done, planned for 2027-03-01 09:00 +0000\n:END:\n"
		if err != nil || after != want {
			t.Errorf("%v\n%s\nnot\n%s", err, after, want)
		}
	}
}
