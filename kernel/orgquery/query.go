package orgquery

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/org"
)

// Query selects entries that match all of its fields. The zero value selects all entries.
type Query struct {
	Heading    *regexp.Regexp // in the title
	Words      []string       // each occurs in the title or the text, in any case
	Todo       []string       // any of these keywords; see [Open], [Done] and [NoTodo]
	Tags       []string       // all of these, own or inherited; -TAG: the tag is absent
	Priorities []string       // any of these; an entry without one counts as B
	Properties []Property
	Scheduled  *Days
	Deadline   *Days
	Closed     *Days
	// Timestamp matches active timestamps in the heading and the text.
	Timestamp *Days
}

// Words that stand for something other than a keyword or a date, and limits.
const (
	Open            = "open"   // any keyword that is not done
	Done            = "done"   // any done keyword
	NoTodo          = "none"   // no keyword
	AnyDay          = "any"    // in [ParseDays]: there is such a date
	NoDay           = "none"   // in [ParseDays]: there is no such date
	defaultPriority = "B"      // the priority of an entry without one
	maximumDays     = 366 * 99 // the maximum distance of a date from today
)

// Property is a condition on a property: its exact Value, or a Pattern that the value matches. With
// neither, the property must exist.
type Property struct {
	Name    string
	Value   *string
	Pattern *regexp.Regexp
	Not     bool // the opposite
}

var propertyPattern = regexp.MustCompile(`^(-?)([^\s=~:]+)(?:(=|~)(.*))?$`)

// ParseProperty reads NAME, NAME=VALUE or NAME~PATTERN. A leading - negates the condition.
func ParseProperty(text string) (Property, error) {
	m := propertyPattern.FindStringSubmatch(text)
	if m == nil {
		return Property{}, fmt.Errorf("%q is none of NAME, NAME=VALUE, NAME~PATTERN and -NAME", text)
	}
	p := Property{Name: m[2], Not: m[1] == "-"}
	switch m[3] {
	case "=":
		p.Value = &m[4]
	case "~":
		pattern, err := regexp.Compile(m[4])
		if err != nil {
			return p, fmt.Errorf("the pattern of %s: %w", m[2], err)
		}
		p.Pattern = pattern
	}
	return p, nil
}

// Days is a range of days.
type Days struct {
	From, To org.Day // both inclusive
	// NoFrom and NoTo say that the range has no first or no last day.
	NoFrom, NoTo bool
	None         bool // matches if there is no date at all
}

// ParseDays reads a day, two days with .. between them of which either may be missing, "any" or
// "none". A day is YYYY-MM-DD, today, tomorrow, yesterday, or +3d, -2w, +1m, +1y.
func ParseDays(text string, today org.Day) (Days, error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case AnyDay:
		return Days{NoFrom: true, NoTo: true}, nil
	case NoDay:
		return Days{None: true}, nil
	}
	first, last, span := strings.Cut(text, "..")
	d := Days{NoFrom: span && strings.TrimSpace(first) == "", NoTo: span && strings.TrimSpace(last) == ""}
	if !span {
		last = first
	}
	var err error
	if !d.NoFrom {
		d.From, err = ParseDay(first, today)
	}
	if err == nil && !d.NoTo {
		d.To, err = ParseDay(last, today)
	}
	if err == nil && !d.NoFrom && !d.NoTo && d.To < d.From {
		err = fmt.Errorf("%q ends before it begins", text)
	}
	return d, err
}

var relativePattern = regexp.MustCompile(`^([+-])(\d{1,5})([dwmy])$`)

// ParseDay reads one day as [ParseDays] does.
func ParseDay(text string, today org.Day) (org.Day, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch text {
	case "today":
		return today, nil
	case "tomorrow":
		return today + 1, nil
	case "yesterday":
		return today - 1, nil
	}
	if d, ok := org.ParseDay(text); ok {
		return d, nil
	}
	if m := relativePattern.FindStringSubmatch(text); m != nil {
		n := 0
		_, err := fmt.Sscan(m[1]+m[2], &n)
		at := today
		switch m[3] {
		case "d":
			at += org.Day(n)
		case "w":
			at += org.Day(7 * n)
		case "m":
			at = today.Plus(n)
		case "y":
			at = today.Plus(12 * n)
		}
		if err == nil && at-today < maximumDays && today-at < maximumDays {
			return at, nil
		}
	}
	return 0, fmt.Errorf("%q is no day: write 2026-11-30, today, tomorrow, yesterday, +3d, -2w, +1m or +1y", text)
}

func (d Days) has(day org.Day) bool {
	return !d.None && (d.NoFrom || d.From <= day) && (d.NoTo || day <= d.To)
}

