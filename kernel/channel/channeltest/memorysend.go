package channeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// Send implements [channel.Driver].
func (m *Memory) Send(ctx context.Context, out channel.Outgoing) (string, error) {
	can := m.Capabilities()
	if err := fits(out, can); err != nil {
		return "", refused(err)
	}
	var data []byte
	if out.File != nil {
		var err error
		if data, err = contentOf(out.File, can.FileLimit); err != nil {
			return "", refused(err)
		}
	}
	var id string
	err := m.answer(ctx, out.Chat, func() error {
		if i := slices.IndexFunc(m.sent, func(s Sent) bool { return s.ID == out.ID }); i >= 0 && can.Idempotent {
			id = m.sent[i].MessageID
			return nil
		}
		id = m.newID()
		m.sent = append(m.sent, Sent{Outgoing: out, MessageID: id, Data: data})
		delete(m.typing, out.Chat)
		return nil
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// fits says what of a message a driver need not take.
func fits(out channel.Outgoing, can channel.Capabilities) error {
	switch {
	case !validID(out.ID):
		return fmt.Errorf("the message has the id %q", out.ID)
	case out.Text.Length() > can.TextLimit:
		return fmt.Errorf("the text has %d UTF-16 units, more than %d", out.Text.Length(), can.TextLimit)
	case out.Text.Plain == "" && out.File == nil:
		return errors.New("the message is empty")
	case out.File != nil && can.FileLimit == 0:
		return errors.New("the chat takes no files")
	case len(out.Buttons) > 0 && !can.Buttons:
		return errors.New("the chat has no buttons")
	}
	for _, row := range out.Buttons {
		for _, b := range row {
			if b.Label == "" || b.Data == "" || len(b.Data) > 64 || strings.ContainsFunc(b.Data, func(r rune) bool { return r < ' ' || r > '~' }) {
				return fmt.Errorf("the button %+v is not one", b)
			}
		}
	}
	return out.Text.Check()
}

// validID reports whether an id is one of [channel.Outgoing].
func validID(id string) bool {
	return id != "" && len(id) <= 160 && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._:@+=-", r)
	})
}

// contentOf returns what is in a file.
func contentOf(file *channel.File, limit int64) ([]byte, error) {
	if file.Size > limit {
		return nil, fmt.Errorf("the file %s has %d bytes, more than %d", file.Name, file.Size, limit)
	}
	in, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("open the file %s: %w", file.Name, err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the file %s: %w", file.Name, err)
	}
	if int64(len(data)) != file.Size {
		return nil, fmt.Errorf("the file %s has %d bytes, and is said to have %d", file.Name, len(data), file.Size)
	}
	return data, nil
}

// answer does what the server was asked to do, with the outcome that the test wants.
func (m *Memory) answer(ctx context.Context, chat string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return &channel.Failure{Class: channel.Temporary, Err: err}
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	switch {
	case m.away:
		return &channel.Failure{Class: channel.Temporary, Err: errors.New("the server does not answer")}
	case m.expired:
		return unauthorized()
	case chat == "" || m.blocked[chat]:
		return refused(fmt.Errorf("the chat %q takes no messages of the agent", chat))
	}
	var outcome error
	if len(m.outcomes) > 0 {
		outcome, m.outcomes = m.outcomes[0], m.outcomes[1:]
	}
	if f := (*channel.Failure)(nil); outcome != nil && !(errors.As(outcome, &f) && f.Class == channel.Unknown) {
		return outcome
	}
	if err := do(); err != nil {
		return refused(err)
	}
	m.tell()
	return outcome
}

// Edit implements [channel.Editor].
func (m *Memory) Edit(ctx context.Context, chat, id string, text rich.Text) error {
	if err := fits(channel.Outgoing{ID: "edit", Text: text}, m.Capabilities()); err != nil {
		return refused(err)
	}
	return m.answer(ctx, chat, func() error {
		i, err := m.find(chat, id)
		if err == nil {
			m.sent[i].Text, m.sent[i].Buttons = text, nil
			m.sent[i].Edits++
		}
		return err
	})
}

// Delete implements [channel.Deleter].
func (m *Memory) Delete(ctx context.Context, chat, id string) error {
	return m.answer(ctx, chat, func() error {
		i, err := m.find(chat, id)
		if err == nil {
			m.sent = slices.Delete(m.sent, i, i+1)
		}
		return err
	})
}

// find returns where a message of the agent is.
func (m *Memory) find(chat, id string) (int, error) {
	i := slices.IndexFunc(m.sent, func(s Sent) bool { return s.Chat == chat && s.MessageID == id })
	if i < 0 {
		return 0, fmt.Errorf("there is no message %s of the agent in %s", id, chat)
	}
	return i, nil
}

// React implements [channel.Reactor].
func (m *Memory) React(ctx context.Context, r channel.Reaction) error {
	if emoji := m.Capabilities().Emoji; r.Emoji == "" || emoji != nil && !slices.Contains(emoji, r.Emoji) {
		return refused(fmt.Errorf("%q is no reaction of this chat", r.Emoji))
	}
	return m.answer(ctx, r.Chat, func() error {
		known := slices.ContainsFunc(m.happened, func(h channel.Message) bool { return h.Chat.ID == r.Chat && h.ID == r.ID })
		if _, err := m.find(r.Chat, r.ID); err != nil && !known {
			return err
		}
		if m.reactions == nil {
			m.reactions = map[place][]string{}
		}
		at := place{r.Chat, r.ID}
		m.reactions[at] = slices.DeleteFunc(m.reactions[at], func(e string) bool { return e == r.Emoji })
		if !r.Remove {
			m.reactions[at] = append(m.reactions[at], r.Emoji)
		}
		return nil
	})
}

// Typing implements [channel.Typist].
func (m *Memory) Typing(_ context.Context, chat string, on bool) error {
	m.set(func() {
		if m.typing == nil {
			m.typing = map[string]bool{}
		}
		m.typing[chat] = on
	})
	return nil
}

func refused(err error) error { return &channel.Failure{Class: channel.Refused, Err: err} }

func unauthorized() error {
	return &channel.Failure{Class: channel.Unauthorized, Err: errors.New("the token of the chat in memory is not valid any more: make a new one")}
}
