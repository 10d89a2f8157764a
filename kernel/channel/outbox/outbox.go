// Package outbox sends the agent's messages to the chats of channels. What is to be sent is in the journal before anything
// is sent, so that nothing is lost, whatever ends when.
//
// Ordering: the messages of a chat are sent in the order in which they were queued, one after the other. Different chats do
// not wait for each other. Blocking: queueing waits for the journal alone. Ownership: [Outbox.Run] belongs to whoever opens
// a channel; its goroutines have ended when it returns.
//
// A message appears once. If the kernel ends while one is being sent, a channel that knows messages by their ids gets it
// again; on any other it is not known whether it arrived, it is not sent again, and the owner is told.
//
// A chat may have a draft, the beginning of an answer. The answer takes its place: the draft is edited, or deleted if it
// cannot be edited or if something was sent below it.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
)

// Config configures an [Outbox]. Store, Tell and Logger are required.
type Config struct {
	Store Store
	// Tell tells the owner that a message was not sent, or may not have been, and why. It is called once for each.
	Tell   func(ctx context.Context, m journal.Outgoing, why string) error
	Logger *slog.Logger
	// Now is the clock, by default time.Now. Pause is how long a message waits that could not be sent that many times; the
	// default doubles from a second to five minutes.
	Now   func() time.Time
	Pause func(attempts int) time.Duration
}

// Store holds what is to be sent.
type Store interface {
	Queue(ctx context.Context, messages ...journal.Outgoing) error
	Open(ctx context.Context, channel string) ([]journal.Outgoing, error)
	Of(ctx context.Context, act string) ([]journal.Outgoing, error)
	OfTurn(ctx context.Context, turn string) ([]journal.Outgoing, error)
	Set(ctx context.Context, m journal.Outgoing, text string, fields journal.ChatFields, at time.Time) error
}

const (
	atOnce      = 4                // chats of a channel to which something is sent at once
	sendTimeout = 5 * time.Minute  // for a message, with its file
	grace       = 5 * time.Second  // for a message that is being sent when the kernel stops
	keptTrying  = 72 * time.Hour   // and then it has failed
	storePause  = 5 * time.Second  // before the journal is asked again
	unused      = 10 * time.Minute // before the account of a channel is tried again that cannot be used
)

// Outbox sends messages. Make one with [New].
type Outbox struct {
	config Config

	mu      sync.Mutex
	changed chan struct{} // closed at each change
}

// New returns an outbox.
func New(c Config) *Outbox {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause == nil {
		c.Pause = pause
	}
	return &Outbox{config: c, changed: make(chan struct{})}
}

func pause(attempts int) time.Duration {
	longest := min(time.Second<<min(attempts-1, 9), 5*time.Minute)
	return longest/2 + rand.N(longest/2)
}

// Queue has messages sent. It returns when the journal has them.
func (o *Outbox) Queue(ctx context.Context, messages []journal.Outgoing) error {
	if err := o.config.Store.Queue(ctx, messages...); err != nil {
		return fmt.Errorf("queue a message: %w", err)
	}
	o.Wake()
	return nil
}

// Wake has the outbox look for messages that were queued with an act.
func (o *Outbox) Wake() {
	o.mu.Lock()
	close(o.changed)
	o.changed = make(chan struct{})
	o.mu.Unlock()
}

// next returns a channel that is closed at the next change.
func (o *Outbox) next() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.changed
}

// Await waits until it is known what became of the messages of an act, or until ctx ends, and returns them as they are then.
func (o *Outbox) Await(ctx context.Context, act string) ([]journal.Outgoing, error) {
	for {
		changed := o.next()
		messages, err := o.config.Store.Of(context.WithoutCancel(ctx), act)
		if err != nil || settled(messages) {
			return messages, err
		}
		select {
		case <-ctx.Done():
			return messages, nil
		case <-changed:
		}
	}
}

func settled(messages []journal.Outgoing) bool {
	for _, m := range messages {
		if m.State == journal.OutgoingWaiting || m.State == journal.OutgoingSending {
			return false
		}
	}
	return true
}

