package tasks

import (
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/schedule"
	"org-agent/kernel/task"
)

// plan finds when a task is due next. A last lease in the future is from a clock that was wrong.
func (w *watched) plan(now time.Time) {
	w.next, w.waited = time.Time{}, false
	if !w.Settings.Enabled || w.arming != Armed {
		return
	}
	w.next = w.following(now)
}

// following returns when a task is due next, if it may begin.
func (w *watched) following(now time.Time) (planned time.Time) {
	after := w.last.Covered
	if after.After(now) {
		after = now
	}
	rule := w.Rule(w.since)
	if w.refused.After(after) {
		after = w.refused
	}
	due, stamped := w.Due()
	switch {
	case stamped && (after.IsZero() || due.After(after)):
		return due
	case stamped:
		next, repeats := rule.Next(after)
		if repeats {
			return next
		} else if !due.Equal(w.last.Planned) && !due.Equal(w.refused) {
			return due // the person gave it another time, which was not done
		}
	default:
		if after.Before(w.since) {
			after = w.since
		}
		planned, _ = rule.Next(after)
	}
	return planned
}

// misses are the planned times of a task that have come.
type misses struct {
	// times are the last of them, in order, one at least.
	times []time.Time
	// before is the last time that is not among times, zero if there is none.
	before time.Time
}

// planningLimit is how many planned times are followed one by one.
const planningLimit = 100_000

// missed returns the planned times from the next one on that have come, the last few of them.
func (w *watched) missed(now time.Time) misses {
	m := misses{times: []time.Time{w.next}}
	followed := 0
	for planned := range schedule.Planned(w.Rule(w.since), w.next) {
		if planned.After(now) {
			break
		}
		if followed++; followed > planningLimit { // what comes so often stands for all that came until now
			return misses{times: []time.Time{now.Truncate(time.Second)}, before: now.Truncate(time.Second).Add(-time.Second)}
		}
		if m.times = append(m.times, planned); len(m.times) > madeUp {
			m.before, m.times = m.times[0], m.times[1:]
		}
	}
	return m
}

// step is one lease that follows from planned times that have come.
type step struct {
	planned, covered time.Time
	skip             string // why it is left out, "" if the task begins
}

// steps returns what is to be done now of the planned times that have come. The first that begins is the last step.
func (w *watched) steps(now time.Time, atWork bool) []step {
	m := w.missed(now)
	first, last := m.times[0], m.times[len(m.times)-1]
	late := func(at time.Time) bool { return now.Sub(at) > grace }
	switch {
	case atWork && w.Settings.Overlap == task.OverlapWait:
		return nil
	case atWork && w.Settings.Overlap == task.OverlapSkip:
		return []step{{w.next, last, "the task was still at work"}}
	case w.Settings.Misfire == task.MisfireAll:
		if !m.before.IsZero() {
			return []step{{w.next, m.before, "too many times had passed"}, {first, first, ""}}
		}
		return []step{{first, first, ""}}
	case w.waited:
		return []step{{w.next, last, ""}}
	case w.Settings.Misfire == task.MisfireSkip:
		if late(last) {
			return []step{{w.next, last, "the time had passed"}}
		}
		if w.next.Equal(last) {
			return []step{{last, last, ""}}
		}
		before := w.next
		for _, at := range m.times {
			if at.Before(last) && at.After(before) {
				before = at
			}
		}
		return []step{{w.next, before, "the time had passed"}, {last, last, ""}}
	}
	return []step{{w.next, last, ""}}
}

// lease returns the lease of a step.
func (w *watched) lease(s step, now time.Time) journal.Lease {
	l := journal.Lease{
		Task: w.ID, Planned: s.planned, Covered: s.covered, File: w.file, Title: w.Title, Text: w.Text(), Session: w.Settings.Session, Skill: w.Settings.Skill,
		Retries: w.Settings.Retries, Backoff: w.Settings.Backoff, Silent: w.Settings.Silent, Route: w.Settings.Route, Shared: w.Settings.Session != "",
		State: journal.LeaseTaken, Attempt: 1, At: now,
	}
	if s.skip != "" {
		l.State, l.Note = journal.LeaseSkipped, s.skip
	}
	if l.Session == "" {
		l.Session = sessionName(w.Title, s.planned.In(w.Settings.Zone), l.Event())
	}
	return l
}
