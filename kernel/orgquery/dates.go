package orgquery

import (
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/org"
)

var stampPattern = regexp.MustCompile(`^[<\[]?(\S+?)(?: +[^\s\d+.-]+)?(?: +(\d{1,2}:\d\d)(-\d{1,2}:\d\d)?)?(?: +([.+]?\+\d+[hdwmy]))?(?: +(--?\d+[hdwmy]))?[>\]]?$`)

// Stamp returns an active timestamp, such as 2026-11-30 10:00-11:00 +1w -2d. The day is written as
// for [ParseDay]. A time, a repeater and a warning may follow it.
func Stamp(text string, today org.Day) (string, error) {
	bad := invalid("%q is no date: write 2026-11-30 or 2026-11-30 10:00, and add +1w for a repeating entry", text)
	m := stampPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", bad
	}
	day, err := ParseDay(m[1], today)
	if err != nil {
		return "", bad
	}
	parts := []string{day.String(), day.Weekday().String()[:3]}
	if m[2] != "" {
		from, ok := timeOf(m[2])
		to, also := timeOf(strings.TrimPrefix(m[3], "-"))
		if !ok || m[3] != "" && !also {
			return "", bad
		}
		if m[3] != "" {
			from += "-" + to
		}
		parts = append(parts, from)
	}
	for _, part := range m[4:] {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return "<" + strings.Join(parts, " ") + ">", nil
}

// timeOf returns a time of day with two digits for the hour.
func timeOf(text string) (string, bool) {
	if len(text) == len("9:30") {
		text = "0" + text
	}
	return text, len(text) == len("09:30") && text[:2] < "24" && text[3:] < "60"
}

func (p *parts) setDates(c Change) (string, error) {
	var done []string
	for _, d := range []struct {
		name string
		want *string
		at   *string
	}{{"scheduled", c.Scheduled, &p.planning.Scheduled}, {"deadline", c.Deadline, &p.planning.Deadline}} {
		if d.want == nil {
			continue
		}
		stamp := ""
		if text := strings.TrimSpace(*d.want); text != "" && !strings.EqualFold(text, NoDay) {
			var err error
			if stamp, err = Stamp(text, org.DayOf(c.Now)); err != nil {
				return "", err
			}
		}
		if *d.at != stamp {
			*d.at, p.replan = stamp, true
			done = append(done, describeStamp(d.name, stamp))
		}
	}
	return strings.Join(done, "; "), nil
}

// setTodo sets the keyword as org-todo does. A repeating entry that is done moves its dates and
// stays open. An entry that is no longer done loses its CLOSED timestamp. setTodo does not write
// the log notes that Org makes only on request.
func (p *parts) setTodo(c Change) (string, error) {
	if c.Todo == nil {
		return "", nil
	}
	todo := strings.TrimSpace(*c.Todo)
	if strings.EqualFold(todo, NoTodo) {
		todo = ""
	}
	if todo != "" && !slices.Contains(p.file.Keywords, todo) {
		return "", invalid("%q is no keyword of %s: it has %s", todo, p.file.Path, strings.Join(p.file.Keywords, " "))
	}
	done := p.file.Done[todo]
	if done && !p.file.Done[p.heading.Todo] {
		again, err := p.repeatDates(c)
		if err != nil || again != "" {
			return again, err
		}
	}
	if !done && p.planning.Closed != "" {
		p.planning.Closed, p.replan = "", true
	}
	p.heading.Todo, p.headingChanged = todo, true
	if todo == "" {
		return "it loses its keyword", nil
	}
	return "it becomes " + todo, nil
}

// repeatDates moves the dates of a repeating entry and describes that. It returns "" if nothing
// repeats.
func (p *parts) repeatDates(c Change) (string, error) {
	moved := ""
	for _, at := range []*string{&p.planning.Scheduled, &p.planning.Deadline} {
		t, ok := Planned(*at)
		if !ok || !t.Repeats() {
			continue
		}
		again, ok := t.Repeated(c.Now)
		if !ok {
			return "", invalid("%s cannot come again: a repeater in hours needs a time of day", t.Text)
		}
		*at, p.replan, moved = again.Text, true, again.Day.String()
		if again.Time != "" {
			moved += " " + again.Time
		}
	}
	if moved == "" {
		return "", nil
	}
	if err := p.setProperty("LAST_REPEAT", c.Now.Format("[2006-01-02 Mon 15:04]")); err != nil {
		return "", err
	}
	if to := p.file.Reopened(&p.heading); to != "" {
		p.heading.Todo, p.headingChanged = to, true
	}
	return "it is done for this time and comes again on " + moved, nil
}
