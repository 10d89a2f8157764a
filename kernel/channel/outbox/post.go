package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Silence is what a model writes as its whole reply to say nothing.
const Silence = "NO_REPLY"

// sendWait is how long a turn waits to hear what became of a message that it sends.
const sendWait = 20 * time.Second

// Post sends what conversations say, through an outbox. It implements [channel.Post].
type Post struct {
	Outbox *Outbox
	Store  TurnStore
	// Find returns the driver of a channel.
	Find func(name string) (channel.Driver, bool)
	// Opened waits until the channels have been opened, or until ctx ends. Nil is for channels that need no time for that.
	Opened        func(ctx context.Context)
	Conversations Conversations
	// Stop ends the draft of a turn: when it returns, nothing more is sent of it, and the store has it. nil: there are none.
	Stop func(turn string)
	Now  func() time.Time
}

// TurnStore says what a turn has sent.
type TurnStore interface {
	OfTurn(ctx context.Context, turn string) ([]journal.Outgoing, error)
}

// Conversations has the conversations of the kernel.
type Conversations interface {
	Insert(ctx context.Context, session, turn, action, text string) error
}

// Connected implements [channel.Post].
func (p *Post) Connected(name string) bool {
	_, ok := p.Find(name)
	return ok
}

// find returns the driver of a channel. If there is none, it waits until all have been opened.
func (p *Post) find(ctx context.Context, name string) (channel.Driver, bool) {
	d, ok := p.Find(name)
	if ok || p.Opened == nil {
		return d, ok
	}
	p.Opened(ctx)
	return p.Find(name)
}

// Insert implements [channel.Post].
func (p *Post) Insert(ctx context.Context, session, turn, action, text string) error {
	return p.Conversations.Insert(ctx, session, turn, action, text)
}

// Compose returns the messages by which the text of an act reaches the chat of a route. None for a text that is [Silence],
// and for one that the turn has sent there already. The first one takes the place of the turn's draft, which ends.
func (p *Post) Compose(ctx context.Context, route protocol.Route, act journal.Act, said string) ([]journal.Outgoing, error) {
	d, ok := p.find(ctx, string(route.Channel))
	if !ok {
		return nil, fmt.Errorf("no channel %s is connected", route.Channel)
	}
	if p.Stop != nil && act.Turn != "" {
		p.Stop(act.Turn)
	}
	sent, err := p.Store.OfTurn(ctx, act.Turn)
	if err != nil {
		return nil, err
	}
	var messages []journal.Outgoing
	if written, ok := unsaid(said, sent, route); ok {
		messages, err = Compose(d.Name(), d.Capabilities(), Message{Act: act.ID, Turn: act.Turn, Session: act.Session, Chat: route.Chat, Text: written}, p.now())
		if err != nil {
			return nil, err
		}
	}
	if draft, below, stands := Standing(sent, d.Name(), route.Chat); stands {
		return replacing(messages, draft, below, act, p.now())
	}
	return messages, nil
}

// unsaid returns what a reply says that was not sent to the chat of a route already, false for nothing.
func unsaid(reply string, sent []journal.Outgoing, route protocol.Route) (written rich.Text, ok bool) {
	said, silent := Said(reply)
	if silent {
		return written, false
	}
	written = rich.FromModel(said)
	return written, !slices.ContainsFunc(sent, func(m journal.Outgoing) bool {
		return m.Channel == string(route.Channel) && m.Chat == route.Chat && !IsDraft(m) && normal(Text(m)) == normal(written.Plain)
	})
}

// Wake has the outbox look for what was queued with an act.
func (p *Post) Wake() { p.Outbox.Wake() }

// Tell sends a text to the chat of a route, once for its id.
func (p *Post) Tell(ctx context.Context, route protocol.Route, id, said string) error {
	messages, err := p.Compose(ctx, route, journal.Act{ID: id}, said)
	if err != nil {
		return err
	}
	return p.Outbox.Queue(ctx, messages)
}

// Send implements [channel.Post].
func (p *Post) Send(ctx context.Context, m channel.Sending) (string, error) {
	d, ok := p.find(ctx, m.Channel)
	if !ok {
		return "", fmt.Errorf("no channel %s is connected", m.Channel)
	}
	messages, err := Compose(d.Name(), d.Capabilities(), Message{
		Act: m.ID, Turn: m.Turn, Session: m.Session, Chat: m.Chat, Text: rich.FromModel(m.Text), ReplyTo: m.ReplyTo,
	}, p.now())
	if err != nil {
		return "", err
	}
	if len(messages) == 0 {
		return "", errors.New("there is nothing to send")
	}
	if err := p.Outbox.Queue(ctx, messages); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	settled, err := p.Outbox.Await(limited, m.ID)
	if err != nil {
		return "", err
	}
	return outcome(settled, m.Chat)
}

// outcome says what became of the messages of an act.
func outcome(messages []journal.Outgoing, chat string) (string, error) {
	var waiting journal.Outgoing
	for _, m := range messages {
		switch m.State {
		case journal.OutgoingFailed:
			return "", fmt.Errorf("it was not sent to %s: %s", chat, m.Failure)
		case journal.OutgoingUnknown:
			return "", fmt.Errorf("it may have been sent to %s, nobody knows: %s", chat, m.Failure)
		case journal.OutgoingWaiting, journal.OutgoingSending:
			waiting = m
		}
	}
	if waiting.ID != "" {
		said := fmt.Sprintf("it waits to be sent to %s", chat)
		if waiting.Failure != "" {
			said += ": " + waiting.Failure
		}
		return said, nil
	}
	return "it was sent to " + chat, nil
}

func (p *Post) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// Said returns what a reply says. It says nothing if it is [Silence] as a whole. The word at the beginning or at the end of
// another text is no part of what is said.
func Said(reply string) (said string, silent bool) {
	said = strings.TrimSpace(reply)
	if said == Silence {
		return "", true
	}
	if rest, ok := strings.CutPrefix(said, Silence); ok && !inWord(rest, true) {
		said = strings.TrimLeft(rest, " \t\r\n.,:;!-")
	}
	if rest, ok := strings.CutSuffix(said, Silence); ok && !inWord(rest, false) {
		said = strings.TrimRight(rest, " \t\r\n")
	}
	if strings.TrimSpace(said) == "" {
		return "", true
	}
	if said == strings.TrimSpace(reply) {
		return reply, false
	}
	return said, false
}

// inWord reports whether a word goes on at an end of a text.
func inWord(text string, atStart bool) bool {
	runes := []rune(text)
	if len(runes) == 0 {
		return false
	}
	r := runes[len(runes)-1]
	if atStart {
		r = runes[0]
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
}

// normal returns a text without the differences that nobody sees.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }
