package telegram

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
)

// textOf returns the text of a message as people see it. What has no text of its own, such as a place, is written out.
func textOf(m *models.Message) string {
	switch {
	case m.Text != "":
		return m.Text
	case m.Caption != "":
		return m.Caption
	case m.Sticker != nil:
		return m.Sticker.Emoji
	case m.Venue != nil:
		return joined("Place", m.Venue.Title, m.Venue.Address, coordinates(m.Venue.Location))
	case m.Location != nil:
		return joined("Place", coordinates(*m.Location))
	case m.Contact != nil:
		return joined("Contact", strings.TrimSpace(m.Contact.FirstName+" "+m.Contact.LastName), m.Contact.PhoneNumber)
	case m.Poll != nil:
		lines := []string{"Poll: " + m.Poll.Question}
		for _, o := range m.Poll.Options {
			lines = append(lines, "- "+o.Text)
		}
		return strings.Join(lines, "\n")
	case m.Checklist != nil:
		lines := []string{"Checklist: " + m.Checklist.Title}
		for _, task := range m.Checklist.Tasks {
			box := "[ ]"
			if task.CompletionDate != 0 {
				box = "[X]"
			}
			lines = append(lines, "- "+box+" "+task.Text)
		}
		return strings.Join(lines, "\n")
	case m.Dice != nil:
		return fmt.Sprintf("%s %d", m.Dice.Emoji, m.Dice.Value)
	case m.Game != nil:
		return joined("Game", m.Game.Title, m.Game.Description)
	case m.Story != nil:
		return joined("Story", titleOf(&m.Story.Chat))
	case m.Invoice != nil:
		return joined("Invoice", m.Invoice.Title, m.Invoice.Description)
	}
	return ""
}

func joined(what string, parts ...string) string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return what + ": " + strings.Join(kept, ", ")
}

func coordinates(l models.Location) string {
	return strconv.FormatFloat(l.Latitude, 'f', -1, 64) + ", " + strconv.FormatFloat(l.Longitude, 'f', -1, 64)
}

// event returns what happened in a chat, and the message that it is about, if a message says such a thing.
func event(m *models.Message, who string) (of, text string, is bool) {
	who = cmp.Or(who, "somebody")
	switch {
	case len(m.NewChatMembers) > 0:
		var names []string
		for _, u := range m.NewChatMembers {
			if m.From == nil || u.ID != m.From.ID {
				names = append(names, nameOf(&u))
			}
		}
		if len(names) == 0 {
			return "", who + " joined the chat", true
		}
		return "", who + " added " + strings.Join(names, ", ") + " to the chat", true
	case m.LeftChatMember != nil:
		if m.From != nil && m.From.ID == m.LeftChatMember.ID {
			return "", who + " left the chat", true
		}
		return "", who + " removed " + nameOf(m.LeftChatMember) + " from the chat", true
	case m.NewChatTitle != "":
		return "", who + " renamed the chat to " + m.NewChatTitle, true
	case len(m.NewChatPhoto) > 0:
		return "", who + " changed the picture of the chat", true
	case m.DeleteChatPhoto:
		return "", who + " removed the picture of the chat", true
	case m.GroupChatCreated, m.SupergroupChatCreated:
		return "", who + " made the chat", true
	case m.MigrateToChatID != 0:
		return "", fmt.Sprintf("the chat has a new number now: %d", m.MigrateToChatID), true
	case m.MigrateFromChatID != 0:
		return "", fmt.Sprintf("the chat had another number before: %d", m.MigrateFromChatID), true
	case m.PinnedMessage != nil:
		return pinned(m.PinnedMessage, who)
	case m.ForumTopicCreated != nil:
		return "", who + " began the topic " + m.ForumTopicCreated.Name, true
	case m.ForumTopicEdited != nil && m.ForumTopicEdited.Name != "":
		return "", who + " renamed the topic to " + m.ForumTopicEdited.Name, true
	case m.ForumTopicEdited != nil:
		return "", who + " changed the picture of the topic", true
	case m.ForumTopicClosed != nil:
		return "", who + " closed the topic", true
	case m.ForumTopicReopened != nil:
		return "", who + " opened the topic again", true
	}
	return "", "", false
}

func pinned(m *models.MaybeInaccessibleMessage, who string) (of, text string, is bool) {
	switch {
	case m.Message != nil && textOf(m.Message) != "":
		return messageID(m.Message.Chat.ID, m.Message.ID), who + " pinned: " + textOf(m.Message), true
	case m.Message != nil:
		return messageID(m.Message.Chat.ID, m.Message.ID), who + " pinned a message", true
	case m.InaccessibleMessage != nil:
		return messageID(m.InaccessibleMessage.Chat.ID, m.InaccessibleMessage.MessageID), who + " pinned a message", true
	}
	return "", who + " pinned a message", true
}

func nameOf(u *models.User) string {
	return cmp.Or(person(u).Name, u.Username, strconv.FormatInt(u.ID, 10))
}

// attachments returns the files of a message.
func (r *reader) attachments(m *models.Message) []channel.Attachment {
	var all []channel.Attachment
	add := func(name, fallback, media, file string, size int64) *channel.Attachment {
		all = append(all, r.driver.attachment(cmp.Or(name, fallback), media, file, size))
		return &all[len(all)-1]
	}
	if a := m.Animation; a != nil {
		add(a.FileName, "animation.mp4", cmp.Or(a.MimeType, "video/mp4"), a.FileID, a.FileSize)
	} else if f := m.Document; f != nil { // an animation is a document as well
		add(f.FileName, "file", f.MimeType, f.FileID, f.FileSize)
	}
	if len(m.Photo) > 0 {
		largest := m.Photo[0]
		for _, p := range m.Photo[1:] {
			if p.Width*p.Height > largest.Width*largest.Height {
				largest = p
			}
		}
		add("", "photo.jpg", "image/jpeg", largest.FileID, int64(largest.FileSize))
	}
	if a := m.Audio; a != nil {
		add(a.FileName, "audio.mp3", cmp.Or(a.MimeType, "audio/mpeg"), a.FileID, a.FileSize)
	}
	if v := m.Voice; v != nil {
		add("", "voice.ogg", cmp.Or(v.MimeType, "audio/ogg"), v.FileID, v.FileSize).Voice = true
	}
	if v := m.Video; v != nil {
		add(v.FileName, "video.mp4", cmp.Or(v.MimeType, "video/mp4"), v.FileID, v.FileSize)
	}
	if v := m.VideoNote; v != nil {
		add("", "video.mp4", "video/mp4", v.FileID, int64(v.FileSize))
	}
	if s := m.Sticker; s != nil {
		switch {
		case s.IsAnimated:
			add("", "sticker.tgs", "application/gzip", s.FileID, int64(s.FileSize))
		case s.IsVideo:
			add("", "sticker.webm", "video/webm", s.FileID, int64(s.FileSize))
		default:
			add("", "sticker.webp", "image/webp", s.FileID, int64(s.FileSize))
		}
	}
	return all
}
