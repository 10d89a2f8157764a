// Package stream shows in chats the beginning of an answer while it is being written, in one message that is edited. It is
// for chats in which an edited message shows its new text alone. In the others, the answer comes as a whole.
//
// What is shown is what the conversation shows as a preview, which is verified. The message is a draft in the outbox's
// journal, so that the answer, or the notice that there is none, takes its place, also after a restart: see
// [outbox.Post.Compose].
//
// Ordering: the draft is sent in its turn among the messages of its chat, and the answer replaces it after [Stream.Stop].
// Blocking: [Stream.Preview] and [Stream.Streams] never wait; [Stream.Stop] waits for a request that is under way, at
// most some seconds. Ownership: [Stream.Run] owns the goroutines, one for each answer that is being written, and whoever
// starts it waits for it.
package stream

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

const (
	firstWait   = 1500 * time.Millisecond // after the first text, before it is shown
	firstLength = 200                     // UTF-16 units that are shown at once
	between     = 3 * time.Second         // edits of a message: twenty a minute are what groups take
	asking      = 10 * time.Second        // for one edit
	grace       = 2 * time.Second         // for an edit that is under way when the answer is complete
)

// Config configures a [Stream]. All fields are required.
type Config struct {
	// Find returns the driver of a channel.
	Find   func(name string) (channel.Driver, bool)
	Outbox Outbox
	Store  outbox.TurnStore
	Now    func() time.Time
	Logger *slog.Logger
}

// Outbox sends the drafts.
type Outbox interface {
	Queue(ctx context.Context, messages []journal.Outgoing) error
	Await(ctx context.Context, act string) ([]journal.Outgoing, error)
}

// Stream shows answers that are being written. It is safe for many goroutines. Make one with [New].
type Stream struct {
	config Config

	mu     sync.Mutex
	ctx    context.Context // of Run, nil while it does not run
	group  sync.WaitGroup
	drafts map[string]*draft // by turn
}

// New returns a stream. It shows nothing before [Stream.Run].
func New(c Config) *Stream { return &Stream{config: c, drafts: map[string]*draft{}} }

// Run shows what is written until ctx ends, and returns when nothing is being sent any more.
func (s *Stream) Run(ctx context.Context) {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.ctx = nil
	s.mu.Unlock()
	s.group.Wait()
}

// Streams reports whether the chat of a route shows answers while they are written.
func (s *Stream) Streams(route protocol.Route) bool {
	_, _, ok := s.editor(route)
	return ok
}

// editor returns the driver of a route's chat, with which its messages are edited.
func (s *Stream) editor(route protocol.Route) (channel.Driver, channel.Editor, bool) {
	if route.Kind != protocol.RouteChannel {
		return nil, nil, false
	}
	d, ok := s.config.Find(string(route.Channel))
	if !ok || !d.Capabilities().Edits {
		return nil, nil, false
	}
	editor, ok := d.(channel.Editor)
	return d, editor, ok
}

// Preview shows the text of an act so far in the chat of a route, "" for one that is retracted. The act has the ID that the
// answer will have.
func (s *Stream) Preview(route protocol.Route, act journal.Act, text string) {
	driver, editor, ok := s.editor(route)
	if !ok || act.Turn == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.drafts[act.Turn]
	if d == nil {
		if s.ctx == nil || s.ctx.Err() != nil || text == "" {
			return
		}
		d = &draft{stream: s, driver: driver, editor: editor, chat: route.Chat, act: act, changed: make(chan struct{}, 1), ended: make(chan struct{})}
		var ctx context.Context
		ctx, d.stop = context.WithCancel(s.ctx)
		s.drafts[act.Turn] = d
		s.group.Go(func() {
			defer close(d.ended)
			defer d.stop()
			d.write(ctx)
		})
	}
	d.set(text)
}

// Stop ends the draft of a turn. When it returns, nothing more is sent of it, and if it was queued the journal has it.
func (s *Stream) Stop(turn string) {
	s.mu.Lock()
	d := s.drafts[turn]
	delete(s.drafts, turn)
	s.mu.Unlock()
	if d != nil {
		d.stop()
		<-d.ended
	}
}

