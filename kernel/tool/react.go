package tool

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/protocol"
)

//go:embed react.md
var reactManual string

type reactArguments struct {
	MessageID string `doc:"the id of the message, as its envelope has it" required:"true"`
	Emoji     string `doc:"one emoji" required:"true"`
	Remove    bool   `doc:"t to take the reaction back"`
	Platform  string `doc:"the name of a channel (default: that of this conversation)" seldom:"true"`
	Target    string `doc:"the chat of the message, as for send (default: this conversation)" seldom:"true"`
	Where     string `doc:"the conversation, as it was judged" internal:"true"`
}

// resolve finds the chat of the message and checks the reaction.
func (a *reactArguments) resolve(ctx context.Context, m Messages, by *Caller) (place, error) {
	if a.MessageID = strings.TrimSpace(a.MessageID); a.MessageID == "" {
		return place{}, protocol.ToolErrorf(protocol.ToolArguments, "name the :message-id of the message to react to; its envelope has it")
	}
	if a.Platform == "" && a.Target == "" && by.Conversation.Route.Kind != protocol.RouteChannel {
		return place{}, errNoReactions
	}
	p, err := m.place(ctx, by, a.Platform, a.Target, a.Where)
	if err != nil {
		return p, err
	}
	if p.Channel == emacsChannel {
		return p, errNoReactions
	}
	c, err := m.channel(p.Channel)
	if err == nil {
		a.Emoji, err = c.reaction(a.Emoji)
	}
	return p, err
}

var errNoReactions = protocol.ToolErrorf(protocol.ToolUnfit, "messages in Emacs and at a command line have no reactions: say it in your answer")

// emojiLimit is the length of the longest emoji in bytes; families and flags are sequences of many characters.
const emojiLimit = 64

// variation is the character that asks for the coloured form of a sign. Channels list reactions with it or without.
const variation = "\ufe0f"

// reaction returns a reaction as the channel writes it.
func (c ChannelInfo) reaction(emoji string) (string, error) {
	emoji = strings.TrimSpace(emoji)
	plain := strings.ReplaceAll(emoji, variation, "")
	switch {
	case !c.Reacts:
		return "", protocol.ToolErrorf(protocol.ToolUnfit, "%s has no reactions: say it in your answer", c.Name)
	case plain == "" || len(emoji) > emojiLimit || strings.ContainsFunc(plain, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.IsLetter(r) }) || !strings.ContainsFunc(plain, func(r rune) bool { return r > 0xa8 }):
		return "", protocol.ToolErrorf(protocol.ToolArguments, "%q is no emoji: write one, such as 👍", emoji)
	case c.Emoji == nil:
		return emoji, nil
	}
	at := slices.IndexFunc(c.Emoji, func(of string) bool { return strings.ReplaceAll(of, variation, "") == plain })
	if at < 0 {
		return "", protocol.ToolErrorf(protocol.ToolArguments, "%s does not take %s; it takes %s", c.Name, emoji, strings.Join(c.Emoji, " "))
	}
	return c.Emoji[at], nil
}

func react(m Messages) Tool {
	return New(Definition[reactArguments]{
		Name: "react", Manual: reactManual, Private: true, Own: true,
		Offered: func() bool {
			return slices.ContainsFunc(m.channels(), func(c ChannelInfo) bool { return c.Reacts }) && m.there()
		},
		Reach: func(ctx context.Context, by *Caller, a *reactArguments) ([]protocol.Reach, error) {
			p, err := a.resolve(ctx, m, by)
			if err != nil {
				return nil, err
			}
			a.Platform, a.Target, a.Where = p.Channel, p.Chat, p.Target.String()
			return m.reach(ctx, by, p), nil
		},
		Preview: func(ctx context.Context, by *Caller, a reactArguments) (Preview, error) {
			p, err := a.resolve(ctx, m, by)
			if err != nil {
				return Preview{}, err
			}
			summary := fmt.Sprintf("React with %s to a message in %s", a.Emoji, p.describe())
			if a.Remove {
				summary = fmt.Sprintf("Take back the reaction %s to a message in %s", a.Emoji, p.describe())
			}
			return Preview{Summary: summary, Effects: []string{"the message is " + a.MessageID, "all who read that chat see it"}}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a reactArguments) (string, error) {
			p, err := a.resolve(ctx, m, by)
			if err != nil {
				return "", err
			}
			if err := m.Messenger.React(ctx, p.Target, a.MessageID, a.Emoji, a.Remove); err != nil {
				return "", err
			}
			if a.Remove {
				return fmt.Sprintf("The reaction %s to the message %s is taken back.", a.Emoji, a.MessageID), nil
			}
			return fmt.Sprintf("Reacted with %s to the message %s.", a.Emoji, a.MessageID), nil
		},
	})
}