// Run sends the messages of a driver's channel until ctx ends. A message that is being sent then is sent to its end or
// until the driver gives up.
func (o *Outbox) Run(ctx context.Context, d channel.Driver) {
	l := lane{outbox: o, driver: d, busy: map[string]bool{}, done: make(chan string)}
	defer func() {
		for len(l.busy) > 0 {
			delete(l.busy, <-l.done)
		}
	}()
	for first := true; ctx.Err() == nil; {
		changed := o.next()
		wait, err := l.start(ctx, first)
		if err != nil {
			o.config.Logger.Error("it is not known what is to be sent", "channel", d.Name(), "err", err)
			wait = storePause
		} else {
			first = false
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case chat := <-l.done:
			delete(l.busy, chat)
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// lane is the sending of one channel's messages. It belongs to the goroutine of [Outbox.Run].
type lane struct {
	outbox *Outbox
	driver channel.Driver
	busy   map[string]bool // the chats to which something is sent
	done   chan string     // they are not any more
}

// start begins to send what can be sent now, and returns after how long there is more.
func (l *lane) start(ctx context.Context, first bool) (wait time.Duration, err error) {
	open, err := l.outbox.config.Store.Open(ctx, l.driver.Name())
	if err != nil {
		return 0, err
	}
	if first && l.interrupted(open) {
		return 0, l.settle(ctx, open)
	}
	wait, now := time.Hour, l.outbox.config.Now()
	for _, m := range open {
		if l.busy[m.Chat] || len(l.busy) >= atOnce {
			continue
		}
		if left := m.Next.Sub(now); left > 0 {
			wait = min(wait, left)
			continue
		}
		l.busy[m.Chat] = true
		go func() {
			l.outbox.send(ctx, l.driver, m)
			l.done <- m.Chat
		}()
	}
	return wait, nil
}

// interrupted reports whether the last kernel ended while it was sending a message of which nobody knows whether it arrived.
func (l *lane) interrupted(open []journal.Outgoing) bool {
	return !l.driver.Capabilities().Idempotent && slices.ContainsFunc(open, func(m journal.Outgoing) bool { return m.State == journal.OutgoingSending })
}

// settle ends such messages.
func (l *lane) settle(ctx context.Context, open []journal.Outgoing) error {
	for _, m := range open {
		if m.State != journal.OutgoingSending {
			continue
		}
		if err := l.outbox.end(ctx, m, journal.OutgoingUnknown, "the kernel ended while it was being sent"); err != nil {
			return err
		}
	}
	return nil
}

// send sends a message, and records what became of it. When it returns, the journal knows.
func (o *Outbox) send(ctx context.Context, d channel.Driver, m journal.Outgoing) {
	m.Attempts++
	record := context.WithoutCancel(ctx)
	if err := o.try(ctx, record, d, m); err != nil {
		o.config.Logger.Error("it is not recorded what became of a message", "channel", m.Channel, "chat", m.Chat, "message", m.ID, "err", err)
		sleep(ctx, storePause)
	}
	o.Wake()
}

func (o *Outbox) try(ctx, record context.Context, d channel.Driver, m journal.Outgoing) error {
	out, fields, err := read(m)
	if err != nil {
		return o.end(record, m, journal.OutgoingFailed, err.Error())
	}
	draft, err := o.draftOf(record, m)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(record, sendTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { sleep(limited, grace); cancel() })
	defer stop()
	if done, err := replace(limited, d, draft, &m, out); err != nil {
		return o.failed(record, d, m, err)
	} else if done {
		m.State, m.Failure = journal.OutgoingSent, ""
		return o.config.Store.Set(record, m, out.Text.Plain, fields, o.config.Now())
	}
	if !d.Capabilities().Idempotent {
		m.State = journal.OutgoingSending
		if err := o.config.Store.Set(record, m, "", fields, o.config.Now()); err != nil {
			return err
		}
	}
	id, err := d.Send(limited, out)
	if err != nil && limited.Err() != nil {
		err = cut(err)
	}
	if err == nil {
		m.State, m.Sent, m.Failure = journal.OutgoingSent, id, ""
		return o.config.Store.Set(record, m, out.Text.Plain, fields, o.config.Now())
	}
	return o.failed(record, d, m, err)
}

// cut returns the error of a message whose sending was cut off. Unless the driver knows better, it may have been sent.
func cut(err error) error {
	if _, ok := errors.AsType[*channel.Failure](err); ok {
		return err
	}
	return &channel.Failure{Class: channel.Unknown, Err: err}
}

// failed records that a message could not be sent.
func (o *Outbox) failed(ctx context.Context, d channel.Driver, m journal.Outgoing, err error) error {
	failure, ok := errors.AsType[*channel.Failure](err)
	if !ok {
		failure = &channel.Failure{Class: channel.Temporary, Err: err}
	}
	o.config.Logger.Warn("a message is not sent", "channel", m.Channel, "chat", m.Chat, "message", m.ID, "class", failure.Class, "attempt", m.Attempts, "err", err)
	now := o.config.Now()
	wait := max(failure.RetryAfter, o.config.Pause(m.Attempts))
	switch {
	case failure.Class == channel.Refused, failure.Class != channel.Unknown && IsDraft(m): // the answer follows a draft, and tries longer
		return o.end(ctx, m, journal.OutgoingFailed, err.Error())
	case failure.Class == channel.Unknown && !d.Capabilities().Idempotent:
		return o.end(ctx, m, journal.OutgoingUnknown, err.Error())
	case now.Sub(m.Queued) > keptTrying:
		return o.end(ctx, m, journal.OutgoingFailed, fmt.Sprintf("it was tried for %d hours: %v", int(keptTrying.Hours()), err))
	case failure.Class == channel.Unauthorized:
		wait = max(wait, unused)
	}
	m.State, m.Failure, m.Next = journal.OutgoingWaiting, err.Error(), now.Add(wait)
	return o.config.Store.Set(ctx, m, "", journal.ChatFields{}, now)
}

// end records that a message will not be sent, and tells the owner.
func (o *Outbox) end(ctx context.Context, m journal.Outgoing, state journal.OutgoingState, why string) error {
	m.State, m.Failure = state, why
	if !IsDraft(m) {
		if err := o.config.Tell(ctx, m, why); err != nil { // before it is recorded, so that a kernel that ends here tells it again, for the same message
			return fmt.Errorf("tell the owner: %w", err)
		}
	}
	return o.config.Store.Set(ctx, m, "", journal.ChatFields{}, o.config.Now())
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
