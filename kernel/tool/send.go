package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed send.md
var sendManual string

type sendArguments struct {
	Text        string   `doc:"the text; it is sent first"`
	Attachments []string `doc:"files to send, in order; a relative name begins in the home"`
	Platform    string   `doc:"emacs, or the name of a channel (default: that of the target, or of this conversation)"`
	Target      string   `doc:"who or where: a contact's name or alias, owner for the user, the id of a chat (default: this conversation)"`
	ReplyTo     string   `doc:"the id of the message that this answers" seldom:"true"`
	Where       string   `doc:"the conversation, as it was judged" internal:"true"`
	Hashes      []string `doc:"the hashes of the attachments" internal:"true"`
}

// textLimit is the longest text that is sent at once, in characters.
const textLimit = 20_000

// message is a call of send, resolved.
type message struct {
	place
	attached []attachment
}

func (a *sendArguments) message(ctx context.Context, m Messages, by *Caller) (message, error) {
	var call message
	if a.Text = strings.TrimSpace(a.Text); a.Text == "" && len(a.Attachments) == 0 {
		return call, protocol.ToolErrorf(protocol.ToolArguments, "there is nothing to send: give a :text, :attachments, or both")
	}
	if n := utf8.RuneCountInString(a.Text); n > textLimit {
		return call, protocol.ToolErrorf(protocol.ToolTooLarge, "the text has %s characters, more than %s: attach it as a file", text.Thousands(n), text.Thousands(textLimit))
	}
	var err error
	if call.place, err = m.place(ctx, by, a.Platform, a.Target, a.Where); err != nil {
		return call, err
	}
	if call.Channel == emacsChannel && !call.same && len(a.Attachments) > 0 {
		return call, protocol.ToolErrorf(protocol.ToolUnfit, "into another conversation of Emacs only text is sent: name the files in it by their paths")
	}
	call.attached, err = m.attachments(ctx, by, a.Attachments, a.Hashes, m.fileLimit(call.place))
	return call, err
}

// changed returns the error of a file that has another content than when the call was judged.
func (c message) changed() error {
	for _, of := range c.attached {
		if of.err != nil && protocol.ToolErrorOf(of.err).Code == protocol.ToolChanged {
			return fmt.Errorf("%s: %w", of.path, of.err)
		}
	}
	return nil
}

// fileLimit returns the size of the largest file that a place takes.
func (m Messages) fileLimit(p place) int64 {
	if p.Channel == emacsChannel {
		return attachmentLimit // only a link stands there
	}
	c, err := m.channel(p.Channel)
	if err != nil {
		return 0
	}
	return c.FileLimit
}

func send(m Messages) Tool {
	return New(Definition[sendArguments]{
		Name: "send", Manual: sendManual, Private: true, Own: true, Offered: m.there,
		Reach: func(ctx context.Context, by *Caller, a *sendArguments) ([]protocol.Reach, error) {
			call, err := a.message(ctx, m, by)
			if err := errors.Join(err, call.changed()); err != nil {
				return nil, err
			}
			a.Platform, a.Target, a.Where, a.Hashes = call.Channel, call.Chat, call.Target.String(), nil
			for i, of := range call.attached {
				if of.err == nil {
					a.Attachments[i] = of.path
				}
				a.Hashes = append(a.Hashes, of.hash)
			}
			return append(m.reach(ctx, by, call.place), attachmentReach(by, call.place, call.attached)...), nil
		},
		Preview: func(ctx context.Context, by *Caller, a sendArguments) (Preview, error) {
			call, err := a.message(ctx, m, by)
			if err != nil {
				return Preview{}, err
			}
			return call.preview(a), nil
		},
		Stale: func(ctx context.Context, by *Caller, a sendArguments) error {
			call, err := a.message(ctx, m, by)
			return errors.Join(err, call.changed())
		},
		Perform: func(ctx context.Context, by *Caller, a sendArguments) (string, error) {
			call, err := a.message(ctx, m, by)
			if err != nil {
				return "", err
			}
			parts, err := m.deliver(ctx, by, call, a.Text, a.ReplyTo, false)
			if err != nil {
				return "", err
			}
			return outcome(call.place, parts)
		},
	})
}

// preview is what a person is shown who is asked: to whom, where, what, and which files.
func (c message) preview(a sendArguments) Preview {
	p := Preview{Summary: "Send a message to " + c.describe(), Text: a.Text}
	switch {
	case c.Channel == emacsChannel:
		p.Effects = append(p.Effects, "it stands in that conversation and its file, and goes over no network")
	case c.same:
		p.Effects = append(p.Effects, fmt.Sprintf("it is sent over the network, through %s, to all who read this conversation", c.Channel))
	default:
		p.Effects = append(p.Effects, fmt.Sprintf("it is sent over the network, through %s, to %s", c.Channel, c.Chat))
	}
	if a.ReplyTo != "" {
		p.Effects = append(p.Effects, "it answers the message "+a.ReplyTo)
	}
	for _, of := range c.attached {
		p.Effects = append(p.Effects, of.effect())
	}
	if p.Text == "" {
		p.Text = strings.Join(a.Attachments, "\n")
	}
	return p
}

// deliver sends a text and files, in this order, and returns what became of each part.
func (m Messages) deliver(ctx context.Context, by *Caller, call message, said, replyTo string, voice bool) ([]SentPart, error) {
	var failed []SentPart
	var shown []string
	out := Outbound{ID: m.NewID(), Session: by.Conversation.Session, Turn: by.Conversation.Turn, To: call.Target, Text: said, ReplyTo: replyTo}
	for _, of := range call.attached {
		if of.err != nil {
			failed = append(failed, SentPart{File: of.path, State: PartFailed, Why: of.err.Error()})
			continue
		}
		shown = append(shown, of.path)
		out.Files = append(out.Files, OutboundFile{Path: of.path, Name: filepath.Base(of.path), Media: media(of.path), Size: of.size, Hash: of.hash, Voice: voice})
	}
	if said == "" && len(shown) == 0 {
		return failed, nil
	}
	var parts []SentPart
	switch {
	case call.Channel != emacsChannel:
		var err error
		if parts, err = m.Messenger.Send(ctx, out); err != nil {
			return nil, err
		}
		if call.same {
			m.note(ctx, by, said, parts)
		}
	case call.same:
		if err := m.Here.Show(ctx, by.Conversation, out.ID, said, shown); err != nil {
			return nil, fmt.Errorf("put it into the conversation: %w", err)
		}
	default:
		if err := m.Here.Post(ctx, "post-"+out.ID, call.Chat, said); err != nil {
			return nil, fmt.Errorf("put it into the conversation %s: %w", call.Chat, err)
		}
	}
	if call.Channel == emacsChannel {
		if said != "" {
			parts = append(parts, SentPart{State: PartSent})
		}
		for _, path := range shown {
			parts = append(parts, SentPart{File: path, State: PartSent})
		}
	}
	return append(parts, failed...), nil
}

// note puts what was sent to the chat of the turn into the conversation in which an editor shows that chat, too. It was
// sent, so an error is not one of the call.
func (m Messages) note(ctx context.Context, by *Caller, said string, parts []SentPart) {
	var shown []string
	hasText := false
	for _, part := range parts {
		switch {
		case part.State == PartFailed:
		case part.File == "":
			hasText = true
		default:
			shown = append(shown, part.File)
		}
	}
	if !hasText {
		said = ""
	}
	if said != "" || len(shown) > 0 {
		_ = m.Here.Show(ctx, by.Conversation, m.NewID(), said, shown)
	}
}
