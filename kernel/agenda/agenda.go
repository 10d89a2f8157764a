// Package agenda lists what Org's agenda (9.5, without customization) shows for some days: the
// deadlines, the scheduled entries and the timestamps of Org files. It evaluates nothing. It
// ignores diary expressions, and times that occur only in titles.
//
// Days are calendar days, so changes of the clock do not matter.
package agenda

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
)

// Kind is the reason why something is listed on a day, in Org's words.
type Kind string

const (
	Deadline         Kind = "deadline"
	UpcomingDeadline Kind = "upcoming-deadline" // its warning period includes today
	Scheduled        Kind = "scheduled"
	PastScheduled    Kind = "past-scheduled" // it was scheduled before today
	AtTime           Kind = "timestamp"
	Block            Kind = "block" // a range of days
)

// Item is one line of a day.
type Item struct {
	Day       org.Day
	Time, End string // HH:MM, or ""
	Kind      Kind
	Days      int // days until the deadline, negative after it; or days since the scheduled day; or the number of the day in a block, from 1
	Of        int // the number of days of a block
	Entry     orgquery.Entry
}

// Span is the range of days to list.
type Span struct {
	From, To, Today org.Day
	// Warning is how many days before a deadline its warnings begin; 0 means Org's default of 14.
	Warning int
}

const (
	defaultWarning = 14
	forgotten      = 10000 // days after which an overdue entry is no longer listed
)

// Items returns what the agenda shows on the days of the span, ordered by day and time.
func Items(files []*orgquery.File, s Span) []Item {
	if s.Warning == 0 {
		s.Warning = defaultWarning
	}
	var all []Item
	for _, f := range files {
		for _, e := range f.Entries {
			stamps := activeTimestamps(e)
			for day := s.From; day <= s.To; day++ {
				all = append(all, s.deadline(e, day)...)
				all = append(all, s.scheduled(e, day)...)
				all = append(all, s.timestamps(e, stamps, day)...)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Item) int {
		late := func(i Item) string { return cmp.Or(i.Time, "99:99") }
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(late(a), late(b)))
	})
	return all
}

// nextDay returns the next day of a repeating timestamp, if day is after today. Otherwise it
// returns the timestamp's own day.
func (s Span) nextDay(t org.Timestamp, day org.Day) org.Day {
	if day <= s.Today {
		return t.Day
	}
	return t.Nearest(day, true)
}

func (s Span) deadline(e orgquery.Entry, day org.Day) []Item {
	t, ok := orgquery.Planned(e.Planning.Deadline)
	if !ok {
		return nil
	}
	left := int(t.Day - day)
	itself := day == t.Day || day == s.nextDay(t, day)
	warning := s.Warning
	if t.Warned {
		warning = t.Warning
	}
	switch {
	case !itself && (day != s.Today || left > warning || left < -forgotten):
		return nil
	case e.Done && day != t.Day:
		return nil
	}
	item := Item{Day: day, Kind: Deadline, Entry: e}
	if itself {
		item.Time, item.End = t.Time, t.End
	}
	if day == s.Today {
		item.Days = left
		if left > 0 {
			item.Kind = UpcomingDeadline
		}
	}
	return []Item{item}
}

func (s Span) scheduled(e orgquery.Entry, day org.Day) []Item {
	t, ok := orgquery.Planned(e.Planning.Scheduled)
	if !ok {
		return nil
	}
	since := int(day - t.Day)
	itself := day == t.Day || day == s.nextDay(t, day)
	switch {
	case t.Warning > 0 && since < t.Warning, since > forgotten, t.Day > day:
		return nil
	case !itself && day != s.Today:
		return nil
	case e.Done && day != t.Day:
		return nil
	}
	item := Item{Day: day, Kind: Scheduled, Entry: e}
	if itself {
		item.Time, item.End = t.Time, t.End
	}
	if t.Day < s.Today {
		if item.Kind = PastScheduled; day == s.Today {
			item.Days = since
		}
	}
	return []Item{item}
}

