package heartbeat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// found is what there is to do, as far as it is known without a model.
type found struct {
	checklist
	events  []journal.QueuedEvent
	reasons []string // of the checks of notes
}

// inspect looks for what there is to do.
func (s *Sensor) inspect(ctx context.Context, now time.Time) (f found, err error) {
	_, text := s.config.Checklist()
	f.checklist = readChecklist(text, now.In(s.settings.Zone))
	if f.events, err = s.config.Queue.Waiting(ctx); err != nil {
		return f, err
	}
	if s.config.HasChecks() {
		f.reasons = s.config.Checks(ctx, sexp.List{plist.Keyword("type"), plist.Keyword("event"), plist.Keyword("payload"), sexp.List{
			plist.Keyword("sensor"), plist.Keyword(protocol.SensorHeartbeat), plist.Keyword("unix-time"), plist.Int(now.Unix()),
		}})
	}
	return f, nil
}

// why returns the reasons to ask a model, none if there is nothing to do.
func (f found) why() (why []string) {
	add := func(n int, what string) {
		if n > 0 {
			why = append(why, text.Count(n, what))
		}
	}
	add(f.open, "checklist item")
	add(len(f.due), "due item")
	add(len(f.events), "event")
	add(len(f.reasons), "check")
	return why
}

// beat looks for what there is to do at a planned time, and reports an event if there is anything, or if a skill is for every
// heartbeat. It returns false if the journal failed before that.
func (s *Sensor) beat(ctx context.Context, planned time.Time) bool {
	now := s.config.Now()
	if s.open != nil {
		s.leaveOut(ctx, now)
		return true
	}
	f := found{}
	if s.on() {
		var err error
		if f, err = s.inspect(ctx, now); err != nil {
			s.warn(ctx, "a heartbeat is left out", err)
			return false
		}
	}
	why := f.why()
	unasked := len(why) > 0 && !s.config.HasModel()
	if unasked { // what there is waits, and only skills that are for every heartbeat see it
		f = found{}
	}
	lease := journal.Lease{
		Task: journal.HeartbeatTask, Planned: planned, Covered: planned, Title: Title, Session: Session, State: journal.LeaseTaken, Attempt: 1, At: now,
	}
	if n := len(f.events); n > 0 {
		lease.Through = f.events[n-1].Seq
	}
	event := s.event(ctx, lease, f, now)
	lease.Text = event.Text
	if !s.config.Matches(ctx, event) {
		s.note(now, unmatched(why, unasked))
		return true
	}
	lease, err := s.config.Leases.Lease(ctx, lease)
	switch {
	case protocol.ErrorCode(err) == protocol.CodeConflict: // it was at that time
		return true
	case err != nil:
		s.warn(ctx, "a heartbeat is left out", err)
		return false
	}
	s.open = &lease
	note := "asked no model, and a skill looked"
	if len(why) > 0 && !unasked {
		note = "asked about " + strings.Join(why, ", ")
	}
	if s.leftOut > 0 {
		note += fmt.Sprintf(", also for %d that were left out", s.leftOut)
	}
	s.note(now, note)
	_, err = s.take(ctx, event)
	switch {
	case ctx.Err() != nil: // the next kernel goes on
	case err != nil:
		s.end(ctx, journal.LeaseFailed, err.Error())
	default:
		lease.State = journal.LeaseRunning
		s.keep(ctx)
	}
	return true
}

// leaveOut notes that a beat does not begin because the open one has not ended. If that waits for a person it is counted.
func (s *Sensor) leaveOut(ctx context.Context, now time.Time) {
	turns, err := s.turns(ctx)
	if err != nil {
		s.warn(ctx, "the turns of a heartbeat are not found", err)
	}
	if !slices.ContainsFunc(turns, func(turn journal.Turn) bool { return turn.State == protocol.TurnWaiting }) {
		s.note(now, "left out: the last one is still at work")
		return
	}
	s.leftOut++
	s.remind = true
	s.note(now, fmt.Sprintf("left out, %d so far: the last one waits for you in the conversation %s", s.leftOut, Session))
}

// tellWaiting begins to tell the person, once for each beat, that it waits for them and no other begins.
func (s *Sensor) tellWaiting(ctx context.Context, goroutines *sync.WaitGroup) {
	if !s.remind || s.open == nil {
		return
	}
	s.remind = false
	news := News{ID: s.open.Event() + "+waits", Session: s.open.Session, Text: fmt.Sprintf(
		"A heartbeat waits for you in the conversation %s since %s, and no other begins before you have answered: M-x org-agent-approvals.", Session, s.open.Planned.In(s.settings.Zone).Format("15:04"))}
	goroutines.Go(func() {
		if err := s.config.Tell(ctx, news); err != nil {
			s.warn(ctx, "that a heartbeat waits is not told, and is tried again with the next one", err)
		}
	})
}

