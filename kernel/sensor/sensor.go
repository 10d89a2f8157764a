// Package sensor is what wakes the agent without a person who writes to it. A [Sensor] reports
// events and decides nothing: whether a skill is for one, and what may be done about it, is
// found out where messages of people are.
//
// Ownership: whoever starts a sensor runs [Sensor.Run] in a goroutine of its own, ends it by its
// context and waits until it has returned. Blocking: a [Take] returns when the journal has the
// event, and may wait for the disk; it never waits for an answer.
package sensor

import (
	"context"

	"org-agent/kernel/protocol"
)

// Sensor is one source of events. Adding one takes a file with its type and a line in the list of
// kernel/daemon/edges.go.
type Sensor interface {
	// Name names the sensor in the log and to people, in one or two words.
	Name() string
	// Run reports events until ctx ends, and returns when nothing of it runs any more. An error
	// says why nothing is reported from now on; the end of ctx is none.
	Run(ctx context.Context, take Take) error
}

// Take takes an event. When it returns nil the journal has the event on the disk, and it will be
// answered once, also when it is taken again with the same id, session and text; the same id with
// others is refused. Without a session it is of the main one. An event that is no message is for
// every skill that matches; one that no skill matches has a result without a turn.
type Take func(ctx context.Context, event protocol.Event) (protocol.EventResult, error)
