// Package task reads the person's tasks from Org text, and writes into it what became of them.
//
// A task is a heading that is not done, with an active SCHEDULED or DEADLINE timestamp, or with a rule of cron in its
// property CRON. Its title and the text below it say what is to be done. Commented and archived headings, and those that
// no model may see, are no tasks.
//
// All functions are pure: nothing here reads a file or asks for the time. A [File] is never changed, and is safe for many
// goroutines.
package task

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/schedule"
)

// DayHour is when a task is due whose timestamp has no time of day, since midnight.
const DayHour = 8 * time.Hour

// The limits of a file. What is beyond them is a fault.
const (
	sizeLimit  = 32 << 20 // bytes of the text
	taskLimit  = 20_000   // tasks
	faultLimit = 100
)

// Source is the text of a file with tasks.
type Source struct {
	Path string
	Text string
	// Sequences are the TODO keywords of a text that declares none, as for [orgquery.Source].
	Sequences []string
	// Zone is where times without a zone of their own are read.
	Zone *time.Location
	// Tag is a tag that headings have that are tasks, for a file that has other plans too. "": all are.
	Tag string
}

// File is a text with its tasks.
type File struct {
	Source
	Tasks  []Task           // in the order of the text
	Faults []org.Diagnostic // of the headings that would be tasks, and of settings
	notes  *orgquery.File
	zones  map[string]*time.Location // while the text is read
}

// Task is something that is to be done at its times.
type Task struct {
	// ID tells the task from all others: by its property ID, or by its file and the titles above it. It is not changed
	// by what is written when a task was done.
	ID    string
	Title string
	Body  string // what to do, besides the title
	Line  int
	// When is the timestamp or the rule as it is written.
	When string
	// Hash is that of all that decides what is done, and how often, and of the file. It stays when the date is moved.
	Hash     string
	Settings Settings

	stamp *schedule.Stamp // nil for a rule of cron
	cron  schedule.Cron
}

// Text returns what is to be done as a message.
func (t Task) Text() string { return strings.TrimSpace(t.Title + "\n" + t.Body) }

// Due returns the planned time of the timestamp. ok is false for a rule of cron, which says no single time.
func (t Task) Due() (planned time.Time, ok bool) {
	if t.stamp == nil {
		return time.Time{}, false
	}
	return t.stamp.Due(), true
}

// Rule returns the planned times of the task. Those of @every count from the moment since which the task has its rule.
func (t Task) Rule(since time.Time) schedule.Rule {
	if t.stamp != nil {
		return *t.stamp
	}
	return t.cron.From(since)
}

// Read reads the tasks of a text.
func Read(source Source) *File {
	f := headings(source)
	f.zones = map[string]*time.Location{}
	defer func() { f.zones = nil }()
	planned := make([]bool, len(f.notes.Entries))
	for i, e := range f.notes.Entries {
		planned[i] = isPlanned(e)
	}
	first := map[string]int{} // the line of each task
	for i, e := range f.notes.Entries {
		if e.Done || !f.wants(e, planned[i]) {
			continue
		}
		if len(f.Tasks) == taskLimit {
			f.fault(e.Line, org.Error, "this and the following tasks are left out: a file can have %d", taskLimit)
			break
		}
		t, ok := f.task(e)
		if !ok {
			continue
		}
		if line, taken := first[t.ID]; taken {
			f.fault(e.Line, org.Error, "the task on line %d has the same title and place: rename one, or give each an :ID: (M-x org-id-get-create)", line)
			continue
		}
		first[t.ID] = e.Line
		if t.Body, ok = f.body(i, planned); !ok {
			f.fault(e.Line, org.Error, "the text of the task has more than the %d MB that a message can have: shorten it, or name a file in it", protocol.TextLimit>>20)
			continue
		}
		t.Hash = t.hash(f.Path)
		f.Tasks = append(f.Tasks, t)
	}
	return f
}

// headings reads the headings of a text, and no tasks.
func headings(source Source) *File {
	f := &File{Source: source}
	if source.Zone == nil {
		f.Zone = time.UTC
	}
	text := source.Text
	if len(text) > sizeLimit {
		f.fault(1, org.Error, "the file has %d MB, more than the %d that are read: keep tasks in a file of their own", len(text)>>20, sizeLimit>>20)
		text = ""
	}
	f.notes = orgquery.Read(orgquery.Source{Path: source.Path, Text: text, Sequences: source.Sequences})
	return f
}

func (f *File) fault(line int, severity org.Severity, format string, arguments ...any) {
	if len(f.Faults) < faultLimit {
		f.Faults = append(f.Faults, org.Diagnostic{Line: line, Column: 1, Severity: severity, Message: fmt.Sprintf(format, arguments...)})
	}
}

// wants reports whether an entry that is not done is a task.
func (f *File) wants(e orgquery.Entry, planned bool) bool {
	if f.Tag == "" {
		return planned
	}
	tagged := slices.Contains(e.Tags, f.Tag)
	if tagged && !planned {
		f.fault(e.Line, org.Warning, "the heading has the tag %s and no time: C-c C-s gives it one, or the property CRON", f.Tag)
	}
	return tagged && planned
}

