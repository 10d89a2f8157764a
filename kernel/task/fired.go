package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/schedule"
	plain "org-agent/kernel/text"
)

// Result is what became of a task at a planned time.
type Result string

// The results.
const (
	Done    Result = "done"
	Failed  Result = "failed"  // also after it was tried again
	Skipped Result = "skipped" // by its policy for times that have passed, or at which it is at work
)

// Outcome is what is written of a task when it was done.
type Outcome struct {
	Result Result
	// Planned is the planned time, and Covered the last planned time that it stands for; zero for Planned.
	Planned, Covered time.Time
	Ended            time.Time
	Session          string // the conversation in which it was done
	Note             string // why it failed
}

// logNoteLimit is how many characters of a reason are written.
const logNoteLimit = 300

// stampForm is Org's form of an inactive timestamp.
const stampForm = "[2006-01-02 Mon 15:04]"

// Fired returns a text after a task was done, as [File.Fired] does. It reads no other task of the text.
func Fired(source Source, id string, o Outcome) (after string, err error) {
	return headings(source).Fired(id, o)
}

// Fired returns the text of the file after a task was done. The heading advances as org-todo has it: a repeater moves, and
// a heading that does not repeat becomes done. The drawer LOGBOOK gets an entry. Nothing else in the text changes.
//
// A task that failed does not become done. Its repeater moves all the same, since the time has passed. One that has been
// done MAX_RUNS times becomes done. If the text has the outcome already, it is returned as it is.
//
// The error has the code [protocol.CodeNotFound] if there is no such heading, or more than one.
func (f *File) Fired(id string, o Outcome) (after string, err error) {
	e, err := f.entry(id)
	if err != nil {
		return "", err
	}
	if o.Covered.Before(o.Planned) {
		o.Covered = o.Planned
	}
	w := writing{file: f, entry: e, outcome: o}
	if w.settings, _ = (&File{Source: f.Source, notes: f.notes}).settings(e); w.settings.Zone == nil {
		w.settings.Zone = f.Zone
	}
	note := w.note()
	if strings.Contains(e.Text, note) {
		return f.Text, nil
	}
	w.advance()
	w.log(note)
	return w.text(), nil
}

