package sensor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// The limits of injected events: how many can wait, and how many are accepted in a minute. Without
// them a note that injects an event in answer to its own event would never end.
const (
	injectedWaiting = 100
	injectedMinute  = 60
)

// Injected reports the events that notes inject (inject-stimulus). Nobody waits for an answer to
// them, and their turns end with their last action. An event that is a message or a command is
// refused, because only a person can write those. Make one with [NewInjected].
type Injected struct {
	// Logger receives the events that are not accepted.
	Logger *slog.Logger
	// Now is the clock of the limit per minute. nil: time.Now.
	Now func() time.Time

	events chan protocol.Event
}

// NewInjected returns the sensor. Events that are injected before it runs wait.
func NewInjected(logger *slog.Logger) *Injected {
	return &Injected{Logger: logger, events: make(chan protocol.Event, injectedWaiting)}
}

// Name implements [Sensor].
func (*Injected) Name() string { return "notes" }

// Inject takes a note's event: a property list with a :sensor on top or under :payload. It never
// blocks. An event that is not valid or exceeds a limit is logged and dropped.
func (s *Injected) Inject(list sexp.List) {
	event, err := eventOf(list)
	if err == nil {
		select {
		case s.events <- event:
			return
		default:
			err = fmt.Errorf("%d events wait already", injectedWaiting)
		}
	}
	s.Logger.Warn("injected event dropped", "event", plist.Print(list), "err", err)
}

// CheckEvent returns an error if Inject would drop the event because of what it is.
func CheckEvent(list sexp.List) error {
	_, err := eventOf(list)
	return err
}

// eventOf parses an event as a note writes it.
func eventOf(list sexp.List) (protocol.Event, error) {
	var fields, payload protocol.Object
	if err := plist.Unmarshal(list, &fields); err != nil {
		return protocol.Event{}, fmt.Errorf("read the event: %w", err)
	}
	params := protocol.Object{}
	for _, f := range fields {
		if nested, ok := f.Value.(protocol.Object); ok && f.Key == "payload" {
			payload = nested
		} else {
			params = append(params, f)
		}
	}
	event, err := protocol.ParseEvent(append(params, payload...))
	if err != nil {
		return event, err
	}
	if !event.Broadcast() {
		return event, errors.New("a note cannot speak for a person: give the event a sensor of its own, such as :sensor :weather")
	}
	event.Route = protocol.Route{Kind: protocol.RouteNone}
	return event, nil
}

// Run implements [Sensor].
func (s *Injected) Run(ctx context.Context, take Take) error {
	now := s.Now
	if now == nil {
		now = time.Now
	}
	var began time.Time
	taken := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-s.events:
			if at := now(); at.Sub(began) >= time.Minute || at.Before(began) {
				began, taken = at, 0
			}
			if taken++; taken > injectedMinute {
				if taken == injectedMinute+1 {
					s.Logger.Warn("injected events dropped until a minute is over", "limit", injectedMinute, "sensor", event.Sensor)
				}
				continue
			}
			if _, err := take(ctx, event); err != nil && ctx.Err() == nil {
				s.Logger.Warn("injected event not taken", "sensor", event.Sensor, "err", err)
			}
		}
	}
}
