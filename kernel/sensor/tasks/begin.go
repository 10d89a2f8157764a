package tasks

import (
	"context"
	"strings"
	"time"
	"unicode"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/task"
)

// begin begins what is due.
func (s *Sensor) begin(ctx context.Context) {
	now := s.config.Now()
	if now.Before(s.looked) { // the clock was set back
		for _, w := range s.tasks {
			w.plan(now)
		}
	}
	s.looked = now
	tasks, retries := s.due(now)
	if len(tasks)+len(retries) == 0 {
		return
	}
	room := s.room(ctx)
	for _, l := range retries {
		if room > 0 && s.retry(ctx, l, now) {
			room--
		}
	}
	for _, w := range tasks {
		for room > 0 && !w.next.IsZero() && !w.next.After(now) && ctx.Err() == nil {
			if began, more := s.fire(ctx, w, now); !more {
				break
			} else if began {
				room--
			}
		}
	}
}

// fire leases the planned times of a task that have come, and begins it. more is false if it can do nothing more now.
func (s *Sensor) fire(ctx context.Context, w *watched, now time.Time) (began, more bool) {
	atWork := s.atWork(w.ID)
	if limit := w.Settings.MaxRuns; limit > 0 && w.Settings.Runs+s.counted(w.ID) >= limit {
		w.waited = true // until the file says so
		return false, false
	}
	steps := w.steps(now, atWork > 0)
	if steps == nil {
		w.waited = true
		return false, false
	}
	for _, step := range steps {
		lease, err := s.config.Leases.Lease(ctx, w.lease(step, now))
		if protocol.ErrorCode(err) == protocol.CodeConflict && err != nil {
			w.refused = step.planned
			w.plan(now)
			return began, true
		}
		if err != nil {
			s.config.Logger.Error("a task does not begin", "task", w.Title, "planned", step.planned, "err", err)
			w.waited = true // for the next look
			return began, false
		}
		w.last = lease
		s.open = append(s.open, &lease)
		if step.skip == "" {
			s.start(ctx, &lease)
			began = true
		} else {
			s.config.Logger.Info("a planned time is left out", "task", w.Title, "planned", step.planned, "reason", step.skip)
		}
	}
	w.plan(now)
	return began, true
}

// counted returns how many leases of a task are not in the file yet and may be counted there.
func (s *Sensor) counted(id string) (count int) {
	for _, l := range s.open {
		if s.heading(l) == id && l.State != journal.LeaseFailed && l.State != journal.LeaseSkipped {
			count++
		}
	}
	return count
}

// retry begins another attempt, unless the person took the task away. It reports whether it did.
func (s *Sensor) retry(ctx context.Context, l *journal.Lease, now time.Time) bool {
	w := s.byID[s.heading(l)]
	if s.loaded && (w == nil || !w.Settings.Enabled || w.arming != Armed) {
		s.conclude(ctx, l, journal.LeaseFailed, l.Note+"; it is not tried again, because the task is gone, not enabled or not armed", journal.Turn{})
		return false
	}
	if w != nil { // the person may have mended it
		l.Text, l.Skill = w.Text(), w.Settings.Skill
	}
	l.At = now
	s.start(ctx, l)
	return true
}

// start has the event of a lease accepted, or its turn answered again.
func (s *Sensor) start(ctx context.Context, l *journal.Lease) {
	turn, err := s.config.Turns.TurnOfEvent(ctx, l.Event())
	switch {
	case err == nil && turn.State.Final():
		err = s.config.Retry(ctx, turn)
	case err != nil && protocol.ErrorCode(err) == protocol.CodeNotFound:
		turn = journal.Turn{}
		_, err = s.take(ctx, s.event(l))
	}
	switch {
	case ctx.Err() != nil: // the next kernel goes on
		return
	case err != nil:
		s.config.Logger.Warn("a task does not begin", "task", l.Title, "attempt", l.Attempt, "err", err)
		s.failed(ctx, l, err.Error(), turn)
		return
	}
	s.config.Logger.Info("a task begins", "task", l.Title, "planned", l.Planned, "attempt", l.Attempt, "session", l.Session)
	l.State = journal.LeaseRunning
	s.keep(ctx, l)
}

