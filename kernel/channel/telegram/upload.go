package telegram

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel"
)

// upload is a way to send a file.
type upload struct {
	method string
	send   func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error)
}

const sendDocument = "sendDocument"

// uploadOf returns the way to send a file by which people see or hear it in the chat, if there is one.
func (d *Driver) uploadOf(file *channel.File) upload {
	media, _, _ := strings.Cut(strings.ToLower(file.Media), ";")
	media = strings.TrimSpace(media)
	song := media == "audio/mpeg" || media == "audio/mp4" || media == "audio/x-m4a" || media == "audio/m4a"
	switch {
	case file.Voice && (song || media == "audio/ogg" || media == "audio/opus"):
		return d.voice()
	case (media == "image/jpeg" || media == "image/png") && file.Size <= photoLimit:
		return d.photo()
	case media == "image/gif":
		return d.animation()
	case media == "video/mp4":
		return d.video()
	case song:
		return d.audio()
	}
	return d.document()
}

func (d *Driver) document() upload {
	return upload{sendDocument, func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error) {
		return d.bot.SendDocument(ctx, &bot.SendDocumentParams{
			ChatID: chat, MessageThreadID: p.at.thread, Document: file, Caption: p.text.Plain, CaptionEntities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
			DisableContentTypeDetection: true,
		})
	}}
}

func (d *Driver) photo() upload {
	return upload{"sendPhoto", func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error) {
		return d.bot.SendPhoto(ctx, &bot.SendPhotoParams{
			ChatID: chat, MessageThreadID: p.at.thread, Photo: file, Caption: p.text.Plain, CaptionEntities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
		})
	}}
}

func (d *Driver) animation() upload {
	return upload{"sendAnimation", func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error) {
		return d.bot.SendAnimation(ctx, &bot.SendAnimationParams{
			ChatID: chat, MessageThreadID: p.at.thread, Animation: file, Caption: p.text.Plain, CaptionEntities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
		})
	}}
}

func (d *Driver) video() upload {
	return upload{"sendVideo", func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error) {
		return d.bot.SendVideo(ctx, &bot.SendVideoParams{
			ChatID: chat, MessageThreadID: p.at.thread, Video: file, Caption: p.text.Plain, CaptionEntities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
		})
	}}
}

func (d *Driver) audio() upload {
	return upload{"sendAudio", func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error) {
		return d.bot.SendAudio(ctx, &bot.SendAudioParams{
			ChatID: chat, MessageThreadID: p.at.thread, Audio: file, Caption: p.text.Plain, CaptionEntities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
		})
	}}
}

func (d *Driver) voice() upload {
	return upload{"sendVoice", func(ctx context.Context, p post, chat int64, file models.InputFile) (*models.Message, error) {
		return d.bot.SendVoice(ctx, &bot.SendVoiceParams{
			ChatID: chat, MessageThreadID: p.at.thread, Voice: file, Caption: p.text.Plain, CaptionEntities: entities(p.text), ReplyParameters: p.reply, ReplyMarkup: p.buttons,
		})
	}}
}

// guarded is a file that is sent. The library reads it in a goroutine for which nobody waits, and which may still be in
// a read when the server has answered: close waits for that, and there are no more reads behind it.
type guarded struct {
	mutex  sync.Mutex
	in     io.ReadCloser
	closed bool
	sent   int64
}

func (g *guarded) Read(p []byte) (int, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.closed {
		return 0, errors.New("the file is closed")
	}
	n, err := g.in.Read(p)
	if g.sent += int64(n); g.sent > uploadLimit {
		return 0, refused("the file has more than %d bytes", uploadLimit)
	}
	return n, err
}

func (g *guarded) close() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.closed = true
	g.in.Close()
}
