package orgquery

import (
	"slices"
	"strings"
	"time"

	"org-agent/kernel/org"
)

// New describes a new entry.
type New struct {
	Title, Todo, Priority string
	Tags                  []string
	Properties            []Setting
	Rule                  *string // as in [Change]
	ID                    string  // its :ID:
	Scheduled, Deadline   string
	Timestamp             string // a date of its own, below its drawer
	Body                  string
	Now                   time.Time // as in [Change]
}

// Below returns the text of the file with a new entry. The entry is the last one below e or, if e
// is nil, the last one of the file.
func (f *File) Below(e *Entry, n New) (after string, err error) {
	level, at := 1, len(f.Text)
	if e != nil {
		level, at = e.Level+1, e.End
	}
	return f.insert(at, level, n)
}

// Behind returns the text of the file with a new entry after e, at the same level.
func (f *File) Behind(e Entry, n New) (after string, err error) { return f.insert(e.End, e.Level, n) }

func (f *File) insert(at, level int, n New) (string, error) {
	text, want, err := f.compose(level, n)
	if err != nil {
		return "", err
	}
	if at > 0 && f.Text[at-1] != '\n' {
		text = "\n" + text
	}
	after := f.Text[:at] + text + f.Text[at:]
	d := org.ParseWith(after, f.Sequences)
	i := slices.IndexFunc(d.Headings, func(h *org.Heading) bool { return h.Start >= at })
	if len(d.Headings) != len(f.document.Headings)+1 || i < 0 || d.Headings[i].Title != want.Title || d.Headings[i].Todo != want.Todo || !slices.Equal(d.Headings[i].Tags, want.Tags) {
		return "", invalid("Org would read the line %q otherwise than it is meant", org.Headline(want))
	}
	return after, nil
}

// compose returns the text of a new entry.
func (f *File) compose(level int, n New) (string, org.Heading, error) {
	change := Change{Title: &n.Title, Todo: &n.Todo, Priority: &n.Priority, Tags: n.Tags, Properties: n.Properties, Rule: n.Rule, Body: &n.Body, Now: n.Now}
	if n.Scheduled != "" {
		change.Scheduled = &n.Scheduled
	}
	if n.Deadline != "" {
		change.Deadline = &n.Deadline
	}
	p := parts{file: f, heading: org.Heading{Level: level}}
	for _, step := range []func(Change) (string, error){p.setTitle, p.setDates, p.setTodo, p.setPriority, p.setTags, p.setProperties, p.setBody} {
		if _, err := step(change); err != nil {
			return "", p.heading, err
		}
	}
	if n.ID != "" {
		p.drawer = append([]string{org.PropertyLine("ID", n.ID) + "\n"}, p.drawer...)
	}
	var b strings.Builder
	b.WriteString(org.Headline(p.heading) + "\n")
	if plan := p.plan(); plan != "" {
		b.WriteString(plan + "\n")
	}
	if len(p.drawer) > 0 {
		b.WriteString(":PROPERTIES:\n" + strings.Join(p.drawer, "") + ":END:\n")
	}
	if n.Timestamp != "" {
		stamp, err := Stamp(n.Timestamp, org.DayOf(n.Now))
		if err != nil {
			return "", p.heading, err
		}
		b.WriteString(stamp + "\n")
	}
	b.WriteString(p.body)
	return b.String(), p.heading, nil
}

// Move returns the text of the file in which e, with everything below it, is the last entry below
// under.
func (f *File) Move(e, under Entry) (after string, err error) {
	if under.Start >= e.Start && under.Start < e.End {
		return "", invalid("an entry cannot stand below itself")
	}
	moved := f.Text[e.Start:e.End]
	if !strings.HasSuffix(moved, "\n") {
		moved += "\n"
	}
	moved = shiftLevels(moved, under.Level+1-e.Level)
	at := under.End
	rest := func(from, to int) string { // the text between, without the entry
		if from < e.Start && e.Start < to {
			return f.Text[from:e.Start] + f.Text[e.End:to]
		}
		if from == e.Start {
			from = e.End
		}
		return f.Text[from:max(from, to)]
	}
	before := rest(0, at)
	if at > e.Start && at < e.End { // it is already the last one below
		at = e.End
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	behind := f.Text[at:]
	if e.Start >= at {
		behind = f.Text[at:e.Start] + f.Text[e.End:]
	}
	after = before + moved + behind
	if len(org.ParseWith(after, f.Sequences).Headings) != len(f.document.Headings) {
		return "", invalid("that would make other headings of the file")
	}
	return after, nil
}

// shiftLevels returns a text with its headings moved by that many levels.
func shiftLevels(text string, deeper int) string {
	if deeper == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, h := range org.Parse(text).Headings {
		b.WriteString(text[from:h.Start])
		from = h.Start + h.Level
		b.WriteString(strings.Repeat("*", h.Level+deeper))
	}
	b.WriteString(text[from:])
	return b.String()
}

// Narrow returns the parts in which two texts differ, as whole lines. It adds surrounding lines
// until the old part occurs once in before and the new part once in after.
func Narrow(before, after string) (old, new string) {
	from := 0
	for from < len(before) && from < len(after) && before[from] == after[from] {
		from++
	}
	from = strings.LastIndexByte(before[:from], '\n') + 1
	end := 0 // counted from the end
	for end < len(before)-from && end < len(after)-from && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	if newline := strings.IndexByte(before[len(before)-end:], '\n'); newline >= 0 && (end < len(before)-from || end < len(after)-from) {
		if start := len(before) - end; start > 0 && before[start-1] != '\n' || len(after)-end > 0 && after[len(after)-end-1] != '\n' {
			end -= newline + 1
		}
	} else if newline < 0 {
		end = 0
	}
	for more := 1; ; more *= 2 {
		old, new = before[from:len(before)-end], after[from:len(after)-end]
		if old != "" && new != "" && occursOnce(before, old) && occursOnce(after, new) || from == 0 && end == 0 {
			return old, new
		}
		for range more {
			if from > 0 {
				from = strings.LastIndexByte(before[:from-1], '\n') + 1
			}
			if newline := strings.IndexByte(before[len(before)-end:], '\n'); newline >= 0 {
				end -= newline + 1
			} else {
				end = 0
			}
		}
	}
}

// occursOnce reports whether a part occurs in a text exactly once. Overlapping occurrences count.
func occursOnce(text, part string) bool {
	at := strings.Index(text, part)
	return at >= 0 && !strings.Contains(text[at+1:], part)
}
