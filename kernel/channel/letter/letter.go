// Package letter shows an owner, in a private chat of theirs, what waits for them in Emacs, and takes their decision by a
// button. It does so only where a row of channels.org says so; see [access.Deciding].
//
// What it promises:
//   - A letter is whole. What is long, or has something in it that cannot be seen, gets no buttons and says to look in Emacs.
//   - A button stands for one choice about one ask. Its data are a secret of 128 bits that is made for it; only the hash is
//     kept. It counts once, for the owner and the chat of its row, as long as the row is there, the ask waits, and what is
//     asked is what the letter shows. A text that somebody writes never counts.
//   - Nothing wider than one action is allowed by a button.
//
// Ordering: letters are written in the order in which the asks began to wait. Blocking: [Letters.Wake] never waits,
// [Letters.Pressed] until the decision is in the journal. Ownership: [Letters.Run] belongs to whoever runs the channels; it
// sends, and starts no goroutine.
package letter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Config configures [Letters]. All fields are required, except where noted.
type Config struct {
	Asks  Asks
	Turns Turns
	Chats Chats
	// Drivers returns the channels that are connected.
	Drivers func() channel.Drivers
	// Rows returns the rows of channels.org as they are now.
	Rows func() []access.Deciding
	// State returns what is kept of a channel across restarts.
	State func(channel string) channel.State
	// Decide takes a person's decision as from any of their clients. client is the channel.
	Decide func(ctx context.Context, p protocol.AskDecideParams, client string) (protocol.AskDecideResult, error)
	// Tell says something in a chat, once for its id.
	Tell func(ctx context.Context, route protocol.Route, id, text string) error
	// Inbox keeps something for the owner, once for its id.
	Inbox  func(ctx context.Context, item protocol.InboxItem) error
	Now    func() time.Time // in the owner's zone
	Logger *slog.Logger
	// Pause is how long a chat is left alone to which something could not be sent that many times. The default doubles
	// from five seconds to five minutes.
	Pause func(attempts int) time.Duration
}

// Asks has what waits for a person.
type Asks interface {
	OpenAsks(ctx context.Context) ([]protocol.Ask, error)
	Ask(ctx context.Context, id string) (protocol.Ask, error)
}

// Turns has the turns that ask.
type Turns interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
}

// Chats has the chats in which somebody wrote.
type Chats interface {
	Chats(ctx context.Context) ([]journal.Chat, error)
}

// Letters writes letters, and takes the buttons below them. Make one with [New].
type Letters struct {
	config Config
	wake   chan struct{}

	mu sync.Mutex // held while what is kept of a channel changes

	// What follows belongs to the goroutine of Run.
	unsent map[place]channel.Outgoing // with their secrets, which nothing else has
	told   map[string]bool            // the turns of which their chat knows that they wait
	failed map[string]failure         // of channels
}

// place is an ask in a chat.
type place struct{ channel, chat, ask string }

// failure is how often in a row something could not be sent, and when it is tried again.
type failure struct {
	attempts int
	next     time.Time
}

// New returns letters. None is written before [Letters.Run].
func New(c Config) *Letters {
	if c.Pause == nil {
		c.Pause = func(attempts int) time.Duration { return min(5*time.Second<<min(attempts-1, 6), 5*time.Minute) }
	}
	return &Letters{config: c, wake: make(chan struct{}, 1), unsent: map[place]channel.Outgoing{}, told: map[string]bool{}, failed: map[string]failure{}}
}

// Wake has it looked what waits: something began to wait, or does not wait any more.
func (l *Letters) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

const (
	lookAgain   = 30 * time.Second // while something waits, or a letter is to be changed
	callTimeout = 20 * time.Second // for a letter
)

// Run writes letters about what waits, and changes those about what does not wait any more, until ctx ends.
func (l *Letters) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait, err := l.look(ctx)
		if err != nil && ctx.Err() == nil {
			l.config.Logger.Error("what waits is not shown in chats", "err", err)
			wait = lookAgain
		}
		l.sleep(ctx, wait)
	}
}

// sleep waits until it is woken, and not longer than a time that is not 0.
func (l *Letters) sleep(ctx context.Context, wait time.Duration) {
	var over <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-ctx.Done():
	case <-l.wake:
	case <-over:
	}
}

