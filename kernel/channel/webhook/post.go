package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"org-agent/kernel/channel"
)

// incoming is what a program says that somebody wrote.
type incoming struct {
	ID       string    `json:"id"` // the same when it is said again; not that of another message, nor one of the agent's
	Chat     string    `json:"chat"`
	Title    string    `json:"title"`
	Group    bool      `json:"group"`
	Sender   person    `json:"sender"`
	Text     string    `json:"text"`
	Mentions bool      `json:"mentions"`
	ReplyTo  string    `json:"reply_to"`
	Sent     time.Time `json:"sent"` // now if it is missing

	Attachments []file `json:"attachments"`
}

type person struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
}

// file is a file of a message.
type file struct {
	Name  string `json:"name"`
	Media string `json:"media"`
	Voice bool   `json:"voice,omitempty"`
	Data  []byte `json:"data"` // as base64
}

// failed is the answer to a request that is refused.
type failed struct {
	Error string `json:"error"`
}

// answer answers a request.
func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // whoever does not read the answer asks again
}

// post takes a message.
func (d *Driver) post(w http.ResponseWriter, r *http.Request, receive func(context.Context, channel.Message) error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		answer(w, http.StatusUnsupportedMediaType, failed{"the Content-Type is not application/json"})
		return
	}
	in, err := read(http.MaxBytesReader(w, r.Body, largestBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		answer(w, http.StatusRequestEntityTooLarge, failed{fmt.Sprintf("the message has more than %d bytes", largestBody)})
		return
	}
	if err != nil {
		answer(w, http.StatusBadRequest, failed{err.Error()})
		return
	}
	turn := d.turn(in.Chat)
	turn.Lock()
	defer turn.Unlock()
	if err := receive(r.Context(), in.message()); err != nil {
		d.config.Logger.Warn("a message was not taken", "channel", d.config.Name, "message", in.ID, "error", err)
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusServiceUnavailable, failed{"the message was not taken: say it again, with the same id"})
		return
	}
	answer(w, http.StatusOK, struct {
		ID string `json:"id"`
	}{in.ID})
}

// read reads a message.
func read(body io.Reader) (in incoming, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return in, fmt.Errorf("the message cannot be read: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("something follows the message")
	}
	switch {
	case in.ID == "" || len(in.ID) > 200:
		return in, errors.New("id is missing, or longer than 200 bytes")
	case strings.HasPrefix(in.ID, ownID):
		return in, fmt.Errorf("id begins with %s, as those of the agent's messages do", ownID)
	case in.Chat == "" || len(in.Chat) > 200:
		return in, errors.New("chat is missing, or longer than 200 bytes")
	case in.Sender.ID == "" || len(in.Sender.ID) > 200:
		return in, errors.New("the id of the sender is missing, or longer than 200 bytes")
	case in.Text == "" && len(in.Attachments) == 0:
		return in, errors.New("there is no text and no attachment")
	}
	for _, id := range []string{in.ID, in.Chat, in.Sender.ID} {
		if !utf8.ValidString(id) {
			return in, errors.New("an id is not valid UTF-8")
		}
	}
	return in, nil
}

// message returns what is delivered.
func (in incoming) message() channel.Message {
	m := channel.Message{
		ID: in.ID, Chat: channel.Chat{ID: in.Chat, Title: in.Title, Group: in.Group}, Sender: channel.Person(in.Sender),
		Text: in.Text, Mentions: in.Mentions, Sent: in.Sent,
	}
	if m.Sent.IsZero() {
		m.Sent = time.Now()
	}
	if in.ReplyTo != "" {
		m.Reply = &channel.Quote{ID: in.ReplyTo, ToMe: strings.HasPrefix(in.ReplyTo, ownID)}
	}
	for _, f := range in.Attachments {
		m.Attachments = append(m.Attachments, channel.Attachment{
			Name: f.Name, Media: f.Media, Size: int64(len(f.Data)), Voice: f.Voice,
			Open: func(ctx context.Context) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(f.Data)), ctx.Err()
			},
		})
	}
	return m
}

// mostChats is how many chats have a lock of their own.
const mostChats = 1000

// turn returns the lock of a chat. Where there are too many chats, those that come later share one.
func (d *Driver) turn(chat string) *sync.Mutex {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if len(d.chats) >= mostChats && d.chats[chat] == nil {
		chat = ""
	}
	if d.chats[chat] == nil {
		d.chats[chat] = &sync.Mutex{}
	}
	return d.chats[chat]
}
