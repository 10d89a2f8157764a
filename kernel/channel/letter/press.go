package letter

import (
	"context"
	"fmt"

	"org-agent/kernel/channel"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Pressed takes a button that somebody pressed on a channel; owner says that they are an owner. What does not count changes
// nothing: an owner is told so in their private chat, and nobody else is told anything. An error means that it is not known
// whether it counts, and that it is to be delivered again.
func (l *Letters) Pressed(ctx context.Context, name string, m channel.Message, owner bool) error {
	said, err := l.press(ctx, name, m, owner)
	if err != nil || said == "" {
		return err
	}
	if m.Chat.Group || !owner {
		return nil
	}
	route := protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(name), Chat: m.Chat.ID}
	return l.config.Tell(ctx, route, channel.EventID(name, m.ID)+"+pressed", said)
}

// What an owner is told.
const (
	noButton = "That button is not valid any more. M-x org-agent-approvals in Emacs shows what waits."
	noRow    = "channels.org does not allow that here. M-x org-agent-approvals in Emacs shows what waits."
	isOver   = "That does not wait any more."
	isOther  = "What is asked is not what was shown here. M-x org-agent-approvals in Emacs shows it."
)

// press decides by a button. It returns what the person is told, "" for nothing.
func (l *Letters) press(ctx context.Context, name string, m channel.Message, owner bool) (said string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.load(ctx, name)
	if err != nil {
		return "", err
	}
	log := l.config.Logger.With("channel", name, "chat", m.Chat.ID, "sender", m.Sender.ID, "message", m.ID)
	if s.refuses(m.Sender.ID, l.config.Now()) {
		log.Warn("button refused after too many wrong ones")
		return "", nil
	}
	kept, choice, found := s.pressed(hashOf(name, m.Text))
	if !found || len(m.Text) != secretLength || m.Kind != channel.Pressed || m.Myself || m.Chat.Group || !owner || m.Sender.ID != kept.Owner || m.Chat.ID != kept.Chat {
		log.Warn("wrong button", "known", found, "owner", owner, "group", m.Chat.Group)
		return noButton, l.wrong(ctx, name, m, s)
	}
	log = log.With("ask", kept.Ask, "decision", choice.Decision)
	ask, err := l.config.Asks.Ask(ctx, kept.Ask)
	switch {
	case protocol.ErrorCode(err) == protocol.CodeNotFound:
		return isOver, nil
	case err != nil:
		return "", err
	case !ask.Waits():
		log.Info("button of what is decided")
		if ask.Decision == choice.Decision && ask.Client == name {
			return "", nil // it is delivered again, or pressed twice
		}
		return isOver, nil
	case subject(ask) != kept.Of:
		log.Error("button of what is not asked any more")
		return isOther, nil
	case !l.allowed(name, kept, ask):
		log.Warn("button without a row of channels.org")
		return noRow, nil
	}
	_, err = l.config.Decide(ctx, protocol.AskDecideParams{ID: ask.ID, Decision: choice.Decision, Answers: choice.Answers}, name)
	switch protocol.ErrorCode(err) {
	case protocol.CodeConflict:
		return isOver, nil
	case protocol.CodeStale, protocol.CodeInvalidParams, protocol.CodeBusy:
		return text.Line(err.Error()), nil
	}
	if err != nil {
		return "", fmt.Errorf("decide by a button: %w", err)
	}
	log.Info("decided by a button")
	return "", nil
}

// allowed reports whether a row allows now that a letter is decided in its chat.
func (l *Letters) allowed(name string, kept letterState, ask protocol.Ask) bool {
	for _, row := range l.config.Rows() {
		if row.Channel == name && row.Chat == kept.Chat && row.Owner == kept.Owner && row.Covers(ask.Sort == protocol.AskQuestion) {
			return true
		}
	}
	return false
}

// wrong counts a wrong button. The owner is told once when those of its sender are refused from now on.
func (l *Letters) wrong(ctx context.Context, name string, m channel.Message, s state) error {
	now := l.config.Now()
	if s.wrong(m.Sender.ID, now) {
		l.config.Logger.Error("buttons are refused after too many wrong ones", "channel", name, "sender", m.Sender.ID)
		if err := l.config.Inbox(ctx, protocol.InboxItem{
			ID: "buttons-" + hashOf(name, fmt.Sprint(m.Sender.ID, " ", now.Unix()))[:24], Kind: protocol.InboxAlert, Title: "Somebody may be guessing buttons on " + name,
			Text: fmt.Sprintf("There were %d wrong buttons of %s. None of theirs counts until %s. Nothing was decided by them.\n",
				wrongOfOne, text.PlainLine(m.Sender.ID, 80), now.Add(refusedFor).Format("15:04")),
		}); err != nil {
			return err
		}
	}
	return l.store(ctx, name, s)
}