// look does what is to be done now. It returns when it has to look again, 0 if nothing waits.
func (l *Letters) look(ctx context.Context) (wait time.Duration, err error) {
	open, err := l.config.Asks.OpenAsks(ctx)
	if err != nil {
		return 0, err
	}
	waiting := map[string]bool{}
	for _, ask := range open {
		waiting[ask.ID] = true
		if err := l.show(ctx, ask); err != nil {
			return 0, err
		}
	}
	if len(open) > 0 {
		wait = lookAgain
	}
	for _, d := range l.config.Drivers() {
		more, err := l.settle(ctx, d, waiting)
		if err != nil {
			return 0, err
		}
		if more {
			wait = lookAgain
		}
	}
	if len(open) == 0 {
		clear(l.told)
		clear(l.unsent)
	}
	for _, f := range l.failed {
		if left := f.next.Sub(l.config.Now()); left > 0 && wait > 0 {
			wait = min(wait, left)
		}
	}
	return wait, nil
}

// show writes the letters about an ask that are not written yet. The chat of its turn is told that it waits, if it gets none.
func (l *Letters) show(ctx context.Context, ask protocol.Ask) error {
	turn, err := l.config.Turns.Turn(ctx, ask.Turn)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return nil // it ended meanwhile, and was removed
	}
	if err != nil {
		return err
	}
	route, here := turn.Question.Route, false
	for _, row := range l.config.Rows() {
		its := row.Channel == string(route.Channel) && row.Chat == route.Chat
		if !row.Covers(ask.Sort == protocol.AskQuestion) || row.From == access.FromChat && !its {
			continue
		}
		d, usable, err := l.usable(ctx, row)
		if err != nil {
			return err
		}
		if !usable {
			continue
		}
		here = here || its
		if err := l.write(ctx, d, row, ask); err != nil {
			return err
		}
	}
	if here || route.Kind != protocol.RouteChannel || l.told[turn.ID] {
		return nil
	}
	if err := l.config.Tell(ctx, route, "waits-"+turn.ID, "This waits: it is to be decided in Emacs."); err != nil {
		l.config.Logger.Info("a chat is not told that its turn waits", "turn", turn.ID, "err", err)
		return nil // it is not connected; it is looked again
	}
	l.told[turn.ID] = true
	return nil
}