// draft is the message of an answer that is being written.
type draft struct {
	stream  *Stream
	driver  channel.Driver
	editor  channel.Editor
	chat    string
	act     journal.Act
	stop    context.CancelFunc
	changed chan struct{}
	ended   chan struct{}

	mu   sync.Mutex
	text string
}

func (d *draft) set(text string) {
	d.mu.Lock()
	d.text = text
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// now returns what is to be shown now.
func (d *draft) now() (text rich.Text, begun bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return beginning(d.text, d.driver.Capabilities().TextLimit)
}

// write sends the message and edits it until ctx ends.
func (d *draft) write(ctx context.Context) {
	shown, ok := d.first(ctx)
	if !ok {
		return
	}
	id, fresh, ok := d.queue(ctx, shown)
	if !ok {
		return
	}
	if !fresh {
		shown = rich.Text{}
	}
	for sleep(ctx, between) {
		text, ok := d.other(ctx, shown)
		if !ok {
			return
		}
		err := d.edit(ctx, id, text)
		if err == nil {
			shown = text
			continue
		}
		d.stream.config.Logger.Debug("a draft is not edited", "channel", d.driver.Name(), "chat", d.chat, "err", err)
		failure, classified := errors.AsType[*channel.Failure](err)
		if classified && (failure.Class == channel.Refused || failure.Class == channel.Unauthorized || !sleep(ctx, failure.RetryAfter)) {
			return
		}
	}
}

// other waits until something else than what is shown is to be shown.
func (d *draft) other(ctx context.Context, shown rich.Text) (rich.Text, bool) {
	for {
		if text, _ := d.now(); text.Plain != shown.Plain || !slices.Equal(text.Spans, shown.Spans) {
			return text, true
		}
		select {
		case <-ctx.Done():
			return rich.Text{}, false
		case <-d.changed:
		}
	}
}

// first waits until there is enough to be shown.
func (d *draft) first(ctx context.Context) (rich.Text, bool) {
	timer := time.NewTimer(firstWait)
	defer timer.Stop()
	for late := false; ; {
		select {
		case <-ctx.Done():
			return rich.Text{}, false
		case <-timer.C:
			late = true
		case <-d.changed:
		}
		if text, begun := d.now(); begun && (late || text.Length() >= firstLength) {
			return text, true
		}
	}
}

// queue sends the message through the outbox, and returns the id that the chat gave to it. A message that stands there from
// before a restart is taken up, and is not fresh. None is sent if the turn had one that was replaced.
func (d *draft) queue(ctx context.Context, text rich.Text) (id string, fresh, ok bool) {
	c, name := d.stream.config, d.driver.Name()
	sent, err := c.Store.OfTurn(ctx, d.act.Turn)
	var message journal.Outgoing
	var stands bool
	if err == nil && slices.ContainsFunc(sent, outbox.IsDraft) {
		if message, _, stands = outbox.Standing(sent, name, d.chat); !stands {
			return "", false, false
		}
	}
	if err == nil && !stands {
		message, err = outbox.Draft(name, outbox.Message{Act: d.act.ID, Turn: d.act.Turn, Session: d.act.Session, Chat: d.chat, Text: text}, c.Now())
	}
	if err == nil && !stands {
		err = c.Outbox.Queue(context.WithoutCancel(ctx), []journal.Outgoing{message})
	}
	if err == nil {
		sent, err = c.Outbox.Await(ctx, message.Act)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.Logger.Warn("an answer is not shown while it is written", "channel", name, "chat", d.chat, "err", err)
		}
		return "", false, false
	}
	for _, m := range sent {
		if m.ID == message.ID {
			return m.Sent, !stands, m.Sent != ""
		}
	}
	return "", false, false
}

// edit changes the message. An edit that is under way when ctx ends has a moment to end.
func (d *draft) edit(ctx context.Context, id string, text rich.Text) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), asking)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { sleep(limited, grace); cancel() })
	defer stop()
	return d.editor.Edit(limited, d.chat, id, text)
}

// sleep waits, and reports whether ctx goes on.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err() == nil
}
