package org

import (
	"regexp"
	"strconv"
	"time"
)

// A Day is a day of the calendar: the number of days since 1 January 1970. It has no time zone.
type Day int

// DayOf returns the day of a moment in the moment's own time zone.
func DayOf(t time.Time) Day { return dayOn(t.Year(), int(t.Month()), t.Day()) }

// dayOn returns the day of a date. As in Org a day beyond the end of a month counts on into the
// next.
func dayOn(year, month, day int) Day {
	return Day(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// ParseDay reads a date, YYYY-MM-DD. The date must exist.
func ParseDay(text string) (Day, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return DayOf(t), err == nil
}

// date returns midnight of the day in UTC.
func (d Day) date() time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }

// String returns the day as YYYY-MM-DD.
func (d Day) String() string { return d.date().Format(time.DateOnly) }

// Weekday returns the day of the week.
func (d Day) Weekday() time.Weekday { return d.date().Weekday() }

// Plus returns the day that many months later. A day beyond the end of a month counts on into the
// next.
func (d Day) Plus(months int) Day {
	t := d.date()
	return dayOn(t.Year(), int(t.Month())+months, t.Day())
}

// A Timestamp is a timestamp of Org.
type Timestamp struct {
	Active     bool
	Day        Day
	Time, End  string // HH:MM, "" if there is none
	Repeater   string // as written: +1w, ++1m, .+2d; "" if there is none
	Every      int    // of the repeater; 0 means that it does not repeat
	Unit       byte   // of the repeater: h, d, w, m or y
	Warning    int    // days of -3d or --3d
	Warned     bool   // it has a warning
	First      bool   // the warning is --3d, which counts for the first occurrence only
	Text       string // with its brackets
	Start      int    // offset in the text it was found in
	RangeStart bool   // it begins a range, which the next one ends
	RangeEnd   bool   // it ends a range
}

var (
	timestampPattern = regexp.MustCompile(`[<\[](\d{4}-\d{2}-\d{2})(?: ([^\n]*?))?[>\]]`)
	timePattern      = regexp.MustCompile(` ([012]?\d:\d\d)(?:-([012]?\d:\d\d))?`)
	repeaterPattern  = regexp.MustCompile(`([.+]?\+)(\d+)([hdwmy])`)
	warningPattern   = regexp.MustCompile(`(-?)-(\d+)([hdwmy])(?:[>\] ]|$)`)
	rangePattern     = regexp.MustCompile(`^--?-?$`)

	dayNamePattern      = regexp.MustCompile(`^ [^\s\d+.>\]-]+`)
	firstWarningPattern = regexp.MustCompile(` --\d+[hdwmy]`)
)

// ParseTimestamp reads the timestamp at the beginning of a text.
func ParseTimestamp(text string) (Timestamp, bool) {
	at := timestampPattern.FindStringSubmatchIndex(text)
	if at == nil || at[0] != 0 {
		return Timestamp{}, false
	}
	return timestampAt(text, at)
}

// Timestamps returns the timestamps of a text, in order. It skips those with a date that does not
// exist.
func Timestamps(text string) []Timestamp {
	var all []Timestamp
	for _, at := range timestampPattern.FindAllStringSubmatchIndex(text, -1) {
		t, ok := timestampAt(text, at)
		if !ok {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Active == t.Active && !all[n-1].RangeEnd {
			before := &all[n-1]
			if rangePattern.MatchString(text[before.Start+len(before.Text) : t.Start]) {
				before.RangeStart, t.RangeEnd = true, true
			}
		}
		all = append(all, t)
	}
	return all
}

func timestampAt(text string, at []int) (Timestamp, bool) {
	t := Timestamp{Text: text[at[0]:at[1]], Start: at[0], Active: text[at[0]] == '<'}
	if closing := t.Text[len(t.Text)-1]; t.Active != (closing == '>') {
		return t, false
	}
	var ok bool
	if t.Day, ok = ParseDay(text[at[2]:at[3]]); !ok {
		return t, false
	}
	if m := timePattern.FindStringSubmatch(t.Text); m != nil {
		t.Time, t.End = clock(m[1]), clock(m[2])
	}
	if m := repeaterPattern.FindStringSubmatch(t.Text); m != nil {
		t.Repeater, t.Unit = m[0], m[3][0]
		t.Every, _ = strconv.Atoi(m[2]) // digits; with too many of them it never repeats
	}
	if m := warningPattern.FindStringSubmatch(t.Text); m != nil {
		value, _ := strconv.Atoi(m[2])
		t.Warned, t.First, t.Warning = true, m[1] != "", warningDays(value, m[3][0])
	}
	return t, true
}

// clock returns a time with two digits for the hour.
func clock(text string) string {
	if len(text) == len("9:30") {
		return "0" + text
	}
	return text
}

// warningDays returns how many days before the date a warning comes, with Org's lengths of months.
func warningDays(value int, unit byte) int {
	length := map[byte]float64{'d': 1, 'w': 7, 'm': 30.4, 'y': 365.25, 'h': 0.041667}[unit]
	return int(float64(value) * length)
}

// Repeats reports whether it has a repeater that counts.
func (t Timestamp) Repeats() bool { return t.Every > 0 }

// Nearest returns the occurrence nearest to a day: the last one on it or before it or, if future is
// true, the first one on it or after it. It returns the timestamp's own day if that is later. It
// agrees with org-closest-date.
func (t Timestamp) Nearest(to Day, future bool) Day {
	if !t.Repeats() || to <= t.Day {
		return t.Day
	}
	before, behind := t.around(to)
	if future {
		if before == to {
			return before
		}
		return behind
	}
	if behind == to {
		return behind
	}
	return before
}

// around returns the last occurrence on a day or before it, and the first one after it.
func (t Timestamp) around(to Day) (before, behind Day) {
	from, until := t.Day.date(), to.date()
	switch t.Unit {
	case 'h':
		hour, _ := strconv.Atoi(t.Time[:min(2, len(t.Time))])
		missing := (24*int(to-t.Day) - hour) % t.Every
		if missing < 0 {
			missing += t.Every
		}
		before = to
		if missing != 0 {
			before = to - Day(1+missing/24)
		}
		return before, to + Day((t.Every-missing)/24)
	case 'd', 'w':
		every := Day(t.Every)
		if t.Unit == 'w' {
			every *= 7
		}
		before = t.Day + every*((to-t.Day)/every)
		return before, before + every
	case 'm':
		months := 12*(until.Year()-from.Year()) + int(until.Month()-from.Month())
		if until.Day() <= from.Day() {
			months--
		}
		months = months / t.Every * t.Every
		return t.Day.Plus(months), t.Day.Plus(months + t.Every)
	}
	years := until.Year() - from.Year()
	if until.Month() < from.Month() || until.Month() == from.Month() && until.Day() <= from.Day() {
		years--
	}
	years = years / t.Every * t.Every
	return t.Day.Plus(12 * years), t.Day.Plus(12 * (years + t.Every))
}