// unmatched says why a beat was for nobody.
func unmatched(why []string, unasked bool) string {
	switch {
	case unasked:
		return "there is no model to ask about " + strings.Join(why, ", ")
	case len(why) > 0:
		return "no skill asks about " + strings.Join(why, ", ")
	}
	return "nothing to do"
}

// event returns the event of a beat. What comes from outside is data along with it.
func (s *Sensor) event(ctx context.Context, lease journal.Lease, f found, now time.Time) protocol.Event {
	zone := s.settings.Zone
	event := protocol.Event{
		ID: lease.Event(), Session: Session, Sensor: protocol.SensorHeartbeat, Route: protocol.Route{Kind: protocol.RouteTask}, Level: 1, Stamp: now,
		Payload: protocol.Object{{Key: "unix-time", Value: now.Unix()}}, Properties: []protocol.Property{{Name: protocol.SettingHistory, Value: "none"}},
	}
	if s.settings.Model != "" {
		event.Properties = append(event.Properties, protocol.Property{Name: protocol.SettingModel, Value: s.settings.Model})
	}
	why := f.why()
	if len(why) == 0 {
		return event
	}
	event.Payload.Set("reasons", strings.Join(why, ", "))
	var b strings.Builder
	fmt.Fprintf(&b, "Heartbeat of %s. There is: %s.\n", now.In(zone).Format("Monday 2 January 2006 15:04"), strings.Join(why, ", "))
	for _, title := range f.due {
		fmt.Fprintf(&b, "- due: %s\n", text.PlainLine(title, 200))
	}
	if last := s.lastTold(ctx); last != "" {
		fmt.Fprintf(&b, "What you told last: %s\nDo not tell it again unless something of it has changed.\n", last)
	}
	event.Text = strings.TrimSpace(b.String())
	add := func(kind, name, content string) {
		if content != "" {
			event.Context = append(event.Context, protocol.ContextItem{Kind: kind, Name: name, Text: content, Bytes: len(content)})
		}
	}
	add("events", "what happened", eventLines(f.events, zone))
	add("checks", "what checks of notes found", strings.Join(f.reasons, "\n"))
	return event
}

// eventLines returns the events, one on a line.
func eventLines(events []journal.QueuedEvent, zone *time.Location) string {
	var b strings.Builder
	dropped := 0
	for _, e := range events {
		dropped += e.Dropped
		fmt.Fprintf(&b, "%s %s", e.Time.In(zone).Format("2006-01-02 15:04"), e.Sensor)
		if e.Text != "" {
			b.WriteString(": " + text.PlainLine(e.Text, 1000))
		}
		if e.Fields != "" {
			b.WriteString(" " + text.PlainLine(e.Fields, 1000))
		}
		if e.Times > 1 {
			fmt.Fprintf(&b, " (%d times in a row)", e.Times)
		}
		b.WriteByte('\n')
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "%s dropped, because too many waited\n", text.Count(dropped, "event"))
	}
	return b.String()
}

// toldMark begins the note of a beat of which something was told.
const toldMark = "told: "

// lastTold returns what was told last, "" if that is long ago.
func (s *Sensor) lastTold(ctx context.Context) string {
	const lookedAt = 20
	beats, err := s.config.Leases.LeasesOf(ctx, journal.HeartbeatTask, lookedAt)
	if err != nil {
		s.warn(ctx, "the last beats are not read", err)
	}
	for _, l := range beats {
		if said, told := strings.CutPrefix(l.Note, toldMark); told && s.config.Now().Sub(l.At) < 24*time.Hour {
			return fmt.Sprintf("%q, at %s", said, l.At.In(s.settings.Zone).Format("15:04"))
		}
	}
	return ""
}

// keep records the open lease.
func (s *Sensor) keep(ctx context.Context) {
	if err := s.config.Leases.SetLease(ctx, *s.open); err != nil {
		s.warn(ctx, "what became of a heartbeat is not recorded", err)
	}
}

// end records the end of the beat that is at work.
func (s *Sensor) end(ctx context.Context, state journal.LeaseState, note string) {
	s.open.State, s.open.Note, s.open.At = state, note, s.config.Now()
	s.keep(ctx)
	if state == journal.LeaseFailed {
		s.note(s.open.At, "failed: "+text.PlainLine(note, 300))
	}
}

// recover goes on with the beat that the last kernel left. One that had not begun is over: what it was shown still waits.
func (s *Sensor) recover(ctx context.Context) error {
	open, err := s.config.Leases.OpenBeats(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	s.open = &open[len(open)-1]
	if s.open.State.Final() {
		return nil
	}
	turns, err := s.turns(ctx)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		s.end(ctx, journal.LeaseSkipped, "the kernel ended before it began")
	}
	return nil
}

