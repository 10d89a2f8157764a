package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/journal"
)

// Message is what the agent sends to a chat at once: a text, files, or both.
type Message struct {
	Act     string // the act that it is; the same act is sent once
	Turn    string // of the act, "" for none
	Session string // in which the act stands, "" for none
	Chat    string
	Text    rich.Text
	ReplyTo string // the id of a message of that chat
	Files   []File
	Buttons [][]channel.Button
}

// File is a file that is sent as it is when its message is sent.
type File struct {
	Path  string `json:"path"`
	Name  string `json:"name"`
	Media string `json:"media"` // a MIME type
	Size  int64  `json:"size"`
	Voice bool   `json:"voice,omitempty"`
	// Hash is the SHA-256 of the content that is to be sent, in hexadecimal digits, "" for whatever it is then. A file with
	// another content is not sent.
	Hash string `json:"hash,omitempty"`
}

// body is what the journal keeps of a message that is to be sent.
type body struct {
	Text    string             `json:"text,omitempty"`
	Spans   []rich.Span        `json:"spans,omitempty"`
	ReplyTo string             `json:"reply-to,omitempty"`
	File    *File              `json:"file,omitempty"`
	Buttons [][]channel.Button `json:"buttons,omitempty"`
	// Draft says that it is the beginning of an act that is still being written. Replaces is the draft in whose place it
	// comes, nil for none.
	Draft    bool   `json:"draft,omitempty"`
	Replaces *place `json:"replaces,omitempty"`
}

// Compose returns the messages as which a chat gets a message: the text first, in pieces that fit, and then each file. A
// reply names what it answers in its first piece, and has its buttons below its last one. A message without anything is
// none.
func Compose(name string, can channel.Capabilities, m Message, now time.Time) ([]journal.Outgoing, error) {
	var parts []body
	if strings.TrimSpace(m.Text.Plain) != "" {
		for _, piece := range m.Text.Chunks(can.TextLimit) {
			parts = append(parts, body{Text: piece.Plain, Spans: piece.Spans})
		}
	}
	if len(parts) > 0 && can.Buttons {
		parts[len(parts)-1].Buttons = m.Buttons
	}
	for _, f := range m.Files {
		parts = append(parts, body{File: &f})
	}
	if len(parts) > 0 {
		parts[0].ReplyTo = m.ReplyTo
	}
	var all []journal.Outgoing
	for i, part := range parts {
		data, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("queue a message to %s on %s: %w", m.Chat, name, err)
		}
		all = append(all, journal.Outgoing{
			ID: fmt.Sprintf("%s.%d", m.Act, i+1), Act: m.Act, Turn: m.Turn, Session: m.Session, Channel: name, Chat: m.Chat, Body: data, Queued: now,
		})
	}
	return all, nil
}

// read returns what a driver sends for a queued message.
func read(m journal.Outgoing) (out channel.Outgoing, fields journal.ChatFields, err error) {
	var b body
	if err := json.Unmarshal(m.Body, &b); err != nil {
		return out, fields, fmt.Errorf("read the message %s: %w", m.ID, err)
	}
	out = channel.Outgoing{ID: m.ID, Chat: m.Chat, Text: rich.Text{Plain: b.Text, Spans: b.Spans}, ReplyTo: b.ReplyTo, Buttons: b.Buttons}
	fields.ReplyTo = b.ReplyTo
	if f := b.File; f != nil {
		info, err := os.Stat(f.Path)
		if err != nil {
			return out, fields, &channel.Failure{Class: channel.Refused, Err: fmt.Errorf("the file %s is not there any more", f.Name)}
		}
		if changed, err := f.changed(); err != nil || changed {
			return out, fields, &channel.Failure{Class: channel.Refused, Err: errors.Join(err, fmt.Errorf("the file %s has another content than was to be sent", f.Name))}
		}
		out.File = &channel.File{Name: f.Name, Media: f.Media, Size: info.Size(), Voice: f.Voice, Open: func() (io.ReadCloser, error) { return os.Open(f.Path) }}
		fields.Attachments = []journal.Attachment{{Name: f.Name, Media: f.Media, Size: info.Size(), Voice: f.Voice, Path: f.Path}}
	}
	return out, fields, nil
}

// changed reports whether the file has another content than the one that is to be sent.
func (f File) changed() (bool, error) {
	if f.Hash == "" {
		return false, nil
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", f.Name, err)
	}
	defer in.Close() // it is only read
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return false, fmt.Errorf("read %s: %w", f.Name, err)
	}
	return hex.EncodeToString(sum.Sum(nil)) != f.Hash, nil
}

// Text returns the text of a queued message, "" for one that is a file alone.
func Text(m journal.Outgoing) string {
	var b body
	if json.Unmarshal(m.Body, &b) != nil {
		return ""
	}
	return b.Text
}
