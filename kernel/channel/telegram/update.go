package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
)

// update is an update as it was read.
type update struct {
	models.Update
	err error // why only a part of it was
}

// plainUpdate is what is read of an update that has something in it that the library does not know.
type plainUpdate struct {
	Message       *plainMessage `json:"message"`
	EditedMessage *plainMessage `json:"edited_message"`
}

type plainMessage struct {
	ID         int          `json:"message_id"`
	Thread     int          `json:"message_thread_id"`
	Topic      bool         `json:"is_topic_message"`
	From       *models.User `json:"from"`
	SenderChat *models.Chat `json:"sender_chat"`
	Date       int          `json:"date"`
	EditDate   int          `json:"edit_date"`
	Chat       models.Chat  `json:"chat"`
	Text       string       `json:"text"`
	Caption    string       `json:"caption"`
}

func (p *plainMessage) message() *models.Message {
	if p == nil {
		return nil
	}
	return &models.Message{
		ID: p.ID, MessageThreadID: p.Thread, IsTopicMessage: p.Topic, From: p.From, SenderChat: p.SenderChat, Date: p.Date, EditDate: p.EditDate, Chat: p.Chat, Text: p.Text, Caption: p.Caption,
	}
}

// decode reads an update. One with something new in it is read as far as it goes, because what a person wrote must not
// be lost and the updates behind it must come. The error is that it has no number, so that it cannot be told from others.
func decode(raw json.RawMessage) (update, error) {
	var number struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &number); err != nil {
		return update{}, err
	}
	if number.ID <= 0 || number.ID > 1<<53 {
		return update{}, fmt.Errorf("it has the number %d", number.ID)
	}
	var u update
	if u.err = json.Unmarshal(raw, &u.Update); u.err != nil {
		var plain plainUpdate
		u.Update = models.Update{ID: number.ID}
		if err := json.Unmarshal(raw, &plain); err != nil {
			return u, nil
		}
		u.Message, u.EditedMessage = plain.Message.message(), plain.EditedMessage.message()
	}
	return u, nil
}

// reader makes messages of updates. It is for one goroutine.
type reader struct {
	driver *Driver
	me     models.User
	album  album
}

// album are the files that somebody sent together, as messages of their own of which only one has the text.
type album struct {
	id       string
	mentions bool
	reply    *channel.Quote
}

// read returns what an update says, nothing for what is not for the agent.
func (r *reader) read(ctx context.Context, u update) []channel.Message {
	switch {
	case u.Message != nil:
		return r.said(ctx, u.Message)
	case u.EditedMessage != nil:
		return r.edited(u.ID, u.EditedMessage)
	case u.MessageReaction != nil:
		return r.reactions(u.ID, u.MessageReaction)
	case u.CallbackQuery != nil:
		return r.press(u.ID, u.CallbackQuery)
	case u.MyChatMember != nil:
		return r.member(u.ID, u.MyChatMember)
	}
	return nil
}

func (r *reader) said(ctx context.Context, m *models.Message) []channel.Message {
	one, ok := r.message(m)
	if !ok {
		return nil
	}
	if m.MigrateToChatID != 0 {
		r.driver.move(ctx, m.Chat.ID, m.MigrateToChatID)
	}
	if id := m.MediaGroupID; id != "" {
		if r.album.id != id {
			r.album = album{id: id}
		}
		r.album.mentions = r.album.mentions || one.Mentions
		if r.album.reply == nil {
			r.album.reply = one.Reply
		}
		one.Mentions, one.Reply = r.album.mentions, r.album.reply
	}
	return []channel.Message{one}
}

func (r *reader) edited(id int64, m *models.Message) []channel.Message {
	one, ok := r.message(m)
	if !ok || one.Kind != channel.Said {
		return nil
	}
	one.Kind, one.Of, one.ID = channel.Edited, one.ID, happeningID(m.Chat.ID, m.ID, id)
	if m.EditDate != 0 {
		one.Sent = time.Unix(int64(m.EditDate), 0)
	}
	return []channel.Message{one}
}