// timestamps returns the items for the timestamps of an entry's text on the day.
func (s Span) timestamps(e orgquery.Entry, stamps []org.Timestamp, day org.Day) []Item {
	var items []Item
	for i, t := range stamps {
		switch {
		case t.RangeStart && i+1 < len(stamps):
			last := stamps[i+1]
			if day < t.Day || last.Day < day {
				continue
			}
			items = append(items, block(e, t, last, day))
		case t.RangeEnd:
		case t.Day == day || s.repeatsOn(t, day):
			items = append(items, Item{Day: day, Time: t.Time, End: t.End, Kind: AtTime, Entry: e})
		}
	}
	return items
}

func block(e orgquery.Entry, first, last org.Timestamp, day org.Day) Item {
	item := Item{Day: day, Kind: Block, Days: int(day-first.Day) + 1, Of: int(last.Day-first.Day) + 1, Entry: e}
	switch {
	case first.Time == last.Time, first.Day == last.Day:
		item.Time, item.End = first.Time, last.Time
		if first.Time == last.Time {
			item.End = ""
		}
	case day == first.Day:
		item.Time = first.Time
	case day == last.Day:
		item.Time = last.Time
	}
	return item
}

// repeatsOn reports whether a repeating timestamp falls on the day. As in Org, this holds only for
// a timestamp with nothing after its repeater.
func (s Span) repeatsOn(t org.Timestamp, day org.Day) bool {
	if !t.Repeats() || !strings.HasSuffix(t.Text, strings.TrimLeft(t.Repeater, ".+")+">") {
		return false
	}
	if day <= s.Today {
		return day == t.Nearest(day, false)
	}
	return day == t.Nearest(s.Today, false) || day == t.Nearest(day, true)
}

// activeTimestamps returns the active timestamps of an entry. It skips places where Org reads none:
// comments, keyword lines except captions, fixed-width lines, and source and example blocks.
func activeTimestamps(e orgquery.Entry) []org.Timestamp {
	var all []org.Timestamp
	add := func(text string) {
		for _, t := range org.Timestamps(text) {
			if t.Active {
				all = append(all, t)
			}
		}
	}
	add(e.Title)
	for _, p := range e.Properties {
		add(p.Value)
	}
	if !strings.Contains(e.Text, "<") {
		return all
	}
	inside := ""
	for line := range strings.Lines(e.Text) {
		text := strings.ToLower(strings.TrimSpace(line))
		switch {
		case inside != "":
			if strings.HasPrefix(text, "#+end_"+inside) {
				inside = ""
			}
		case strings.HasPrefix(text, "#+begin_"):
			kind, _, _ := strings.Cut(strings.TrimPrefix(text, "#+begin_"), " ")
			if slices.Contains([]string{"src", "example", "export", "comment"}, kind) {
				inside = kind
			}
		case strings.HasPrefix(text, "#+") && !strings.HasPrefix(text, "#+caption"), text == "#", strings.HasPrefix(text, "# "), text == ":", strings.HasPrefix(text, ": "):
		default:
			add(line)
		}
	}
	return all
}

// Note explains in a few words why the item is listed.
func (i Item) Note() string {
	switch i.Kind {
	case UpcomingDeadline:
		return fmt.Sprintf("deadline in %d d.", i.Days)
	case Deadline:
		if i.Days < 0 {
			return fmt.Sprintf("deadline %d d. ago", -i.Days)
		}
		return "deadline"
	case PastScheduled:
		if i.Days > 0 {
			return fmt.Sprintf("scheduled %d d. ago", i.Days)
		}
		return "scheduled"
	case Block:
		if i.Of > 1 {
			return fmt.Sprintf("day %d of %d", i.Days, i.Of)
		}
		return ""
	case Scheduled:
		return "scheduled"
	}
	return ""
}
