package service

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Outcomes tells the owner what came of tasks.
type Outcomes struct {
	Acts  TurnActs
	Posts Poster
	Known KnownEvents
	Asked PastQuestions
	// Channels reports whether there is a channel of that name, and whether it is connected. Send sends a text to one.
	Channels func(name string) (known, connected bool)
	Send     func(ctx context.Context, route protocol.Route, id, text string) error
}

// TurnActs reads the answers of turns.
type TurnActs interface {
	ActsOf(ctx context.Context, turns ...string) ([]journal.Act, error)
}

// Poster puts a text into a conversation, once for each id.
type Poster interface {
	Post(ctx context.Context, id, session, text string) error
}

// Deliver puts the result of a task into the conversation, or sends it to the chat, that the task names; without a name,
// or with that of a channel that is not connected, into the one in which the person wrote last in an editor. A task that is done in a conversation of the person's has its result there already.
func (o Outcomes) Deliver(ctx context.Context, l journal.Lease, turn journal.Turn) error {
	if l.Shared && l.Route == "" {
		return nil
	}
	id := l.Event() + "+" + string(l.State)
	if _, err := o.Known.TurnOfEvent(ctx, id); err == nil {
		return nil // a kernel that was killed has told it, perhaps in another conversation
	}
	text, err := o.text(ctx, l, turn)
	if err != nil {
		return err
	}
	channel, chat, _ := strings.Cut(l.Route, " ")
	known, connected := o.Channels(channel)
	if connected && chat != "" {
		route := protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(channel), Chat: strings.TrimSpace(chat)}
		return o.Send(ctx, route, id, text)
	}
	session := l.Route
	if known || !protocol.ValidSession(session) {
		if session, err = o.latest(ctx); err != nil {
			return err
		}
	}
	return o.Posts.Post(ctx, id, session, text)
}

// latest returns the conversation in which the person wrote last in an editor, and the main one if that is long ago. What
// was asked at a command line was read there.
func (o Outcomes) latest(ctx context.Context) (session string, err error) {
	const looked = 20
	turns, err := o.Asked.PastQuestions(ctx, "", "", looked)
	for _, turn := range turns {
		if turn.Question.Route.Kind == protocol.RouteEmacs {
			return turn.Session, err
		}
	}
	return protocol.MainSession, err
}

// text returns what the owner is told.
func (o Outcomes) text(ctx context.Context, l journal.Lease, turn journal.Turn) (string, error) {
	if l.State != journal.LeaseDone {
		text := fmt.Sprintf("* %s: failed\n%s.", l.Title, strings.TrimRight(cmp.Or(l.Note, "The log says why"), "."))
		if turn.ID != "" {
			text += fmt.Sprintf(" More is in the conversation %q.", turn.Session)
		}
		return text, nil
	}
	acts, err := o.Acts.ActsOf(ctx, turn.ID)
	if err != nil {
		return "", err
	}
	answer := ""
	for _, a := range acts {
		if a.Kind == journal.ActAnswer {
			answer = a.Raw
		}
	}
	return strings.TrimSpace(fmt.Sprintf("* %s\n%s", l.Title, answer)), nil
}
