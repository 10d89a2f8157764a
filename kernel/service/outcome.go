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
	// Default returns where results go while the person has not written in an editor: a conversation, or a channel and a
	// chat. "" is for the inbox.
	Default func() string
	Inbox   Keeper
}

// TurnActs reads the answers of turns.
type TurnActs interface {
	ActsOf(ctx context.Context, turns ...string) ([]journal.Act, error)
}

// Poster puts a text into a conversation, once for each id.
type Poster interface {
	Post(ctx context.Context, id, session, text string) error
}

// Keeper keeps something for the owner, once for each id.
type Keeper interface {
	Keep(ctx context.Context, item protocol.InboxItem) error
}

// news is something that the owner is told.
type news struct {
	id      string
	route   string             // a conversation, or a channel and a chat; "" for where the owner is
	kind    protocol.InboxKind // if it is kept
	session string             // in which it came about
	title   string
	text    string
}

// Deliver tells the owner the result of a task: in the conversation or in the chat that the task names, without a name in
// the one in which the person wrote last in an editor, else in the default one, and else in the inbox. A failure is told
// there, and is in the inbox too, also that of a task whose result is told nobody. A task that is done in a conversation of the person's has its result there already.
func (o Outcomes) Deliver(ctx context.Context, l journal.Lease, turn journal.Turn) error {
	n := news{id: l.Event() + "+" + string(l.State), route: l.Route, kind: protocol.InboxResult, session: turn.Session, title: l.Title}
	var err error
	if l.State == journal.LeaseDone {
		n.text, err = o.Answer(ctx, turn)
	} else {
		n.text = strings.TrimRight(cmp.Or(l.Note, "The log says why"), ".") + "."
		n.kind, n.title = protocol.InboxFailure, l.Title+": failed"
		err = o.Inbox.Keep(ctx, n.item())
	}
	if err != nil || l.Silent || l.Shared && l.Route == "" {
		return err
	}
	if n.kind == protocol.InboxFailure && turn.ID != "" {
		n.text += fmt.Sprintf(" More is in the conversation %q.", turn.Session)
	}
	return o.tell(ctx, n)
}

func (n news) item() protocol.InboxItem {
	return protocol.InboxItem{ID: n.id, Kind: n.kind, Session: n.session, Title: n.title, Text: n.text}
}

// tell tells the owner something, once for its id.
func (o Outcomes) tell(ctx context.Context, n news) error {
	if _, err := o.Known.TurnOfEvent(ctx, n.id); err == nil {
		return nil // a kernel that was killed has told it, perhaps in another conversation
	}
	text := strings.TrimSpace(fmt.Sprintf("* %s\n%s", n.title, n.text))
	last, err := o.latest(ctx)
	if err != nil {
		return err
	}
	for _, route := range []string{n.route, last, o.Default()} {
		channel, chat, _ := strings.Cut(route, " ")
		known, connected := o.Channels(channel)
		switch {
		case connected && chat != "":
			to := protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(channel), Chat: strings.TrimSpace(chat)}
			return o.Send(ctx, to, n.id, text)
		case !known && protocol.ValidSession(route):
			return o.Posts.Post(ctx, n.id, route, text)
		}
	}
	return o.Inbox.Keep(ctx, n.item())
}

// Owner returns where the owner is told things: a channel and a chat, or emacs and a conversation. It is the main
// conversation where nothing else is known.
func (o Outcomes) Owner(ctx context.Context) (channel, chat string, err error) {
	last, err := o.latest(ctx)
	if err != nil {
		return "", "", err
	}
	for _, route := range []string{last, o.Default()} {
		channel, chat, _ := strings.Cut(route, " ")
		switch known, connected := o.Channels(channel); {
		case connected && chat != "":
			return channel, strings.TrimSpace(chat), nil
		case !known && protocol.ValidSession(route):
			return string(protocol.ChannelEmacs), route, nil
		}
	}
	return string(protocol.ChannelEmacs), protocol.MainSession, nil
}

// Tell tells the owner something about a task, once for each id.
func (o Outcomes) Tell(ctx context.Context, id, title, text string) error {
	return o.tell(ctx, news{id: id, kind: protocol.InboxAlert, title: title, text: text})
}

// Reacted keeps in the inbox what a skill said in a reaction, or why it failed. A skill that did something and said nothing
// is not in there, and neither is what a person stopped.
func (o Outcomes) Reacted(ctx context.Context, turn journal.Turn) error {
	skill, _, _ := strings.Cut(turn.Skill, "@") // a version follows
	n := news{id: turn.Event + "+" + string(turn.State), kind: protocol.InboxResult, session: turn.Session, title: "Reaction of " + skill}
	switch turn.State {
	case protocol.TurnAnswered:
		var err error
		if n.text, err = o.Answer(ctx, turn); err != nil || n.text == "" {
			return err
		}
	case protocol.TurnFailed:
		n.kind, n.title, n.text = protocol.InboxFailure, n.title+": failed", cmp.Or(turn.Notice, "The log says why")
	default:
		return nil
	}
	return o.Inbox.Keep(ctx, n.item())
}

// latest returns the conversation in which the person wrote last in an editor, "" if that is long ago. What was asked at a
// command line was read there.
func (o Outcomes) latest(ctx context.Context) (session string, err error) {
	const looked = 20
	turns, err := o.Asked.PastQuestions(ctx, "", "", looked)
	for _, turn := range turns {
		if turn.Question.Route.Kind == protocol.RouteEmacs {
			return turn.Session, err
		}
	}
	return "", err
}

// Alert tells the owner what a heartbeat answered. A failure is in the inbox alone, so that it disturbs nobody.
func (o Outcomes) Alert(ctx context.Context, id, session, text string, failed bool) error {
	n := news{id: id, kind: protocol.InboxAlert, session: session, title: "Heartbeat", text: text}
	if failed {
		n.kind, n.title = protocol.InboxFailure, n.title+": failed"
		return o.Inbox.Keep(ctx, n.item())
	}
	return o.tell(ctx, n)
}

// Answer returns the answer of a turn.
func (o Outcomes) Answer(ctx context.Context, turn journal.Turn) (answer string, err error) {
	acts, err := o.Acts.ActsOf(ctx, turn.ID)
	for _, a := range acts {
		if a.Kind == journal.ActAnswer {
			answer = a.Raw
		}
	}
	return answer, err
}