// event returns the event by which a task begins.
func (s *Sensor) event(l *journal.Lease) protocol.Event {
	event := protocol.Event{
		ID: l.Event(), Session: l.Session, Sensor: protocol.SensorTask, Route: protocol.Route{Kind: protocol.RouteTask}, Text: l.Text, Level: 1, Stamp: s.config.Now(),
	}
	if l.Skill != "" {
		event.Properties = []protocol.Property{{Name: protocol.SettingSkill, Value: l.Skill}}
	}
	return event
}

// keep records a lease.
func (s *Sensor) keep(ctx context.Context, l *journal.Lease) {
	if err := s.config.Leases.SetLease(ctx, *l); err != nil && ctx.Err() == nil {
		s.config.Logger.Error("what became of a task is not recorded", "task", l.Title, "err", err)
	}
}

// takeEnded takes the turns that have ended.
func (s *Sensor) takeEnded(ctx context.Context) {
	s.mu.Lock()
	ended := s.ended
	s.ended = nil
	s.mu.Unlock()
	for _, turn := range ended {
		for _, l := range s.open {
			// While it is to be tried again, a person may have had it answered.
			if l.Event() == turn.Event && (l.State == journal.LeaseTaken || l.State == journal.LeaseRunning || l.State == journal.LeaseRetry && turn.State == protocol.TurnAnswered) {
				s.concluded(ctx, l, turn)
			}
		}
	}
}

// concluded records the end of the turn of an attempt.
func (s *Sensor) concluded(ctx context.Context, l *journal.Lease, turn journal.Turn) {
	switch turn.State {
	case protocol.TurnAnswered:
		s.conclude(ctx, l, journal.LeaseDone, "", turn)
	case protocol.TurnCancelled:
		note := turn.Notice
		if note == "" {
			note = "it was stopped"
		}
		s.conclude(ctx, l, journal.LeaseFailed, note, turn)
	case protocol.TurnInterrupted:
		if turn.Attempt <= interruptions {
			l.State, l.At = journal.LeaseRetry, s.config.Now()
			s.keep(ctx, l)
			return
		}
		s.conclude(ctx, l, journal.LeaseFailed, turn.Notice, turn)
	default:
		s.failed(ctx, l, turn.Notice, turn)
	}
}

// failed has an attempt tried again, or records that the task has failed.
func (s *Sensor) failed(ctx context.Context, l *journal.Lease, note string, turn journal.Turn) {
	if l.Attempt > l.Retries {
		s.conclude(ctx, l, journal.LeaseFailed, note, turn)
		return
	}
	l.At = s.config.Now().Add(task.Settings{Backoff: l.Backoff}.Pause(l.Attempt))
	l.Attempt++
	l.State, l.Note = journal.LeaseRetry, note
	s.keep(ctx, l)
}

// conclude records the end of a lease.
func (s *Sensor) conclude(ctx context.Context, l *journal.Lease, state journal.LeaseState, note string, turn journal.Turn) {
	l.State, l.Note, l.At = state, note, s.config.Now()
	s.keep(ctx, l)
	s.config.Logger.Info("a task has ended", "task", l.Title, "planned", l.Planned, "state", state, "turn", turn.ID)
}

// sessionName returns the name of the conversation of one planned time.
func sessionName(title string, planned time.Time, event string) string {
	const titleLimit = 40
	var b strings.Builder
	count := 0
	for _, r := range title {
		if count == titleLimit {
			break
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _-", r) {
			r = ' '
		}
		b.WriteRune(r)
		count++
	}
	name := strings.Join(strings.Fields(b.String()), " ")
	if name == "" {
		name = "Task"
	}
	clock := "2006-01-02 1504"
	if planned.Second() != 0 {
		clock += "05"
	}
	parts := strings.Split(event, "-")
	return name + " " + planned.Format(clock) + " " + parts[1][:4]
}
