package telegram

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// place is a chat of Telegram, or a topic in one.
type place struct {
	chat   int64
	thread int // 0 for none
}

// id returns the ID of the chat for the kernel: -1001234 or -1001234/56.
func (p place) id() string {
	if p.thread == 0 {
		return strconv.FormatInt(p.chat, 10)
	}
	return fmt.Sprintf("%d/%d", p.chat, p.thread)
}

// placeOf reads what id writes.
func placeOf(id string) (place, error) {
	chat, thread, topic := strings.Cut(id, "/")
	var p place
	var err error
	if p.chat, err = strconv.ParseInt(chat, 10, 64); err != nil || p.chat == 0 {
		return place{}, refused("%q is no chat of Telegram: those are numbers, with a slash and the topic's number behind if it is a topic", id)
	}
	if p.thread, err = strconv.Atoi(thread); topic && (err != nil || p.thread <= 0) {
		return place{}, refused("%q is no topic of Telegram: it has a positive number behind the slash", id)
	}
	if p.id() != id {
		return place{}, refused("%q is not how the chat %s of Telegram is written", id, p.id())
	}
	return p, nil
}

// messageID returns the ID of a message for the kernel. Telegram counts the messages of each chat.
func messageID(chat int64, message int) string { return fmt.Sprintf("%d:%d", chat, message) }

// happeningID returns the ID of an update that is about a message, such as an edit.
func happeningID(chat int64, message int, update int64) string {
	return fmt.Sprintf("%d:%d:u%d", chat, message, update)
}

// message is a message of Telegram.
type message struct {
	chat   int64
	number int
}

// messageOf reads what messageID and happeningID write: a message of the place, or of what the group was before or
// became.
func (d *Driver) messageOf(ctx context.Context, p place, id string) (message, error) {
	chat, rest, _ := strings.Cut(id, ":")
	number, _, _ := strings.Cut(rest, ":u")
	var m message
	var wrongChat, wrongNumber error
	m.chat, wrongChat = strconv.ParseInt(chat, 10, 64)
	m.number, wrongNumber = strconv.Atoi(number)
	if wrongChat != nil || wrongNumber != nil || m.number <= 0 || m.chat != p.chat && m.chat != d.now(ctx, p.chat) {
		return message{}, refused("%q is no message of the chat %s of Telegram", id, p.id())
	}
	return m, nil
}

// movedKey is where the state has the supergroup that a group became.
func movedKey(chat int64) string { return "moved/" + strconv.FormatInt(chat, 10) }

// now returns where the chat of a place is now: a group that became a supergroup has a new number.
func (d *Driver) now(ctx context.Context, chat int64) int64 {
	if to, ok := d.moved.Get(chat); ok {
		return to
	}
	to := chat
	if d.config.State != nil && chat < 0 {
		text, err := d.config.State.Load(ctx, movedKey(chat))
		if err != nil {
			d.config.Logger.Warn("telegram: load where a group is", "chat", chat, "err", err)
			return chat
		}
		if number, err := strconv.ParseInt(text, 10, 64); err == nil && number < 0 {
			to = number
		}
	}
	d.moved.Put(chat, to, 16)
	return to
}

// move records that a group became a supergroup.
func (d *Driver) move(ctx context.Context, chat, to int64) {
	d.config.Logger.Info("telegram: a group is a supergroup now", "chat", chat, "to", to)
	d.moved.Put(chat, to, 16)
	if d.config.State == nil {
		return
	}
	if err := d.config.State.Store(ctx, movedKey(chat), strconv.FormatInt(to, 10)); err != nil {
		d.config.Logger.Warn("telegram: store where a group is", "chat", chat, "err", err)
	}
}
