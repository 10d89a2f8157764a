// Package messenger sends to the chats of channels what tools say there, through the outbox.
//
// Ordering: the text and then the files, in their order, behind what waits for the same chat. Blocking: [Messenger.Send]
// waits until it is known what became of each part, at most for [Wait]; what is not sent by then is sent later. Ownership: a
// messenger starts nothing, and may be used by many goroutines.
package messenger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// Wait is how long a call waits to hear what became of what it sends.
const Wait = 20 * time.Second

// Messenger implements [tool.Messenger]. All fields are required.
type Messenger struct {
	// Drivers returns the channels that are connected.
	Drivers func() channel.Drivers
	Outbox  Outbox
	Now     func() time.Time
}

// Outbox sends messages, and tells what became of them.
type Outbox interface {
	Queue(ctx context.Context, messages []journal.Outgoing) error
	Await(ctx context.Context, act string) ([]journal.Outgoing, error)
}

// Channels implements [tool.Messenger].
func (m *Messenger) Channels() []tool.ChannelInfo {
	var all []tool.ChannelInfo
	for _, d := range m.Drivers() {
		can := d.Capabilities()
		_, reacts := d.(channel.Reactor)
		all = append(all, tool.ChannelInfo{Name: d.Name(), FileLimit: can.FileLimit, Reacts: reacts, Emoji: can.Emoji})
	}
	return all
}

// driver returns a connected channel.
func (m *Messenger) driver(name string) (channel.Driver, error) {
	for _, d := range m.Drivers() {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, protocol.ToolErrorf(protocol.ToolNotFound, "no channel %s is connected any more", name)
}

// Send implements [tool.Messenger].
func (m *Messenger) Send(ctx context.Context, out tool.Outbound) ([]tool.SentPart, error) {
	d, err := m.driver(out.To.Channel)
	if err != nil {
		return nil, err
	}
	message := outbox.Message{Act: out.ID, Turn: out.Turn, Session: out.Session, Chat: out.To.Chat, Text: rich.FromModel(out.Text), ReplyTo: out.ReplyTo}
	for _, f := range out.Files {
		message.Files = append(message.Files, outbox.File{Path: f.Path, Name: f.Name, Media: f.Media, Size: f.Size, Hash: f.Hash, Voice: f.Voice})
	}
	messages, err := outbox.Compose(d.Name(), d.Capabilities(), message, m.Now())
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, errors.New("there is nothing to send")
	}
	if err := m.Outbox.Queue(ctx, messages); err != nil {
		return nil, fmt.Errorf("keep what is to be sent: %w", err)
	}
	limited, stop := context.WithTimeout(ctx, Wait)
	defer stop()
	became, err := m.Outbox.Await(limited, out.ID)
	if err != nil {
		return nil, fmt.Errorf("ask what became of what was sent: %w", err)
	}
	return parts(became, out.Files), nil
}

// parts returns what became of the text and of each file. The messages of the files are the last ones.
func parts(messages []journal.Outgoing, files []tool.OutboundFile) []tool.SentPart {
	pieces := messages[:max(0, len(messages)-len(files))]
	var all []tool.SentPart
	if len(pieces) > 0 {
		all = append(all, part("", pieces...))
	}
	for i, of := range messages[len(pieces):] {
		all = append(all, part(files[i].Path, of))
	}
	return all
}

// part returns what became of one part, which is as bad as the worst of its messages. Its id is that of the first.
func part(file string, messages ...journal.Outgoing) tool.SentPart {
	p := tool.SentPart{File: file, State: tool.PartSent, ID: messages[0].Sent}
	for i, m := range messages {
		switch {
		case m.State == journal.OutgoingFailed || m.State == journal.OutgoingUnknown:
			p.State, p.Why = tool.PartFailed, m.Failure
			if m.State == journal.OutgoingUnknown {
				p.Why = "it may have arrived, and nobody knows: do not send it again; " + m.Failure
			}
			if i > 0 {
				p.Why = fmt.Sprintf("the first %d of %d pieces were sent, and then: %s", i, len(messages), p.Why)
			}
			return p
		case m.State != journal.OutgoingSent:
			p.State = tool.PartQueued
		}
	}
	return p
}

// React implements [tool.Messenger].
func (m *Messenger) React(ctx context.Context, to tool.Target, message, emoji string, remove bool) error {
	d, err := m.driver(to.Channel)
	if err != nil {
		return err
	}
	reactor, can := d.(channel.Reactor)
	if !can {
		return protocol.ToolErrorf(protocol.ToolUnfit, "%s has no reactions", to.Channel)
	}
	err = reactor.React(ctx, channel.Reaction{Chat: to.Chat, ID: message, Emoji: emoji, Remove: remove})
	failure, classified := errors.AsType[*channel.Failure](err)
	switch {
	case err == nil:
		return nil
	case classified && failure.Class == channel.Refused:
		return protocol.ToolErrorf(protocol.ToolRefused, "%s refuses the reaction: %w", to.Channel, err)
	}
	failed := protocol.ToolErrorf(protocol.ToolFailed, "the reaction was not made: %w", err)
	if classified && failure.Class == channel.Temporary { // making it again makes it once
		failed.Retryable, failed.After = true, failure.RetryAfter
	}
	return failed
}
