package channel

import (
	"context"
	"io"
	"time"

	"org-agent/kernel/channel/rich"
)

// Driver is one kind of chat. To add one, write a package with its type and add a line to the list in
// kernel/channel/drivers. What a chat can do beyond this is in small interfaces that a driver may implement as
// well: [Editor], [Deleter], [Reactor], [Typist]. channeltest.DriverSuite is what every driver keeps.
type Driver interface {
	// Name returns the channel's name in lower case. It is the :channel of the events and the
	// :target of the messages.
	Name() string
	// Capabilities returns what the chat takes. It never changes.
	Capabilities() Capabilities
	// Run delivers what happens in the chats until ctx ends, in the order in which it happened in each chat, and
	// returns when all of its goroutines have ended. It connects again by itself, with growing pauses. If
	// receive fails for a message, the driver keeps the message and delivers it again later; a message may be
	// delivered twice, also after a restart, with the same ID. An error ends the channel and says what the person
	// can do, such as that a token is not valid any more.
	Run(ctx context.Context, receive func(ctx context.Context, m Message) error) error
	// Send sends one message, and returns the id that the chat gave to it when the chat's server has it. The
	// message fits the capabilities. One that is sent again has the same ID. Errors are [*Failure]s where it matters
	// to the sender what they mean; any other error counts as [Temporary].
	Send(ctx context.Context, out Outgoing) (id string, err error)
}

// Editor is a driver whose messages can be changed. ID is what Send returned. The buttons of the message go.
type Editor interface {
	Edit(ctx context.Context, chat, id string, text rich.Text) error
}

// Deleter is a driver whose messages can be taken back.
type Deleter interface {
	Delete(ctx context.Context, chat, id string) error
}

// Reactor is a driver with reactions. To react twice in the same way, or to remove what is not there, is no error.
type Reactor interface {
	React(ctx context.Context, r Reaction) error
}

// Typist is a driver that shows in a chat that an answer is being written. What is shown ends by itself after some seconds.
type Typist interface {
	Typing(ctx context.Context, chat string, on bool) error
}

// Capabilities are what a chat takes.
type Capabilities struct {
	// TextLimit is the length of the longest text of a message, in UTF-16 code units. It is never 0.
	TextLimit int
	// FileLimit is the size of the largest file, in bytes, 0 where files cannot be sent.
	FileLimit int64
	// Idempotent says that a message that is sent again with the same ID appears once.
	Idempotent bool
	// Emoji are the only reactions that the chat takes, nil for any.
	Emoji []string
	// Edits says that a message of an [Editor] may be edited many times, and that people see its new text alone, without
	// the former ones.
	Edits bool
	// Buttons says that messages may have buttons.
	Buttons bool
	// Voice says that an audio file with Voice is shown as a spoken message.
	Voice bool
}

// MessageKind is what happened in a chat.
type MessageKind string

// The kinds of what happens. Only a said message is for the agent; the others change what is known of the chat.
const (
	Said    MessageKind = ""        // somebody wrote a message
	Edited  MessageKind = "edited"  // the message Of has a new text
	Deleted MessageKind = "deleted" // the message Of is gone
	Reacted MessageKind = "reacted" // Text is the emoji by which somebody reacted to the message Of
	Unreact MessageKind = "unreact" // and took it back
	Pressed MessageKind = "pressed" // somebody pressed a button of the message Of; Text is the button's Data
	Event   MessageKind = "event"   // somebody joined or left, a chat was renamed, a message pinned; Text says it
)

// Message is something that happened in a chat, most often a message that somebody wrote.
type Message struct {
	ID     string // assigned by the chat, unique in the channel; an edit or a reaction has an ID of its own
	Kind   MessageKind
	Chat   Chat
	Sender Person
	Text   string // plain, as people see it; "" if there are only attachments
	Of     string // the ID of the message that this is about, for the kinds that say so
	Sent   time.Time

	Myself    bool   // the agent's own account wrote it, from elsewhere; it is never answered
	Mentions  bool   // it mentions the agent's account
	Forwarded string // who wrote it first, "" if it is not forwarded
	Reply     *Quote // the message that it answers, nil for none

	Attachments []Attachment
}

// Chat is a conversation on a channel.
type Chat struct {
	// ID names it in any characters. A thread or a topic is a chat of its own: its ID has both. Case matters.
	ID    string
	Title string // for people, "" if it has none
	Group bool   // people other than the sender read it
}

// Person is somebody on a channel.
type Person struct {
	ID       string // permanent
	Name     string // as they call themselves; anybody can call themselves anything
	Username string // the address by which others find them, "" for none
}

// Quote is the message that another one answers.
type Quote struct {
	ID     string
	Sender Person
	Text   string
	ToMe   bool // the agent's account wrote it
}

// Attachment is a file that somebody sent. Name, Media and Size are what the sender says.
type Attachment struct {
	Name  string
	Media string // a MIME type, "" if it is not said
	Size  int64  // in bytes, negative if it is not said
	Voice bool   // a spoken message
	// Open fetches the file. The caller reads no more than it wants to have, and closes it.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Outgoing is a message to a chat.
type Outgoing struct {
	// ID is the same when the message is sent again: letters, digits and . _ : @ + = -, at most 160 bytes.
	ID string
	// Chat is that of a message, or another that a model proposed and a person allowed. A driver
	// whose chats are paths or addresses checks it.
	Chat    string
	Text    rich.Text
	ReplyTo string     // the id of a message of that chat, "" for none; a chat that does not know it any more shows the text without
	File    *File      // nil for none; Text is its caption, and may be empty
	Buttons [][]Button // rows; only where Capabilities has them
}

// File is a file that is sent.
type File struct {
	Name  string
	Media string // a MIME type
	Size  int64
	Voice bool // a spoken message, where the chat has those
	Open  func() (io.ReadCloser, error)
}

// Button is something that a person presses below a message.
type Button struct {
	Label string
	Data  string // what [Pressed] gives back: at most 64 bytes of ASCII
}

// Reaction is a reaction of the agent to a message.
type Reaction struct {
	Chat, ID string
	Emoji    string
	Remove   bool
}

// State is what a driver keeps across restarts, such as the place in a stream of updates.
type State interface {
	// Load returns "" for a key that was never stored.
	Load(ctx context.Context, key string) (string, error)
	Store(ctx context.Context, key, value string) error
}
