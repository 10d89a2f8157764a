package schedule

import (
	"time"

	"org-agent/kernel/org"
)

// Stamp is a rule that an Org timestamp gives: its time, and those of its repeater. After the last planned time the
// timestamp in the file has to be moved, see [Stamp.Repeated].
type Stamp struct {
	Timestamp org.Timestamp
	// Deadline is set for the timestamp of a DEADLINE. A warning, such as -2d, makes the task due so many days before it.
	// That of a SCHEDULED delays the task.
	Deadline bool
	// Zone is where the timestamp is read.
	Zone *time.Location
	// Hour is when a task is due whose timestamp has no time, since midnight.
	Hour time.Duration
}

// Due returns the planned time of the timestamp itself.
func (s Stamp) Due() time.Time { return s.due(s.Timestamp.Wall(), s.Timestamp.Warning) }

// due returns when the task is due for a time of the timestamp, with so many days of warning.
func (s Stamp) due(wall time.Time, days int) time.Time {
	if s.Deadline {
		days = -days
	}
	if wall = wall.AddDate(0, 0, days); s.Timestamp.Time == "" {
		wall = wall.Add(s.Hour)
	}
	return moment(wall, s.Zone)
}

// Repeated returns the rule with the timestamp that Org makes of it when the task is done at a moment. ok is false if it
// does not repeat.
func (s Stamp) Repeated(done time.Time) (next Stamp, ok bool) {
	s.Timestamp, ok = s.Timestamp.Repeated(done.In(s.Zone))
	return s, ok
}

// Next implements [Rule]. It takes each task for done when it was due.
func (s Stamp) Next(after time.Time) (planned time.Time, ok bool) {
	const lastYear = 9999
	wall, days := s.Timestamp.Wall(), s.Timestamp.Warning
	for {
		if due := s.due(wall, days); due.After(after) {
			return due, true
		}
		if !s.Timestamp.Moves() || wall.Year() > lastYear {
			return time.Time{}, false
		}
		wall = s.Timestamp.Step(s.skip(wall, clock(after.In(s.Zone))))
		if s.Timestamp.First {
			days = 0
		}
	}
}

// skip returns a time some steps later that is still before a moment by a good deal, so that a timestamp of long ago is
// not followed hour by hour. Months and years are few.
func (s Stamp) skip(wall, before time.Time) time.Time {
	step := s.Timestamp.Step(wall).Sub(wall)
	reserve := time.Duration(2+s.Timestamp.Warning) * 24 * time.Hour // a delay comes on top of a time
	if far := before.Sub(wall) - reserve; far > step && s.Timestamp.Unit != 'm' && s.Timestamp.Unit != 'y' {
		return wall.Add(far / step * step)
	}
	return wall
}