// usable returns the channel of a row if letters with buttons can be written there. The chat has to be known, by what was
// written in it, as one that nobody else reads.
func (l *Letters) usable(ctx context.Context, row access.Deciding) (d channel.Driver, usable bool, err error) {
	d, connected := l.config.Drivers().Find(row.Channel)
	if !connected || !d.Capabilities().Buttons {
		return nil, false, nil
	}
	chats, err := l.config.Chats.Chats(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, c := range chats {
		if c.Channel == row.Channel && c.Chat == row.Chat {
			return d, !c.Shared, nil
		}
	}
	return nil, false, nil
}

// write writes a letter, unless the chat has it.
func (l *Letters) write(ctx context.Context, d channel.Driver, row access.Deciding, ask protocol.Ask) error {
	if l.config.Now().Before(l.failed[d.Name()].next) {
		return nil
	}
	at := place{d.Name(), row.Chat, ask.ID}
	out, err := l.prepare(ctx, d, row, ask, at)
	if err != nil || out.ID == "" {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	id, err := d.Send(limited, out)
	if err != nil && !l.given(ctx, d, err) {
		return nil
	}
	delete(l.unsent, at)
	delete(l.failed, d.Name())
	if err == nil {
		l.config.Logger.Info("letter", "channel", at.channel, "chat", at.chat, "ask", at.ask, "buttons", len(out.Buttons))
	}
	return l.change(context.WithoutCancel(ctx), d.Name(), func(s *state) {
		if kept := s.find(at.chat, at.ask); kept != nil {
			kept.Message, kept.Sent = id, true
		}
	})
}

// given reports whether nothing is to be tried again after an error of a driver, and counts it if it is.
func (l *Letters) given(ctx context.Context, d channel.Driver, err error) (up bool) {
	if ctx.Err() != nil {
		return false
	}
	l.config.Logger.Warn("a letter does not reach its chat", "channel", d.Name(), "err", err)
	f, known := errors.AsType[*channel.Failure](err)
	if known && f.Class == channel.Refused {
		return true
	}
	attempts := l.failed[d.Name()].attempts + 1
	pause := l.config.Pause(attempts)
	if known {
		pause = max(pause, f.RetryAfter)
	}
	l.failed[d.Name()] = failure{attempts, l.config.Now().Add(pause)}
	return false
}

// prepare returns the letter about an ask to a chat, which is kept before it is sent. Its ID is "" if the chat has it.
func (l *Letters) prepare(ctx context.Context, d channel.Driver, row access.Deciding, ask protocol.Ask, at place) (out channel.Outgoing, err error) {
	err = l.change(ctx, d.Name(), func(s *state) {
		kept := s.find(at.chat, at.ask)
		if kept != nil && kept.Sent {
			return
		}
		if unsent, there := l.unsent[at]; there && kept != nil {
			out = unsent
			return
		}
		// It was never written, or the last kernel ended before it was sent: nobody has its secrets.
		text, choices := compose(ask, d.Capabilities().TextLimit)
		fresh := letterState{Ask: at.ask, Of: subject(ask), Owner: row.Owner, Chat: at.chat}
		out = channel.Outgoing{ID: "letter-" + strings.ToLower(newSecret()), Chat: at.chat, Text: rich.Plain(text)}
		for _, c := range choices {
			secret := newSecret()
			fresh.Choices = append(fresh.Choices, choiceState{Hash: hashOf(at.channel, secret), Decision: c.decision, Answers: c.answers})
			out.Buttons = append(out.Buttons, []channel.Button{{Label: c.label, Data: secret}})
		}
		s.put(fresh)
		l.unsent[at] = out
	})
	if err != nil {
		delete(l.unsent, at)
	}
	return out, err
}

// settle changes the letters of a channel about what does not wait any more: they say what was decided. It reports whether
// there are more.
func (l *Letters) settle(ctx context.Context, d channel.Driver, waiting map[string]bool) (more bool, err error) {
	if l.config.Now().Before(l.failed[d.Name()].next) {
		return true, nil
	}
	l.mu.Lock()
	s, err := l.load(ctx, d.Name())
	l.mu.Unlock()
	if err != nil {
		return false, err
	}
	for _, kept := range s.Letters {
		if kept.Settled || waiting[kept.Ask] {
			continue
		}
		ask, err := l.config.Asks.Ask(ctx, kept.Ask)
		if err != nil && protocol.ErrorCode(err) != protocol.CodeNotFound {
			return false, err
		}
		if err == nil && ask.Waits() {
			more = true // it began to wait since
			continue
		}
		if !l.edit(ctx, d, kept, ask) {
			return true, nil
		}
		if err := l.change(context.WithoutCancel(ctx), d.Name(), func(s *state) {
			if now := s.find(kept.Chat, kept.Ask); now != nil {
				now.Settled = true
			}
		}); err != nil {
			return false, err
		}
	}
	return more, nil
}

// edit has a letter say what was decided, and reports whether that is done with.
func (l *Letters) edit(ctx context.Context, d channel.Driver, kept letterState, ask protocol.Ask) (done bool) {
	editor, can := d.(channel.Editor)
	if !can || kept.Message == "" {
		return true
	}
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := editor.Edit(limited, kept.Chat, kept.Message, rich.Plain(decided(ask, l.config.Now().Location()))); err != nil {
		return l.given(ctx, d, err)
	}
	delete(l.failed, d.Name())
	return true
}

// change changes what is kept of a channel.
func (l *Letters) change(ctx context.Context, name string, change func(*state)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.load(ctx, name)
	if err != nil {
		return err
	}
	change(&s)
	return l.store(ctx, name, s)
}

func (l *Letters) load(ctx context.Context, name string) (s state, err error) {
	if s, err = readState(ctx, l.config.State(name)); err != nil {
		return s, fmt.Errorf("load the letters of %s: %w", name, err)
	}
	s.forget(l.config.Now())
	return s, nil
}

func (l *Letters) store(ctx context.Context, name string, s state) error {
	if err := s.write(ctx, l.config.State(name)); err != nil {
		return fmt.Errorf("keep the letters of %s: %w", name, err)
	}
	return nil
}