// Done reports whether the heading of a task is done.
func (f *File) Done(id string) bool {
	e, err := f.entry(id)
	return err == nil && e.Done
}

// isPlanned reports whether an entry has a time.
func isPlanned(e orgquery.Entry) bool {
	if rule, ok := e.Property("CRON"); ok && rule != "" {
		return true
	}
	_, scheduled := stampOf(e.Planning.Scheduled)
	_, due := stampOf(e.Planning.Deadline)
	return scheduled || due
}

// stampOf returns the active timestamp of a planning line, the first of a range.
func stampOf(text string) (org.Timestamp, bool) {
	if text == "" {
		return org.Timestamp{}, false
	}
	stamp, ok := org.ParseTimestamp(text)
	return stamp, ok && stamp.Active
}

// identity returns what tells an entry from all others.
func identity(path string, e orgquery.Entry) string {
	if id := e.OwnID(); id != "" {
		return "id:" + id
	}
	return path + "::" + strings.Join(append(slices.Clip(e.Above), e.Title), "\x1f")
}

// task reads the task of an entry, without what to do. ok is false if there is a fault.
func (f *File) task(e orgquery.Entry) (t Task, ok bool) {
	t = Task{ID: identity(f.Path, e), Title: e.Title, Line: e.Line}
	if t.Settings, ok = f.settings(e); !ok {
		return t, false
	}
	if strings.TrimSpace(t.Title) == "" {
		f.fault(e.Line, org.Error, "the task has no title: write what is to be done")
		return t, false
	}
	return t, f.rule(&t, e)
}

// rule reads when a task is due.
func (f *File) rule(t *Task, e orgquery.Entry) bool {
	scheduled, isScheduled := stampOf(e.Planning.Scheduled)
	deadline, isDue := stampOf(e.Planning.Deadline)
	rule, _ := e.Property("CRON")
	switch {
	case rule != "" && (isScheduled || isDue):
		f.fault(e.Line, org.Error, "the task has a timestamp and :CRON: too: keep one of them")
		return false
	case rule != "":
		cron, err := schedule.ParseCron(rule, t.Settings.Zone, time.Unix(0, 0))
		if err != nil {
			f.fault(lineOf(e, "CRON"), org.Error, ":CRON: %v", err)
			return false
		}
		t.cron, t.When = cron, rule
		return true
	}
	stamp := scheduled
	if !isScheduled {
		stamp = deadline
	}
	if stamp.Repeats() && !stamp.Moves() {
		f.fault(e.Planning.Line, org.Error, "%s repeats within the day and has no time: write one, as in <%s 09:00 %s>", stamp.Text, stamp.Day, stamp.Repeater)
		return false
	}
	t.stamp, t.When = &schedule.Stamp{Timestamp: stamp, Deadline: !isScheduled, Zone: t.Settings.Zone, Hour: DayHour}, stamp.Text
	return true
}

// lineOf returns the line of a property.
func lineOf(e orgquery.Entry, name string) int {
	for _, p := range e.Properties {
		if strings.EqualFold(p.Key, name) {
			return p.Line
		}
	}
	return e.Line
}

// body returns the text of a task: its own, and that of the headings below it that are no tasks of their own. ok is
// false if it is too long.
func (f *File) body(at int, planned []bool) (body string, ok bool) {
	entries := f.notes.Entries
	task := entries[at]
	var b strings.Builder
	b.WriteString(strings.Trim(withoutLogbook(task.Text), "\n"))
	skipped := 0 // the level of a task below; 0 for none
	for i := at + 1; i < len(entries) && entries[i].Level > task.Level; i++ {
		e := entries[i]
		if skipped > 0 && e.Level > skipped {
			continue
		}
		if skipped = 0; planned[i] {
			skipped = e.Level
			continue
		}
		b.WriteString("\n" + f.Text[e.Start:e.LineEnd] + strings.Trim(withoutLogbook(e.Text), "\n"))
		if b.Len() > protocol.TextLimit {
			return "", false
		}
	}
	body = strings.TrimSpace(b.String())
	return body, len(body)+len(task.Title) < protocol.TextLimit
}

// withoutLogbook returns the text of an entry without its LOGBOOK drawer.
func withoutLogbook(text string) string {
	if start, _, end, ok := logbookOf(text); ok {
		return text[:start] + text[end:]
	}
	return text
}

// hash returns that of what is done, where and how often. The date is left out, which a repeater moves.
func (t Task) hash(path string) string {
	when := t.When
	if t.stamp != nil {
		when = fmt.Sprint(t.stamp.Deadline, t.stamp.Timestamp.Time, t.stamp.Timestamp.Repeater)
	}
	sum := sha256.New()
	for _, part := range []string{path, t.ID, t.Title, t.Body, when, fmt.Sprintf("%+v", t.Settings.compared())} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
