// Package typing shows in chats that the agent is writing, while a message of theirs is being answered.
//
// Ordering: none is promised. Blocking: [Indicator.Begin] and [Indicator.End] never wait. Ownership: [Indicator.Run] owns
// all that is shown, and whoever starts it waits for it. What a chat shows ends by itself soon after it is not renewed.
package typing

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"org-agent/kernel/channel"
)

const (
	renewal = 4 * time.Second // chats show it for five seconds, or longer
	longest = 5 * time.Minute // for one message: it may wait for a person for days
	asking  = 3 * time.Second // for one request
)

// Indicator shows where the agent is writing. Make one with [New].
type Indicator struct {
	find   func(name string) (channel.Driver, bool)
	logger *slog.Logger

	changed chan struct{}
	mu      sync.Mutex
	writing map[string]place // by the id of the message's event
}

// place is where the agent is writing.
type place struct {
	channel, chat string
	since         time.Time
}

// New returns an indicator over the drivers that find returns.
func New(find func(name string) (channel.Driver, bool), logger *slog.Logger) *Indicator {
	return &Indicator{find: find, logger: logger, changed: make(chan struct{}, 1), writing: map[string]place{}}
}

// Begin shows in a chat that an event is being answered. It is called before the event is taken.
func (i *Indicator) Begin(event, name, chat string) {
	i.mu.Lock()
	i.writing[event] = place{name, chat, time.Now()}
	i.mu.Unlock()
	select {
	case i.changed <- struct{}{}:
	default:
	}
}

// End ends what Begin began. An unknown event does nothing.
func (i *Indicator) End(event string) {
	i.mu.Lock()
	delete(i.writing, event)
	i.mu.Unlock()
}

// Run shows it until ctx ends.
func (i *Indicator) Run(ctx context.Context) {
	var shown time.Time
	for ctx.Err() == nil {
		var again <-chan time.Time
		if places := i.places(); len(places) > 0 {
			again = time.After(renewal)
			for _, p := range places {
				i.show(ctx, p)
			}
			shown = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-again:
		case <-i.changed:
			// Many messages at once are no reason to ask the chats without a pause.
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(shown.Add(time.Second / 2))):
			}
		}
	}
}

// places returns where the agent is writing, each chat once.
func (i *Indicator) places() []place {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []place
	seen := map[[2]string]bool{}
	for event, p := range i.writing {
		if time.Since(p.since) > longest {
			delete(i.writing, event)
			continue
		}
		if key := [2]string{p.channel, p.chat}; !seen[key] {
			seen[key] = true
			all = append(all, p)
		}
	}
	return all
}

func (i *Indicator) show(ctx context.Context, p place) {
	d, ok := i.find(p.channel)
	if !ok {
		return
	}
	t, ok := d.(channel.Typist)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if err := t.Typing(ctx, p.chat, true); err != nil {
		i.logger.Debug("a chat does not show that the agent is writing", "channel", p.channel, "chat", p.chat, "err", err)
	}
}
