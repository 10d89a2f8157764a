package channeltest

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"org-agent/kernel/channel"
)

// Fixture is a server of a chat on which the agent has an account, and the hands and eyes of one person in one private
// chat with it. It belongs to one test, which ends it by t.Cleanup. A method that cannot do what it is for fails the test.
//
// What not every chat has is in interfaces that a fixture implements as well: [Changing], [Removing], [Reacting],
// [Pressing], [Watching], [Uploading], [Outage], [Dropping], [Limiting], [Losing], [Expiring], [Secretive], [Naming], [Repeating]. [DriverSuite]
// plays what the fixture has. One whose driver reacts, types or has buttons has the interface for it.
type Fixture interface {
	// Driver returns a new driver of the account with the State of those before, as a program that is started again
	// has one. Nobody runs the ones before any more.
	Driver(t *testing.T) channel.Driver
	// Chat returns the ID of the chat as the driver has it.
	Chat() string
	// Say has the person write a message, and returns its ID as the driver delivers it.
	Say(t *testing.T, line Line) string
	// Seen returns the agent's messages that the person sees now, in the order of the chat.
	Seen(t *testing.T) []Seen
}

// Line is a message that a person writes.
type Line struct {
	Text    string
	ReplyTo string // the ID of a message, "" for none
	Files   []Upload
}

// Upload is a file of a message.
type Upload struct {
	Name, Media string
	Data        []byte
	Voice       bool
}

// Seen is a message of the agent as the person sees it.
type Seen struct {
	ID      string // what Send returned
	Text    string // without marks of formatting
	ReplyTo string
	File    *Upload
	Buttons []string // the labels
}

// Changing is a fixture in which the person changes messages. A change has an effect when the driver delivers it.
type Changing interface {
	Change(t *testing.T, id, text string)
}

// Removing is a fixture in which the person takes messages back.
type Removing interface {
	Remove(t *testing.T, id string)
}

// Reacting is a fixture in which people react.
type Reacting interface {
	// PersonReacts has the person react to a message, or take that back.
	PersonReacts(t *testing.T, id, emoji string, remove bool)
	// Reactions returns how the agent has reacted to a message.
	Reactions(t *testing.T, id string) []string
}

// Pressing is a fixture in which the person presses the button of a message that has a label.
type Pressing interface {
	Press(t *testing.T, id, label string)
}

// Watching is a fixture in which the person sees that an answer is being written.
type Watching interface {
	Typing(t *testing.T) bool
}

// Uploading is a fixture in which the person's messages have files.
type Uploading interface {
	// Uploads reports whether one of that size can be sent.
	Uploads(size int) bool
}

// Outage is a fixture whose server goes away and comes back. Nobody says anything while it is away.
type Outage interface {
	Stop(t *testing.T)
	Start(t *testing.T)
}

// Dropping is a fixture whose server ends all connections that there are.
type Dropping interface {
	Drop(t *testing.T)
}

// Limiting is a fixture whose server answers the next message with the time to wait.
type Limiting interface {
	Limit(t *testing.T, wait time.Duration)
}

// Losing is a fixture whose server takes the next message and ends the connection before it answers.
type Losing interface {
	Lose(t *testing.T)
}

// Expiring is a fixture in which the token of the account ends.
type Expiring interface {
	Expire(t *testing.T)
}

// Secretive is a fixture that knows what nobody may print.
type Secretive interface {
	Secrets() []string
}

// Attachment returns a file that somebody sends.
func Attachment(name, media string, data []byte) channel.Attachment {
	return channel.Attachment{Name: name, Media: media, Size: int64(len(data)), Open: func(ctx context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), ctx.Err()
	}}
}

// File returns a file that the agent sends.
func File(name, media string, data []byte) *channel.File {
	return &channel.File{Name: name, Media: media, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}
