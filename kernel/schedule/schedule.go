// Package schedule computes when a task of the person's is due.
//
// A [Rule] gives planned times, one after the other. A rule is about what a clock on the wall of a time zone shows,
// as people plan: every day at nine, the first of each month. Each such time is one planned time, whatever happens
// to the clock. One that the clock leaves out in spring comes as much later as the clock was moved, and one that it
// shows twice in autumn comes the first time. Two that fall together are one. What comes every hour, or several times
// in it, goes on through a change of the clock as if there were none.
//
// All functions are pure, and a rule is a value that is never changed: it is safe for many goroutines. Nothing here
// asks for the time.
package schedule

import (
	"iter"
	"time"
)

// Rule gives the planned times of a task.
type Rule interface {
	// Next returns the first planned time after a moment, in the zone of the rule. ok is false if there is none.
	Next(after time.Time) (planned time.Time, ok bool)
}

// Planned returns the planned times after a moment, in order. There may be no end of them.
func Planned(rule Rule, after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for {
			next, ok := rule.Next(after)
			if !ok || !yield(next) {
				return
			}
			after = next
		}
	}
}

// moment returns the moment at which a clock in the zone shows a time for the first time. wall is what it shows, as a
// time in UTC. A time that the clock leaves out is shown by a clock that was not moved: half past two becomes half
// past three.
func moment(wall time.Time, zone *time.Location) time.Time {
	first, _ := moments(wall, zone)
	return first
}

// moments returns both moments at which a clock in the zone shows a time, the same twice if there is but one.
func moments(wall time.Time, zone *time.Location) (first, second time.Time) {
	const around = 36 * time.Hour // no zone is further from UTC, and none changes its clock twice within that
	_, before := wall.Add(-around).In(zone).Zone()
	_, behind := wall.Add(around).In(zone).Zone()
	earlier, later := wall.Add(-time.Duration(before)*time.Second).In(zone), wall.Add(-time.Duration(behind)*time.Second).In(zone)
	shownBefore, shownBehind := clock(earlier).Equal(wall), clock(later).Equal(wall)
	switch {
	case shownBefore && shownBehind && later.Before(earlier):
		return later, earlier
	case shownBefore && shownBehind:
		return earlier, later
	case shownBehind:
		return later, later
	}
	return earlier, earlier
}

// clock returns what a clock shows at a moment in the moment's zone, as a time in UTC.
func clock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}
