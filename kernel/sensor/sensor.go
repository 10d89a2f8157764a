// Package sensor defines the sources of events that wake the agent without a message from a person.
// A [Sensor] reports events and decides nothing. The kernel treats its events as it treats
// messages: it finds the skill that answers, and judges what the skill proposes.
//
// Ownership: whoever starts a sensor runs [Sensor.Run] in its own goroutine, ends it through its
// context and waits until it has returned. Blocking: a [Take] returns when the journal has the
// event. It may wait for the disk and never waits for an answer.
package sensor

import (
	"context"

	"org-agent/kernel/protocol"
)

// Sensor is one source of events. To add one, write a file with its type and add a line to the list
// in kernel/daemon/edges.go.
type Sensor interface {
	// Name returns the sensor's name for the log and for people, in one or two words.
	Name() string
	// Run reports events until ctx ends, and returns when all of its goroutines have ended. An
	// error says why it reports no more events. The end of ctx is not an error.
	Run(ctx context.Context, take Take) error
}

// Take receives an event. When it returns nil, the journal has the event on the disk, and the event
// is answered once, even if it is taken again with the same id, session and text. An event with the
// same id and another session or text is refused. An event without a session belongs to the main
// session. An event that is not a message goes to every skill that matches; if none matches, it has
// a result without a turn.
type Take func(ctx context.Context, event protocol.Event) (protocol.EventResult, error)