// reactions returns what changed between the reactions that somebody had and has to a message.
func (r *reader) reactions(id int64, u *models.MessageReactionUpdated) []channel.Message {
	if !ours(&u.Chat) || u.User == nil && u.ActorChat == nil || r.isOtherBot(u.User) {
		return nil
	}
	of := messageID(u.Chat.ID, u.MessageID)
	thread, _ := r.driver.topics.Get(of)
	one := channel.Message{Chat: r.chat(&u.Chat, thread), Of: of, Sent: time.Unix(int64(u.Date), 0)}
	if u.User != nil {
		one.Sender, one.Myself = person(u.User), u.User.ID == r.me.ID
	} else {
		one.Sender = personOfChat(u.ActorChat)
	}
	before, after := reactionsOf(u.OldReaction), reactionsOf(u.NewReaction)
	var all []channel.Message
	add := func(kind channel.MessageKind, emoji string) {
		one.Kind, one.Text = kind, emoji
		one.ID = fmt.Sprintf("%s.%d", happeningID(u.Chat.ID, u.MessageID, id), len(all)+1)
		all = append(all, one)
	}
	for _, emoji := range before {
		if !slices.Contains(after, emoji) {
			add(channel.Unreact, emoji)
		}
	}
	for _, emoji := range after {
		if !slices.Contains(before, emoji) {
			add(channel.Reacted, emoji)
		}
	}
	return all
}

// reactionsOf returns the emoji of reactions. One that somebody painted is told by its number.
func reactionsOf(all []models.ReactionType) (emoji []string) {
	for _, one := range all {
		switch {
		case one.ReactionTypeEmoji != nil:
			emoji = append(emoji, one.ReactionTypeEmoji.Emoji)
		case one.ReactionTypeCustomEmoji != nil:
			emoji = append(emoji, "custom emoji "+one.ReactionTypeCustomEmoji.CustomEmojiID)
		case one.ReactionTypePaid != nil:
			emoji = append(emoji, "⭐")
		}
	}
	return emoji
}

func (r *reader) press(id int64, q *models.CallbackQuery) []channel.Message {
	chat, message, thread := (*models.Chat)(nil), 0, 0
	switch {
	case q.Data == "" || r.isOtherBot(&q.From):
		return nil
	case q.Message.Message != nil:
		m := q.Message.Message
		chat, message, thread = &m.Chat, m.ID, threadOf(m)
	case q.Message.InaccessibleMessage != nil:
		m := q.Message.InaccessibleMessage
		chat, message = &m.Chat, m.MessageID
		thread, _ = r.driver.topics.Get(messageID(chat.ID, message))
	}
	if chat == nil || !ours(chat) {
		return nil
	}
	return []channel.Message{{
		ID: happeningID(chat.ID, message, id), Kind: channel.Pressed, Chat: r.chat(chat, thread), Sender: person(&q.From),
		Text: q.Data, Of: messageID(chat.ID, message), Sent: r.driver.config.Now(),
	}}
}

// member returns what happened to the bot's own part in a chat.
func (r *reader) member(id int64, u *models.ChatMemberUpdated) []channel.Message {
	if !ours(&u.Chat) || r.isOtherBot(&u.From) {
		return nil
	}
	text, who := "", cmp.Or(person(&u.From).Name, "somebody")
	switch status, private := u.NewChatMember.Type, u.Chat.Type == models.ChatTypePrivate; {
	case status == models.ChatMemberTypeBanned && private:
		text = who + " has blocked the agent"
	case status == models.ChatMemberTypeMember && private:
		text = who + " lets the agent write"
	case status == models.ChatMemberTypeBanned, status == models.ChatMemberTypeLeft:
		text = who + " removed the agent from the chat"
	case status == models.ChatMemberTypeAdministrator:
		text = who + " made the agent an administrator of the chat"
	case status == models.ChatMemberTypeRestricted:
		text = who + " restricted what the agent may do in the chat"
	case u.OldChatMember.Type == models.ChatMemberTypeLeft, u.OldChatMember.Type == models.ChatMemberTypeBanned:
		text = who + " added the agent to the chat"
	default:
		text = who + " changed what the agent may do in the chat"
	}
	return []channel.Message{{
		ID: fmt.Sprintf("%d:u%d", u.Chat.ID, id), Kind: channel.Event, Chat: r.chat(&u.Chat, 0), Sender: person(&u.From),
		Text: text, Sent: time.Unix(int64(u.Date), 0),
	}}
}

// ours reports whether a chat is one in which the agent talks: no channel, in which nobody answers, and not the
// messages to one.
func ours(chat *models.Chat) bool {
	return chat.ID != 0 && chat.Type != models.ChatTypeChannel && !chat.IsDirectMessages
}

func (r *reader) isOtherBot(u *models.User) bool { return u != nil && u.IsBot && u.ID != r.me.ID }
