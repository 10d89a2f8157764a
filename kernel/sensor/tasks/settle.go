package tasks

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/task"
)

// settleAgain is how long an outcome waits that could not be written.
const settleAgain = time.Minute

// settle begins to deliver and write an outcome, one at a time.
func (s *Sensor) settle(ctx context.Context, goroutines *sync.WaitGroup) {
	if s.settling {
		return
	}
	now := s.config.Now()
	for _, l := range s.open {
		if !l.State.Final() || s.again[l.Seq].After(now) {
			continue
		}
		s.settling = true
		lease, heading, file := *l, s.heading(l), s.sources.of(l.File)
		goroutines.Go(func() {
			err := s.outcome(ctx, lease, heading, file)
			if err != nil && ctx.Err() == nil {
				s.config.Logger.Warn("what came of a task is not written", "task", lease.Title, "file", lease.File, "err", err)
				s.config.Report(filepath.Base(lease.File)+" (outcomes)", []string{"what came of the task " + lease.Title + " is not written into " + lease.File + ", and is tried again: " + err.Error()})
			}
			lease.Settled = err == nil
			select {
			case s.settled <- lease:
			case <-ctx.Done():
			}
		})
		return
	}
}

// outcome tells the owner what came of a task, and writes it into the file.
func (s *Sensor) outcome(ctx context.Context, l journal.Lease, heading string, file *source) error {
	turn, err := s.config.Turns.TurnOfEvent(ctx, l.Event())
	if err != nil && protocol.ErrorCode(err) != protocol.CodeNotFound {
		return err
	}
	if l.State != journal.LeaseSkipped {
		if err := s.config.Deliver(ctx, l, turn); err != nil {
			return err
		}
	}
	o := task.Outcome{Result: task.Result(l.State), Planned: l.Planned, Covered: l.Covered, Ended: l.At, Note: l.Note}
	if turn.ID != "" {
		o.Session = turn.Session
	}
	for tries := 3; ; tries-- {
		err := s.config.File.At(l.File).Change(ctx, func(text string) (string, error) {
			return task.Fired(file.source(text, s.config), heading, o)
		})
		switch {
		case err != nil && protocol.ErrorCode(err) == protocol.CodeNotFound:
			s.config.Logger.Info("the heading of a task is gone, so its outcome is only in the journal", "task", l.Title, "file", l.File)
			return nil
		case errors.Is(err, atomicfile.ErrChanged) && tries > 1:
			continue
		}
		return err
	}
}

// finishSettling records that an outcome was written, or when that is tried again.
func (s *Sensor) finishSettling(ctx context.Context, lease journal.Lease) {
	s.settling = false
	at := slices.IndexFunc(s.open, func(l *journal.Lease) bool { return l.Seq == lease.Seq })
	if !lease.Settled {
		s.again[lease.Seq] = s.config.Now().Add(settleAgain)
		return
	}
	if _, failed := s.again[lease.Seq]; failed {
		s.config.Report(filepath.Base(lease.File)+" (outcomes)", nil)
	}
	delete(s.again, lease.Seq)
	s.keep(ctx, &lease)
	s.load(ctx) // first, because it has the number of runs
	s.open = slices.Delete(s.open, at, at+1)
}
