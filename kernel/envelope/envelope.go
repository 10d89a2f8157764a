// Package envelope is how a model is shown a message of a chat: as one property list, whose last property is the text. Every
// value is a string of plists, keyword or number, escaped by the one rule of package plist, so that no text of a person can
// end the message, or look like another one.
//
// Ordering, blocking, ownership: everything here is a pure function over values.
package envelope

import (
	"fmt"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Message is what is known of a message of a chat beside its text.
type Message struct {
	ID           string           `json:"message-id"`
	Sender       string           `json:"sender"` // as they call themselves
	SenderID     string           `json:"sender-id"`
	Username     string           `json:"username,omitempty"`
	Owner        bool             `json:"owner,omitempty"` // the agent's owner wrote it
	Time         string           `json:"time"`            // in the owner's zone
	Channel      protocol.Channel `json:"channel"`
	Conversation string           `json:"conversation,omitempty"` // the title of the chat
	Type         Type             `json:"type"`
	Kind         string           `json:"kind,omitempty"` // of what is no message: joined, left, pinned
	Myself       bool             `json:"myself,omitempty"`
	MentionsMe   bool             `json:"mentions-me,omitempty"`
	RepliesToMe  bool             `json:"replies-to-me,omitempty"`
	Edited       bool             `json:"edited,omitempty"`
	Deleted      bool             `json:"deleted,omitempty"`
	Forwarded    string           `json:"forwarded-from,omitempty"`
	Reply        *Quote           `json:"in-reply-to,omitempty"`
	Attachments  []Attachment     `json:"attachments,omitempty"`
}

// Type is what kind of conversation it is.
type Type string

// The types of conversations.
const (
	Private Type = "private"
	Group   Type = "group"
)

// PlistKeyword marks the type as an enum.
func (Type) PlistKeyword() {}

// Quote is the message that is answered.
type Quote struct {
	ID     string `json:"message-id"`
	Sender string `json:"sender,omitempty"`
	Text   string `json:"text,omitempty"` // its beginning
}

// Attachment is a file of a message.
type Attachment struct {
	Name  string `json:"name"`
	Media string `json:"media,omitempty"` // as its bytes say
	Said  string `json:"said-to-be,omitempty"`
	Bytes int64  `json:"bytes"`
	Path  string `json:"path,omitempty"`
	Fault string `json:"not-here,omitempty"` // why it is not kept
}

// The limits of what is shown of a message beside its text, in characters.
const (
	nameLimit  = 80
	quoteLimit = 300
)

// whole is a message with its text.
type whole struct {
	Message
	Text string `json:"text"`
}

// Clean returns the message with names that are one plain line, and with a short quote.
func (m Message) Clean() Message {
	m.Sender, m.Username, m.Conversation = text.PlainLine(m.Sender, nameLimit), text.PlainLine(m.Username, nameLimit), text.PlainLine(m.Conversation, nameLimit)
	m.Forwarded = text.PlainLine(m.Forwarded, nameLimit)
	if m.Reply != nil {
		m.Reply = &Quote{ID: m.Reply.ID, Sender: text.PlainLine(m.Reply.Sender, nameLimit), Text: text.Clip(text.Shown(m.Reply.Text), quoteLimit)}
	}
	return m
}

// Render returns the message with its text as a model is shown it, on one line.
func Render(m Message, body string) string {
	x, err := plist.Marshal(whole{m, body})
	if err != nil { // a struct of strings, numbers and booleans has a form
		return fmt.Sprintf("(:unreadable %q)", err)
	}
	return plist.Print(x)
}

// Parse is the inverse of [Render].
func Parse(shown string) (m Message, body string, err error) {
	x, err := plist.Read(shown)
	if err != nil {
		return m, "", fmt.Errorf("read a message of a chat: %w", err)
	}
	var w whole
	if err := plist.Unmarshal(x, &w); err != nil {
		return m, "", fmt.Errorf("read a message of a chat: %w", err)
	}
	return w.Message, w.Text, nil
}

// Put puts the message into the payload of its event.
func Put(m Message, payload *protocol.Object) error {
	x, err := plist.Marshal(m)
	if err != nil {
		return fmt.Errorf("describe a message of a chat: %w", err)
	}
	var fields protocol.Object
	if err := plist.Unmarshal(x, &fields); err != nil {
		return fmt.Errorf("describe a message of a chat: %w", err)
	}
	payload.Set(protocol.PayloadMessage, fields)
	return nil
}

// Show returns the text as a model is shown it: with the message whose event has the payload, or as it is if the event is no
// message of a chat.
func Show(payload protocol.Object, body string) string {
	fields, ok := payload.Get(protocol.PayloadMessage).(protocol.Object)
	if !ok {
		return body
	}
	x, err := plist.Marshal(fields)
	if err != nil {
		return body
	}
	var m Message
	if err := plist.Unmarshal(x, &m); err != nil {
		return body
	}
	return Render(m, body)
}