// entry returns the heading of a task, whatever has become of it.
func (f *File) entry(id string) (orgquery.Entry, error) {
	var found []orgquery.Entry
	for _, e := range f.notes.Entries {
		if identity(f.Path, e) == id {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return orgquery.Entry{}, protocol.Errorf(protocol.CodeNotFound, "%d headings of %s are the task; one is wanted", len(found), f.Path)
	}
	return found[0], nil
}

// splice puts a text into the place of another.
type splice struct {
	start, end int
	text       string
}

// writing is one outcome on its way into a text.
type writing struct {
	file     *File
	entry    orgquery.Entry
	outcome  Outcome
	settings Settings
	splices  []splice
	state    string // the keyword that was logged, "" if the task was not done
}

// zone returns a moment as the clock of the task shows it.
func (w *writing) zone(t time.Time) time.Time { return t.In(w.settings.Zone) }

// advance changes the keyword, the timestamps and the properties. Where the person was first, because the heading is done
// or due later, only the runs are counted.
func (w *writing) advance() {
	done, e := w.outcome.Result == Done, w.entry
	properties := map[string]string{}
	last := false
	if w.settings.MaxRuns > 0 && done {
		properties["RUNS"] = fmt.Sprint(w.settings.Runs + 1)
		last = w.settings.Runs+1 >= w.settings.MaxRuns
	}
	rule, _ := e.Property("CRON")
	word := w.file.notes.DoneWord(e.Heading)
	switch {
	case e.Done, w.early() && !last:
		word = ""
	case last:
		w.setKeyword(word)
	case w.move() && done:
		properties["LAST_REPEAT"] = w.zone(w.outcome.Ended).Format(stampForm)
		w.setKeyword(w.file.notes.Reopened(e.Heading))
	case done && rule == "" && !w.repeats():
		w.setKeyword(word)
	}
	if done {
		w.state = word
	}
	w.setProperties(properties)
}

// stamps returns the active timestamps of the planning line. The first says when the task is due.
func (w *writing) stamps() (all []planned) {
	for _, p := range []planned{{name: "SCHEDULED:", text: w.entry.Planning.Scheduled}, {name: "DEADLINE:", text: w.entry.Planning.Deadline, deadline: true}} {
		var ok bool
		if p.stamp, ok = stampOf(p.text); ok {
			all = append(all, p)
		}
	}
	return all
}

// planned is a timestamp of a planning line.
type planned struct {
	name, text string
	deadline   bool
	stamp      org.Timestamp
}

// early reports whether the task is due after the times for which the outcome stands.
func (w *writing) early() bool {
	stamps := w.stamps()
	return len(stamps) > 0 && w.due(stamps[0].stamp, stamps[0].deadline).After(w.outcome.Covered)
}

// repeats reports whether the task comes again, also if its timestamp could not be moved.
func (w *writing) repeats() bool {
	return slices.ContainsFunc(w.stamps(), func(p planned) bool { return p.stamp.Moves() })
}

// setKeyword sets the keyword of the heading.
func (w *writing) setKeyword(word string) {
	e, text := w.entry, w.file.Text
	if word == "" || word == e.Todo {
		return
	}
	start := e.Start + e.Level
	for start < e.LineEnd && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	end, suffix := start, " "
	if e.Todo != "" {
		end, suffix = start+len(e.Todo), ""
	}
	w.splices = append(w.splices, splice{start, end, word + suffix})
}

// move moves the repeaters of the planning line, and reports whether one did.
func (w *writing) move() (moved bool) {
	e := w.entry
	line, _, _ := strings.Cut(w.file.Text[e.LineEnd:e.Next], "\n")
	var once splice
	for _, p := range w.stamps() {
		at := strings.Index(line, p.name)
		start := e.LineEnd + at + strings.Index(line[at:], p.stamp.Text)
		next, ok := w.next(p.stamp, p.deadline)
		if !ok {
			if !p.deadline && !p.stamp.Repeats() {
				once = w.removal(e.LineEnd+at, start+len(p.text), e.LineEnd+len(line))
			}
			continue
		}
		w.splices = append(w.splices, splice{start, start + len(p.stamp.Text), next.Text})
		moved = true
	}
	if moved && once.end > 0 { // as Org has it, what was scheduled once goes when the deadline comes again
		w.splices = append(w.splices, once)
	}
	return moved
}

// removal takes a part out of a line, with the blanks around it that are not needed any more.
func (w *writing) removal(start, end, lineEnd int) splice {
	text := w.file.Text
	for end < lineEnd && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	for end == lineEnd && start > 0 && text[start-1] == ' ' {
		start--
	}
	return splice{start, end, ""}
}

// next returns the timestamp that Org makes of one when its task is done. If the outcome stands for several times, +
// moves over all of them. ok is false if it does not repeat.
func (w *writing) next(stamp org.Timestamp, deadline bool) (next org.Timestamp, ok bool) {
	several := w.outcome.Covered.After(w.outcome.Planned) && w.outcome.Covered.After(w.due(stamp, deadline))
	if !several || !strings.HasPrefix(stamp.Repeater, "+") || strings.HasPrefix(stamp.Repeater, "++") {
		return stamp.Repeated(w.zone(w.outcome.Ended))
	}
	days := stamp.Warning
	switch {
	case stamp.First:
		days = 0
	case !deadline:
		days = -days
	}
	stamp.Repeater = "+" + stamp.Repeater // it moves until it is behind a moment
	return stamp.Repeated(w.zone(w.outcome.Covered).AddDate(0, 0, days))
}

// note returns the second line of the entry of the log. It is that of no other time.
func (w *writing) note() string {
	o := w.outcome
	planned := w.zone(o.Planned).Format("2006-01-02 15:04:05 -0700")
	planned = strings.Replace(planned, ":00 ", " ", 1)
	text := "planned for " + planned
	if o.Covered.After(o.Planned) {
		text = "planned since " + planned + " and last for " + w.zone(o.Covered).Format("2006-01-02 15:04")
	}
	switch o.Result {
	case Done:
		text = "Done, " + text
	case Failed:
		text = "Failed, " + text + ": " + cmp.Or(harmless(o.Note), "the log says why")
	default:
		text = "Left out, " + text + ": " + cmp.Or(harmless(o.Note), "the time had passed")
	}
	if o.Session != "" {
		text += "; conversation: " + o.Session
	}
	return text
}

// harmless returns a reason as text that is no markup of Org's.
func harmless(reason string) string {
	return strings.NewReplacer("<", "‹", ">", "›", "[", "(", "]", ")", "\\", "/").Replace(plain.PlainLine(reason, logNoteLimit))
}

// log adds an entry at the top of the drawer LOGBOOK, as Org does, which makes the drawer behind the properties.
func (w *writing) log(note string) {
	e, text := w.entry, w.file.Text
	indentation := w.indentation()
	stamp := w.zone(w.outcome.Ended).Format(stampForm)
	head := fmt.Sprintf("- Note taken on %s \\\\", stamp)
	if w.state != "" {
		head = fmt.Sprintf("- State %-12s from %-12s %s \\\\", `"`+w.state+`"`, `"`+e.Todo+`"`, stamp)
	}
	if _, inside, _, ok := logbookOf(e.Text); ok {
		start := e.First + inside
		line := e.Text[:inside]
		line = line[strings.LastIndexByte(strings.TrimSuffix(line, "\n"), '\n')+1:]
		indentation = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		entry := indentation + head + "\n" + indentation + "  " + note + "\n"
		w.splices = append(w.splices, splice{start, start, entry})
		return
	}
	entry := indentation + head + "\n" + indentation + "  " + note + "\n"
	drawer := indentation + ":LOGBOOK:\n" + entry + indentation + ":END:\n"
	if e.First > 0 && text[e.First-1] != '\n' && !w.endsLine(e.First) {
		drawer = "\n" + drawer
	}
	w.splices = append(w.splices, splice{e.First, e.First, drawer})
}

// endsLine reports whether a splice before the offset ends a line there.
func (w *writing) endsLine(offset int) bool {
	return slices.ContainsFunc(w.splices, func(s splice) bool { return s.end == offset && strings.HasSuffix(s.text, "\n") })
}

// indentation returns that of the planning line or the drawer.
func (w *writing) indentation() string {
	head := w.file.Text[w.entry.LineEnd:w.entry.First]
	return head[:len(head)-len(strings.TrimLeft(head, " \t"))]
}

// setProperties sets properties in the drawer, which it makes if there is none.
func (w *writing) setProperties(values map[string]string) {
	e, text := w.entry, w.file.Text
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	added, indentation := "", w.indentation()
	for _, name := range names {
		line := org.PropertyLine(name, values[name])
		if start, end, ok := w.property(name); ok {
			w.splices = append(w.splices, splice{start, end, line})
			continue
		}
		added += indentation + line + "\n"
	}
	if added == "" {
		return
	}
	if e.Properties != nil { // before the line ":END:"
		end := strings.TrimRight(text[e.LineEnd:e.First], " \t\r\n")
		at := e.LineEnd + strings.LastIndexByte(end, '\n') + 1
		w.splices = append(w.splices, splice{at, at, added})
		return
	}
	drawer := indentation + ":PROPERTIES:\n" + added + indentation + ":END:\n"
	if e.First > 0 && text[e.First-1] != '\n' {
		drawer = "\n" + drawer
	}
	w.splices = append(w.splices, splice{e.First, e.First, drawer})
}

// property returns the place of a property's line, without its indentation and its end.
func (w *writing) property(name string) (start, end int, ok bool) {
	at := w.entry.LineEnd
	for line := range strings.Lines(w.file.Text[w.entry.LineEnd:w.entry.First]) {
		trimmed := strings.TrimSpace(line)
		key, _, isProperty := strings.Cut(strings.TrimPrefix(trimmed, ":"), ":")
		if isProperty && strings.HasPrefix(trimmed, ":") && strings.EqualFold(key, name) {
			start = at + strings.Index(line, trimmed)
			return start, start + len(trimmed), true
		}
		at += len(line)
	}
	return 0, 0, false
}

// text returns the text with all splices.
func (w *writing) text() string {
	slices.SortStableFunc(w.splices, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	at := 0
	for _, s := range w.splices {
		b.WriteString(w.file.Text[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(w.file.Text[at:])
	return b.String()
}

// logbookOf finds the drawer LOGBOOK in the text of an entry, before any other text that is no drawer: where it begins,
// where its first entry stands, and where it ends.
func logbookOf(text string) (start, inside, end int, ok bool) {
	at, in, found := 0, false, false
	for line := range strings.Lines(text) {
		trimmed := strings.ToUpper(strings.TrimSpace(line))
		from := at
		at += len(line)
		switch {
		case in && trimmed == ":END:":
			if in = false; found {
				return start, inside, at, true
			}
		case in:
			if strings.HasPrefix(trimmed, "#+BEGIN") {
				return 0, 0, 0, false
			}
		case trimmed == "":
		case trimmed == ":LOGBOOK:":
			start, inside, in, found = from, at, true, strings.HasSuffix(line, "\n")
		case len(trimmed) > 2 && trimmed[0] == ':' && trimmed[len(trimmed)-1] == ':' && !strings.ContainsAny(trimmed, " \t"):
			in = true
		default:
			return 0, 0, 0, false
		}
	}
	return 0, 0, 0, false
}

// due returns when a task is due by a timestamp.
func (w *writing) due(stamp org.Timestamp, deadline bool) time.Time {
	return schedule.Stamp{Timestamp: stamp, Deadline: deadline, Zone: w.settings.Zone, Hour: DayHour}.Due()
}