// turns returns the turns of the open beat, one for each skill that matched.
func (s *Sensor) turns(ctx context.Context) (turns []journal.Turn, err error) {
	id := s.open.Event()
	for i := 0; ; i++ {
		event := id
		if i > 0 {
			event = fmt.Sprintf("%s+%d", id, i)
		}
		turn, err := s.config.Turns.TurnOfEvent(ctx, event)
		switch {
		case err == nil:
			turns = append(turns, turn)
		case protocol.ErrorCode(err) != protocol.CodeNotFound:
			return nil, err
		case i > 0:
			return turns, nil
		}
	}
}

// conclude records the end of the beat that is at work, when all of its turns have ended.
func (s *Sensor) conclude(ctx context.Context) {
	if s.open == nil || s.open.State.Final() {
		return
	}
	turns, err := s.turns(ctx)
	if err != nil {
		s.warn(ctx, "the turns of a heartbeat are not found", err)
		return
	}
	whole, failure := false, ""
	for _, turn := range turns {
		whole = whole || turn.Event == s.open.Event()
		switch {
		case !turn.State.Final():
			return
		case turn.State != protocol.TurnAnswered:
			failure = turn.Notice
			if failure == "" {
				failure = "its turn was " + string(turn.State)
			}
		}
	}
	switch {
	case len(turns) == 0 && s.open.State == journal.LeaseRunning: // no skill was for it any more
		s.end(ctx, journal.LeaseDone, "")
	case len(turns) == 0:
	case failure != "":
		s.end(ctx, journal.LeaseFailed, failure)
	case !whole:
		s.end(ctx, journal.LeaseSkipped, "the kernel ended while it began")
	default:
		s.end(ctx, journal.LeaseDone, "")
	}
}

// tell begins to tell what the beat that has ended answered.
func (s *Sensor) tell(ctx context.Context, goroutines *sync.WaitGroup) {
	if s.telling || s.open == nil || !s.open.State.Final() || s.again.After(s.config.Now()) {
		return
	}
	turns, err := s.turns(ctx)
	if err != nil {
		s.warn(ctx, "the turns of a heartbeat are not found", err)
		s.again = s.config.Now().Add(tellAgain)
		return
	}
	s.telling = true
	lease := *s.open
	goroutines.Go(func() {
		said, err := s.tellTurns(ctx, lease, turns)
		if err != nil {
			s.warn(ctx, "what a heartbeat answered is not told, and is tried again", err)
		}
		if lease.Settled = err == nil; said != "" && lease.State == journal.LeaseDone {
			lease.Note = toldMark + said
		}
		select {
		case s.told <- lease:
		case <-ctx.Done():
		}
	})
}

// tellTurns tells the person what turns answered, and that the beat failed if the one before did not. said is the beginning of
// what was told. The events that a beat was shown wait no more when all have answered.
func (s *Sensor) tellTurns(ctx context.Context, lease journal.Lease, turns []journal.Turn) (said string, err error) {
	for _, turn := range turns {
		if turn.State != protocol.TurnAnswered {
			continue
		}
		answer, err := s.config.Answer(ctx, turn)
		if err != nil {
			return said, err
		}
		if strings.TrimSpace(answer) == "" || isOK(answer) {
			continue
		}
		if err := s.config.Tell(ctx, News{ID: turn.Event + "+told", Session: turn.Session, Text: answer}); err != nil {
			return said, err
		}
		said = text.PlainLine(answer, 300)
	}
	switch lease.State {
	case journal.LeaseDone:
		return said, s.config.Queue.Take(ctx, lease.Through, lease.At)
	case journal.LeaseFailed:
		before, err := s.config.Leases.LeasesOf(ctx, journal.HeartbeatTask, 2)
		if err != nil || len(before) == 2 && before[1].State == journal.LeaseFailed {
			return said, err
		}
		return said, s.config.Tell(ctx, News{ID: lease.Event() + "+failed", Session: Session, Text: lease.Note, Failed: true})
	}
	return said, nil
}

// finishTelling records that everything was told, or when it is tried again.
func (s *Sensor) finishTelling(ctx context.Context, lease journal.Lease) {
	s.telling = false
	if !lease.Settled {
		s.again = s.config.Now().Add(tellAgain)
		return
	}
	if said, told := strings.CutPrefix(lease.Note, toldMark); told {
		s.note(lease.At, toldMark+said)
	} else if lease.State == journal.LeaseDone {
		s.last += ": nothing needs you"
	}
	s.again = time.Time{}
	*s.open = lease
	s.keep(ctx)
	s.open, s.remind = nil, false
	if s.leftOut == 0 {
		return
	}
	if active(s.settings, s.config.Now()) {
		s.beat(ctx, s.moment(ctx))
	}
	s.leftOut = 0
}
