package telegram

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// keyboard are the buttons below a message. The library's own type says of each button that it copies a text, too.
type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

type button struct {
	Label string `json:"text"`
	Data  string `json:"callback_data"`
}

// post is a message on its way.
type post struct {
	at      place
	text    rich.Text
	reply   *models.ReplyParameters
	buttons models.ReplyMarkup
}

// Send implements [channel.Driver]. A file whose text is too long to be below it is sent behind the text; the ID is
// then that of the text.
func (d *Driver) Send(ctx context.Context, out channel.Outgoing) (id string, err error) {
	p, err := d.post(ctx, out)
	if err != nil {
		return "", err
	}
	if out.File == nil {
		return d.sendText(ctx, p)
	}
	if out.File.Size > uploadLimit {
		return "", refused("the file has %d bytes, and Telegram takes at most %d from bots", out.File.Size, uploadLimit)
	}
	if p.text.Plain == "" || p.text.Length() <= captionLimit {
		return d.sendFile(ctx, p, out.File)
	}
	id, begun := d.begun.Get(out.ID)
	if !begun {
		if id, err = d.sendText(ctx, p); err != nil {
			return "", err
		}
		d.begun.Put(out.ID, id, len(out.ID)+len(id))
	}
	if _, err := d.sendFile(ctx, post{at: p.at}, out.File); err != nil {
		return "", err
	}
	return id, nil
}

// post checks a message.
func (d *Driver) post(ctx context.Context, out channel.Outgoing) (p post, err error) {
	if d.faulty != nil {
		return p, d.faulty
	}
	if p.at, err = placeOf(out.Chat); err != nil {
		return p, err
	}
	p.text = out.Text
	if n := p.text.Length(); n > textLimit {
		return p, refused("the text has %d UTF-16 code units, and Telegram takes at most %d", n, textLimit)
	}
	if strings.TrimSpace(p.text.Plain) == "" && out.File == nil {
		return p, refused("the message is empty")
	}
	// What is not of this chat, or of the group that a supergroup was, is not known here: the text goes without.
	if m, err := d.messageOf(ctx, p.at, out.ReplyTo); err == nil && m.chat == d.now(ctx, p.at.chat) {
		p.reply = &models.ReplyParameters{MessageID: m.number, AllowSendingWithoutReply: true}
	}
	if len(out.Buttons) == 0 {
		return p, nil
	}
	var k keyboard
	for _, row := range out.Buttons {
		var line []button
		for _, b := range row {
			if b.Label == "" || b.Data == "" || len(b.Data) > buttonLimit {
				return p, refused("the button %q has no label, or its data do not have between 1 and %d bytes", b.Label, buttonLimit)
			}
			line = append(line, button{b.Label, b.Data})
		}
		k.Rows = append(k.Rows, line)
	}
	p.buttons = k
	return p, nil
}

// to calls a method for a chat, and once more where the chat moved to.
func to[T any](ctx context.Context, d *Driver, at place, call func(chat int64) (T, error)) (T, error) {
	result, err := call(d.now(ctx, at.chat))
	if r := (*refusal)(nil); errors.As(err, &r) && r.migrateTo != 0 {
		d.move(ctx, at.chat, r.migrateTo)
		return call(r.migrateTo)
	}
	return result, err
}

func (d *Driver) sendText(ctx context.Context, p post) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	sent, err := to(ctx, d, p.at, func(chat int64) (*models.Message, error) {
		return d.bot.SendMessage(ctx, &bot.SendMessageParams{
			ChatID: chat, MessageThreadID: p.at.thread, Text: p.text.Plain, Entities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
			// To show what is behind a link, Telegram asks its server. Nobody agreed to that.
			LinkPreviewOptions: &models.LinkPreviewOptions{IsDisabled: bot.True()},
		})
	})
	return d.sent(p, "sendMessage", sent, err)
}

// sent returns the ID of a message that was sent.
func (d *Driver) sent(p post, method string, m *models.Message, err error) (string, error) {
	if err != nil {
		return "", failure(method, err, once)
	}
	id := messageID(m.Chat.ID, m.ID)
	if p.at.thread != 0 {
		d.topics.Put(id, p.at.thread, len(id)+8)
	}
	return id, nil
}

// sendFile sends a file as what it is. A picture or a spoken message that Telegram does not take as one is sent as a
// document.
func (d *Driver) sendFile(ctx context.Context, p post, file *channel.File) (string, error) {
	how := d.uploadOf(file)
	id, err := d.upload(ctx, p, file, how)
	if r := (*refusal)(nil); errors.As(err, &r) && how.method != sendDocument && isOfMedia(r.text) {
		d.config.Logger.Info("telegram: a file is sent as a document", "name", file.Name, "media", file.Media, "err", err)
		return d.upload(ctx, p, file, d.document())
	}
	return id, err
}

// isOfMedia reports whether a refusal is one of a file as a picture or a spoken message.
func isOfMedia(text string) bool {
	for _, word := range [...]string{"PHOTO_", "IMAGE_PROCESS_FAILED", "VOICE_MESSAGES_FORBIDDEN"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// upload sends a file by a method.
func (d *Driver) upload(ctx context.Context, p post, file *channel.File, how upload) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	sent, err := to(ctx, d, p.at, func(chat int64) (*models.Message, error) {
		in, err := file.Open()
		if err != nil {
			return nil, refused("open the file: %w", err)
		}
		reader := &guarded{in: in}
		defer reader.close()
		return how.send(ctx, p, chat, &models.InputFileUpload{Filename: fileName(file.Name), Data: reader})
	})
	return d.sent(p, how.method, sent, err)
}

// fileName returns a name that fits into the head of a part of a form.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(`/\"`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if strings.Trim(name, ". ") == "" {
		return "file"
	}
	return name
}
