package telegram

import (
	"context"
	"errors"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// target returns a message that is to be changed.
func (d *Driver) target(ctx context.Context, chat, id string) (message, error) {
	if d.faulty != nil {
		return message{}, d.faulty
	}
	at, err := placeOf(chat)
	if err != nil {
		return message{}, err
	}
	return d.messageOf(ctx, at, id)
}

// change calls a method that can be repeated. A refusal with one of the words in its text is no failure.
func change(ctx context.Context, method string, call func(ctx context.Context) error, fine ...string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := call(ctx)
	if err == nil || says(err, fine...) {
		return nil
	}
	return failure(method, err, repeatable)
}

// says reports whether the server refused a request with one of the words.
func says(err error, words ...string) bool {
	r := (*refusal)(nil)
	if !errors.As(err, &r) {
		return false
	}
	for _, w := range words {
		if strings.Contains(r.text, w) {
			return true
		}
	}
	return false
}

// Edit implements [channel.Editor]. The buttons of the message go.
func (d *Driver) Edit(ctx context.Context, chat, id string, text rich.Text) error {
	t, err := d.target(ctx, chat, id)
	if err != nil {
		return err
	}
	if n := text.Length(); n > textLimit || strings.TrimSpace(text.Plain) == "" {
		return refused("the text has %d UTF-16 code units, and Telegram takes between 1 and %d", n, textLimit)
	}
	err = change(ctx, "editMessageText", func(ctx context.Context) error {
		_, err := d.bot.EditMessageText(ctx, &bot.EditMessageTextParams{
			ChatID: t.chat, MessageID: t.number, Text: text.Plain, Entities: entities(text), LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: bot.True()},
		})
		return err
	}, "message is not modified")
	if !says(err, "there is no text in the message to edit") {
		return err
	}
	// It is a file, and the text is its caption.
	if n := text.Length(); n > captionLimit {
		return refused("the text of the file has %d UTF-16 code units, and Telegram takes at most %d", n, captionLimit)
	}
	return change(ctx, "editMessageCaption", func(ctx context.Context) error {
		_, err := d.bot.EditMessageCaption(ctx, &bot.EditMessageCaptionParams{ChatID: t.chat, MessageID: t.number, Caption: text.Plain, CaptionEntities: entities(text)})
		return err
	}, "message is not modified")
}

// Delete implements [channel.Deleter]. Telegram takes messages back for two days.
func (d *Driver) Delete(ctx context.Context, chat, id string) error {
	t, err := d.target(ctx, chat, id)
	if err != nil {
		return err
	}
	return change(ctx, "deleteMessage", func(ctx context.Context) error {
		_, err := d.bot.DeleteMessage(ctx, &bot.DeleteMessageParams{ChatID: t.chat, MessageID: t.number})
		return err
	}, "message to delete not found")
}

// React implements [channel.Reactor]. A bot has one reaction to a message: a second takes the place of the first.
func (d *Driver) React(ctx context.Context, r channel.Reaction) error {
	t, err := d.target(ctx, r.Chat, r.ID)
	if err != nil {
		return err
	}
	emoji, ok := reaction(r.Emoji)
	if !ok {
		return refused("bots cannot react with %q on Telegram: 👍 and ❤ are among what they can", r.Emoji)
	}
	at := messageID(t.chat, t.number)
	var wanted []models.ReactionType
	if !r.Remove {
		wanted = []models.ReactionType{{Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: emoji}}}
	} else if now, known := d.reacted.Get(at); known && now != emoji {
		return nil // another took its place
	}
	err = change(ctx, "setMessageReaction", func(ctx context.Context) error {
		_, err := d.bot.SetMessageReaction(ctx, &bot.SetMessageReactionParams{ChatID: t.chat, MessageID: t.number, Reaction: wanted})
		return err
	})
	if err == nil {
		if r.Remove {
			emoji = ""
		}
		d.reacted.Put(at, emoji, len(at)+len(emoji))
	}
	return err
}

// Typing implements [channel.Typist]. Telegram shows it for five seconds, or until a message comes.
func (d *Driver) Typing(ctx context.Context, chat string, on bool) error {
	if d.faulty != nil {
		return d.faulty
	}
	at, err := placeOf(chat)
	if err != nil || !on {
		return err
	}
	return change(ctx, "sendChatAction", func(ctx context.Context) error {
		_, err := to(ctx, d, at, func(chat int64) (bool, error) {
			return d.bot.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: chat, MessageThreadID: at.thread, Action: models.ChatActionTyping})
		})
		return err
	})
}
