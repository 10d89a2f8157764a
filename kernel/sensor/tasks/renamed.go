package tasks

import (
	"org-agent/kernel/journal"
	"org-agent/kernel/task"
)

// heading returns the present name of the task of a lease.
func (s *Sensor) heading(l *journal.Lease) string {
	if now, found := s.renamed[l.Task]; found {
		return now
	}
	return l.Task
}

// findRenamed looks for headings that were renamed while their tasks were at work: a task is gone, and one alone that was
// never done is due at the same time. It has the lease of the former one, so that it is not begun again.
func (s *Sensor) findRenamed(tasks []task.Task, armed map[string]journal.Armed) {
	for _, l := range s.open {
		if _, known := armed[s.heading(l)]; known || l.File != s.config.File.Path {
			continue
		}
		var found []string
		for _, t := range tasks {
			due, stamped := t.Due()
			if stamped && due.Equal(l.Planned) && armed[t.ID].Last.Planned.IsZero() {
				found = append(found, t.ID)
			}
		}
		if len(found) == 1 {
			s.renamed[l.Task] = found[0]
		}
	}
	for _, l := range s.open {
		a, known := armed[s.heading(l)]
		if known && s.heading(l) != l.Task && a.Last.Planned.Before(l.Planned) {
			a.Last = *l
			armed[s.heading(l)] = a
		}
	}
}
