package org

import (
	"strconv"
	"strings"
	"time"
)

// repeatYears is how far a repeater is followed: as far as a date has four digits for its year.
const repeatYears = 9999

// Repeated returns what Org makes of the timestamp when its entry is done at a moment, in the moment's time zone: the
// day and the time of day move, and what else it says stays, except for a warning of the first occurrence.
//
// A repeater + moves by one step, ++ by as many as it takes to come after the moment, and .+ by one step from the
// day of the moment, or from its minute if the step is in hours. A day beyond the end of a month counts on into the
// next. A time of day that a change of the clock leaves out stays as it is written, where Org would move it for good.
//
// ok is false if the timestamp does not repeat, repeats within hours without having a time, or leaves the calendar.
func (t Timestamp) Repeated(done time.Time) (moved Timestamp, ok bool) {
	if !t.Moves() {
		return t, false
	}
	from, now := t.Wall(), wall(done)
	at := from
	switch {
	case strings.HasPrefix(t.Repeater, ".") && t.Unit == 'h':
		at = t.Step(now.Truncate(time.Minute))
	case strings.HasPrefix(t.Repeater, "."):
		at = t.Step(DayOf(now).date().Add(from.Sub(t.Day.date())))
	case strings.HasPrefix(t.Repeater, "++"):
		for at = t.Step(at); !at.After(now) && at.Year() < repeatYears; {
			at = t.Step(at)
		}
	default:
		at = t.Step(at)
	}
	if at.Year() > repeatYears {
		return t, false
	}
	return t.at(at)
}

// Wall returns what the clock shows at the timestamp, as a time in UTC.
func (t Timestamp) Wall() time.Time {
	hours, minutes := clockParts(t.Time)
	return t.Day.date().Add(time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
}

// clockParts returns the hours and minutes of HH:MM, zeros for "".
func clockParts(text string) (hours, minutes int) {
	before, after, _ := strings.Cut(text, ":")
	hours, _ = strconv.Atoi(before)
	minutes, _ = strconv.Atoi(after)
	return hours, minutes
}

// wall returns what the clock shows at a moment, as a time in UTC.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// Moves reports whether it has a repeater that Org can follow: one of hours needs a time.
func (t Timestamp) Moves() bool { return t.Repeats() && (t.Unit != 'h' || t.Time != "") }

// Step returns a time one step of the repeater later. Both are what a clock shows, as times in UTC.
func (t Timestamp) Step(from time.Time) time.Time {
	switch t.Unit {
	case 'h':
		return from.Add(time.Duration(t.Every) * time.Hour)
	case 'd':
		return from.AddDate(0, 0, t.Every)
	case 'w':
		return from.AddDate(0, 0, 7*t.Every)
	case 'm':
		return from.AddDate(0, t.Every, 0)
	}
	return from.AddDate(t.Every, 0, 0)
}

// at returns the timestamp at another time. The end of a range of times moves by as much.
func (t Timestamp) at(to time.Time) (Timestamp, bool) {
	rest := t.Text[len("<2026-11-30") : len(t.Text)-1]
	if m := dayNamePattern.FindString(rest); m != "" {
		rest = rest[len(m):]
	}
	day := DayOf(to)
	text := day.String() + " " + day.Weekday().String()[:3]
	if times := timePattern.FindString(rest); t.Time != "" && strings.HasPrefix(rest, times) {
		text, rest = text+" "+to.Format("15:04"), rest[len(times):]
		if t.End != "" {
			hours, minutes := clockParts(t.End)
			end := t.Day.date().Add(time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
			text += "-" + end.Add(to.Sub(t.Wall())).Format("15:04")
		}
	}
	opening, closing := "[", "]"
	if t.Active {
		opening, closing = "<", ">"
	}
	return ParseTimestamp(opening + text + firstWarningPattern.ReplaceAllString(rest, "") + closing)
}