// planned reports whether a planning timestamp, as the file writes it, matches.
func (d *Days) planned(text string) bool {
	if d == nil {
		return true
	}
	t, ok := org.ParseTimestamp(text)
	if !ok {
		return d.None
	}
	return d.has(t.Day)
}

// Matches reports whether the entry matches.
func (q *Query) Matches(e Entry) bool {
	return q.state(e) && q.tagged(e) && q.priority(e) &&
		q.Scheduled.planned(e.Planning.Scheduled) && q.Deadline.planned(e.Planning.Deadline) && q.Closed.planned(e.Planning.Closed) &&
		q.properties(e) && (q.Heading == nil || q.Heading.MatchString(e.Title)) && q.timestamps(e) && q.words(e)
}

func (q *Query) state(e Entry) bool {
	if len(q.Todo) == 0 {
		return true
	}
	return slices.ContainsFunc(q.Todo, func(want string) bool {
		switch {
		case e.Todo != "" && want == e.Todo:
			return true
		case strings.EqualFold(want, Open):
			return e.Todo != "" && !e.Done
		case strings.EqualFold(want, Done):
			return e.Done
		case strings.EqualFold(want, NoTodo):
			return e.Todo == ""
		}
		return false
	})
}

func (q *Query) tagged(e Entry) bool {
	for _, tag := range q.Tags {
		name, not := strings.CutPrefix(tag, "-")
		if slices.Contains(e.AllTags, name) == not {
			return false
		}
	}
	return true
}

// cookiePattern matches a priority that does not follow a keyword. Org's matcher accepts such a
// priority too.
var cookiePattern = regexp.MustCompile(`\[#([A-Z0-9]+)\]`)

func (q *Query) priority(e Entry) bool {
	priority := e.Priority
	if m := cookiePattern.FindStringSubmatch(e.Title); priority == "" && m != nil {
		priority = m[1]
	}
	return len(q.Priorities) == 0 || slices.ContainsFunc(q.Priorities, func(p string) bool {
		return strings.EqualFold(p, cmp.Or(priority, defaultPriority))
	})
}

func (q *Query) properties(e Entry) bool {
	for _, p := range q.Properties {
		value, there := e.Property(p.Name)
		if strings.EqualFold(p.Name, "CATEGORY") {
			value, there = e.Category, true
		}
		switch {
		case p.Value != nil:
			there = there && value == *p.Value
		case p.Pattern != nil:
			there = there && p.Pattern.MatchString(value)
		}
		if there == p.Not {
			return false
		}
	}
	return true
}

func (q *Query) timestamps(e Entry) bool {
	if q.Timestamp == nil {
		return true
	}
	any := false
	for _, t := range append(org.Timestamps(e.Title), org.Timestamps(e.Text)...) {
		if t.Active {
			if any = true; q.Timestamp.has(t.Day) {
				return true
			}
		}
	}
	return q.Timestamp.None && !any
}

func (q *Query) words(e Entry) bool {
	if len(q.Words) == 0 {
		return true
	}
	title, text := strings.ToLower(e.Title), strings.ToLower(e.Text)
	for _, word := range q.Words {
		if word = strings.ToLower(word); !strings.Contains(title, word) && !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// Sort sorts entries by deadline, scheduled, priority, todo or title. Equal entries keep their
// order. Entries without such a date come last. Any other order changes nothing.
func Sort(entries []Entry, order string) {
	by := func(planned func(e Entry) string) func(a, b Entry) int {
		return func(a, b Entry) int {
			first, ok := org.ParseTimestamp(planned(a))
			second, also := org.ParseTimestamp(planned(b))
			switch {
			case !ok || !also:
				return boolean(!ok) - boolean(!also)
			case first.Day != second.Day:
				return cmp.Compare(first.Day, second.Day)
			}
			return cmp.Compare(first.Time, second.Time)
		}
	}
	switch order {
	case "deadline":
		slices.SortStableFunc(entries, by(func(e Entry) string { return e.Planning.Deadline }))
	case "scheduled":
		slices.SortStableFunc(entries, by(func(e Entry) string { return e.Planning.Scheduled }))
	case "priority":
		slices.SortStableFunc(entries, func(a, b Entry) int {
			return cmp.Compare(cmp.Or(a.Priority, defaultPriority), cmp.Or(b.Priority, defaultPriority))
		})
	case "todo":
		rank := func(e Entry) int { return boolean(e.Todo == "")*2 + boolean(e.Done) }
		slices.SortStableFunc(entries, func(a, b Entry) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Todo, b.Todo)) })
	case "title":
		slices.SortStableFunc(entries, func(a, b Entry) int {
			return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
		})
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
