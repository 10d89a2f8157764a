package tasks

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/schedule"
	"org-agent/kernel/suggest"
	"org-agent/kernel/task"
)

// errStopped is the error of a call when the sensor does not run.
var errStopped = errors.New("tasks are not watched any more: the log says why")

// Planned is a task with the next times at which it is due.
type Planned struct {
	task.Task
	Next []time.Time
	// AtWork is the lease of the task that has not come to its end, nil if there is none.
	AtWork *journal.Lease
	File   string
	Arming Arming
}

// do has a function called by the goroutine that owns the tasks.
func (s *Sensor) do(ctx context.Context, call func(ctx context.Context)) error {
	done := make(chan struct{})
	select {
	case s.calls <- func(ctx context.Context) { call(ctx); close(done) }:
	case <-s.stopped:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	<-done
	return nil
}

// List returns the tasks with so many of their next times, and what is wrong with the files, a line each. Of a task that
// is not armed the times are those at which it would be done.
func (s *Sensor) List(ctx context.Context, times int) (all []Planned, faults []string, err error) {
	err = s.do(ctx, func(ctx context.Context) {
		s.load(ctx)
		for _, w := range s.tasks {
			all = append(all, s.planned(w, times))
		}
		for _, one := range s.sources.all {
			faults = append(faults, one.faults()...)
		}
	})
	return all, faults, err
}

// planned returns a task with its next times.
func (s *Sensor) planned(w *watched, times int) Planned {
	p := Planned{Task: w.Task, File: w.file, Arming: w.arming}
	for _, l := range s.open {
		if s.heading(l) == w.ID && !l.State.Final() {
			lease := *l
			p.AtWork = &lease
		}
	}
	first, since := w.next, w.since
	if w.arming != Armed && w.Settings.Enabled {
		since = s.config.Now()
		first = (&watched{Task: w.Task, since: since, last: w.last}).following(since)
	}
	if first.IsZero() || times <= 0 {
		return p
	}
	p.Next = append(p.Next, first)
	for next := range schedule.Planned(w.Rule(since), first) {
		if len(p.Next) >= times {
			break
		}
		p.Next = append(p.Next, next)
	}
	return p
}

// Begin has a task done now, by its title, its ID or its hash, whatever is planned. It does not advance: that is done for
// its own times. CodeNotFound if there is no such task, CodeConflict if it is at work or not armed.
func (s *Sensor) Begin(ctx context.Context, name string) (lease journal.Lease, err error) {
	ended := s.do(ctx, func(ctx context.Context) {
		s.load(ctx)
		var w *watched
		if w, err = s.find(name); err != nil {
			return
		}
		if s.atWork(w.ID) > 0 {
			err = protocol.Errorf(protocol.CodeConflict, "the task %s is at work already", w.Title)
			return
		}
		if w.arming != Armed {
			err = protocol.Errorf(protocol.CodeConflict, "the task %s of %s is not armed: arm it first, in M-x org-agent-tasks or with org-agent schedule arm", w.Title, w.file)
			return
		}
		now := s.config.Now().Truncate(time.Second)
		if lease, err = s.config.Leases.Lease(ctx, w.lease(step{planned: now, covered: now}, now)); err != nil {
			return
		}
		l := lease
		s.open = append(s.open, &l)
		s.start(ctx, &l)
		lease = l
	})
	return lease, errors.Join(ended, err)
}

// find returns the task of a title, an ID or a hash.
func (s *Sensor) find(name string) (*watched, error) {
	var found []*watched
	var titles []string
	for _, w := range s.tasks {
		if w.Title == name || w.ID == "id:"+name || w.ID == name || w.Hash == name {
			found = append(found, w)
		}
		titles = append(titles, w.Title)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no task %q%s", name, suggest.Question(suggest.Of(name, titles), "%q"))
	}
	return nil, protocol.Errorf(protocol.CodeInvalidParams, "%d tasks are called %q: give them an :ID: (M-x org-id-get-create) and name that", len(found), name)
}
