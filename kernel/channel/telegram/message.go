package telegram

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
)

// message returns what a message says, and false for one that is not for the agent.
func (r *reader) message(m *models.Message) (channel.Message, bool) {
	if !ours(&m.Chat) || m.ID == 0 || m.IsAutomaticForward {
		return channel.Message{}, false
	}
	sender, ok := r.sender(m)
	if !ok {
		return channel.Message{}, false
	}
	thread := threadOf(m)
	r.remember(m, thread)
	one := channel.Message{
		ID: messageID(m.Chat.ID, m.ID), Chat: r.chat(&m.Chat, thread), Sender: sender, Text: textOf(m), Sent: time.Unix(int64(m.Date), 0),
		Myself: m.From != nil && m.From.ID == r.me.ID, Mentions: r.mentions(m), Forwarded: origin(m.ForwardOrigin), Reply: r.quote(m), Attachments: r.attachments(m),
	}
	if of, text, ok := event(m, sender.Name); ok {
		one.Kind, one.Text, one.Of = channel.Event, text, of
	} else if one.Text == "" && len(one.Attachments) == 0 {
		one.Kind, one.Text = channel.Event, sender.Name+" did something in the chat that cannot be shown here"
	}
	return one, true
}

// sender returns who wrote a message, and false for another bot. An anonymous administrator writes as the group, and
// somebody may write as a channel of theirs: both are no persons, and have the ID of that chat.
func (r *reader) sender(m *models.Message) (channel.Person, bool) {
	switch {
	case m.SenderChat != nil:
		return personOfChat(m.SenderChat), true
	case m.From == nil || r.isOtherBot(m.From):
		return channel.Person{}, false
	}
	return person(m.From), true
}

func personOfChat(c *models.Chat) channel.Person {
	return channel.Person{ID: strconv.FormatInt(c.ID, 10), Name: titleOf(c), Username: c.Username}
}

func titleOf(c *models.Chat) string {
	if c.Title != "" {
		return c.Title
	}
	return strings.TrimSpace(c.FirstName + " " + c.LastName)
}

// threadOf returns the topic of a message, 0 for none. The replies to a message have a number, too, where there are no
// topics.
func threadOf(m *models.Message) int {
	if m.IsTopicMessage {
		return m.MessageThreadID
	}
	return 0
}

// remember keeps of which topic a message is, and the name of that.
func (r *reader) remember(m *models.Message, thread int) {
	if thread == 0 {
		return
	}
	at := messageID(m.Chat.ID, m.ID)
	r.driver.topics.Put(at, thread, len(at)+8)
	name := ""
	switch {
	case m.ForumTopicCreated != nil:
		name = m.ForumTopicCreated.Name
	case m.ForumTopicEdited != nil:
		name = m.ForumTopicEdited.Name
	case m.ReplyToMessage != nil && m.ReplyToMessage.ForumTopicCreated != nil:
		name = m.ReplyToMessage.ForumTopicCreated.Name
		if _, known := r.driver.named.Get(place{m.Chat.ID, thread}.id()); known {
			return // it may have been renamed since
		}
	}
	if name != "" {
		chat := place{m.Chat.ID, thread}.id()
		r.driver.named.Put(chat, name, len(chat)+len(name))
	}
}

func (r *reader) chat(c *models.Chat, thread int) channel.Chat {
	one := channel.Chat{ID: place{c.ID, thread}.id(), Title: titleOf(c), Group: c.Type != models.ChatTypePrivate}
	if name, ok := r.driver.named.Get(one.ID); ok && thread != 0 {
		one.Title = strings.TrimSpace(one.Title + " / " + name)
	}
	return one
}

// mentions reports whether a message names the bot.
func (r *reader) mentions(m *models.Message) bool {
	return r.named(m.Text, m.Entities) || r.named(m.Caption, m.CaptionEntities)
}

func (r *reader) named(text string, entities []models.MessageEntity) bool {
	var units []uint16
	for _, e := range entities {
		switch e.Type {
		case models.MessageEntityTypeTextMention:
			if e.User != nil && e.User.ID == r.me.ID {
				return true
			}
		case models.MessageEntityTypeMention, models.MessageEntityTypeBotCommand:
			if units == nil {
				units = utf16.Encode([]rune(text))
			}
			if e.Offset < 0 || e.Length < 0 || e.Offset > len(units) || e.Length > len(units)-e.Offset {
				continue
			}
			// A mention is @name, a command /word or /word@name.
			_, name, at := strings.Cut(string(utf16.Decode(units[e.Offset:e.Offset+e.Length])), "@")
			if at && r.me.Username != "" && strings.EqualFold(name, r.me.Username) {
				return true
			}
		}
	}
	return false
}

// quote returns the message that a message answers. The first message of a topic, which every message there answers by
// itself, is none.
func (r *reader) quote(m *models.Message) *channel.Quote {
	var q channel.Quote
	switch to, elsewhere := m.ReplyToMessage, m.ExternalReply; {
	case to != nil && to.ForumTopicCreated != nil && to.ID == threadOf(m):
		return nil
	case to != nil:
		q = channel.Quote{ID: messageID(m.Chat.ID, to.ID), Text: textOf(to), ToMe: to.From != nil && to.From.ID == r.me.ID}
		if to.SenderChat != nil {
			q.Sender = personOfChat(to.SenderChat)
		} else if to.From != nil {
			q.Sender = person(to.From)
		}
	case elsewhere != nil:
		q = channel.Quote{Sender: channel.Person{Name: origin(&elsewhere.Origin)}}
		if elsewhere.Chat != nil && elsewhere.MessageID != 0 {
			q.ID = messageID(elsewhere.Chat.ID, elsewhere.MessageID)
		}
	default:
		return nil
	}
	if m.Quote != nil && m.Quote.Text != "" {
		q.Text = m.Quote.Text
	}
	return &q
}

// origin returns who wrote a forwarded message first, as they call themselves.
func origin(o *models.MessageOrigin) string {
	name := ""
	switch {
	case o == nil:
		return ""
	case o.MessageOriginUser != nil:
		name = person(&o.MessageOriginUser.SenderUser).Name
	case o.MessageOriginHiddenUser != nil:
		name = o.MessageOriginHiddenUser.SenderUserName
	case o.MessageOriginChat != nil:
		name = titleOf(&o.MessageOriginChat.SenderChat)
	case o.MessageOriginChannel != nil:
		name = titleOf(&o.MessageOriginChannel.Chat)
	}
	if name == "" {
		return "somebody"
	}
	return name
}
