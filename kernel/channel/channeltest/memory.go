// Package channeltest is for tests of and with channels: a chat in memory, and what every driver keeps.
//
// Ordering, blocking, ownership: those of [channel.Driver]. A [Memory] may be used by many goroutines at once, and
// starts none. It works within a bubble of testing/synctest.
package channeltest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"org-agent/kernel/channel"
)

// Memory is a channel whose chats are in memory, with everything that a channel can have. It is both ends: the driver,
// and what people do and see in its chats. It is strict: what breaks the promises of [channel.Driver] is refused. The
// zero value is a channel "memory" with the capabilities of [Everything].
//
// A program that is started again is a second call of Run: what receive did not take is delivered again, and after
// [Memory.Rewind] what it took, too.
type Memory struct {
	Channel string               // its name, "memory" if it is empty
	Can     channel.Capabilities // those of [Everything] if TextLimit is 0
	Pause   time.Duration        // after a receive that failed; 5 ms if it is 0

	mutex   sync.Mutex
	changed chan struct{} // closed when anything changes; nil if nobody waits for it
	running bool
	away    bool
	expired bool

	happened []channel.Message
	taken    int // how many of them receive took
	number   int // of the last ID that was given

	sent      []Sent
	outcomes  []error // of the next calls that the server answers
	blocked   map[string]bool
	typing    map[string]bool
	reactions map[place][]string
}

// place is where a message is.
type place struct{ chat, id string }

// Sent is a message of the agent as people see it now.
type Sent struct {
	channel.Outgoing
	MessageID string // what Send returned
	Data      []byte // the content of its file
	Edits     int    // how often it was changed
}

var (
	_ channel.Driver  = (*Memory)(nil)
	_ channel.Editor  = (*Memory)(nil)
	_ channel.Deleter = (*Memory)(nil)
	_ channel.Reactor = (*Memory)(nil)
	_ channel.Typist  = (*Memory)(nil)
)

// Everything are capabilities with all that there is.
func Everything() channel.Capabilities {
	return channel.Capabilities{TextLimit: 4096, FileLimit: 1 << 20, Idempotent: true, Edits: true, Buttons: true, Voice: true}
}

// Post has something happen in a chat, and returns its ID. What the message leaves empty is filled: the ID with a new
// one, the chat with "room", the sender with Ada, and the time with that of now.
func (m *Memory) Post(message channel.Message) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if message.ID == "" {
		message.ID = m.newID()
	}
	message.Chat.ID = cmp.Or(message.Chat.ID, "room")
	if message.Sender.ID == "" {
		message.Sender = channel.Person{ID: "ada", Name: "Ada"}
	}
	if message.Sent.IsZero() {
		message.Sent = time.Now()
	}
	m.happened = append(m.happened, message)
	m.tell()
	return message.ID
}

// Rewind has the last n messages that receive took delivered again, as by a server that was not told of it.
func (m *Memory) Rewind(n int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.taken = max(0, m.taken-n)
	m.tell()
}

// Waiting returns how many messages receive has not taken yet.
func (m *Memory) Waiting() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return len(m.happened) - m.taken
}

// Sent returns the messages of the agent in a chat, in the order in which they were sent, without those that were taken back.
func (m *Memory) Sent(chat string) []Sent {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.in(chat)
}

func (m *Memory) in(chat string) (in []Sent) {
	for _, s := range m.sent {
		if s.Chat == chat {
			in = append(in, s)
		}
	}
	return in
}

// Wait waits until the agent has sent n messages to a chat, or ctx ends.
func (m *Memory) Wait(ctx context.Context, chat string, n int) ([]Sent, error) {
	for {
		m.mutex.Lock()
		in, changed := m.in(chat), m.onChange()
		m.mutex.Unlock()
		if len(in) >= n {
			return in, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return in, ctx.Err()
		}
	}
}

// Reactions returns how the agent reacted to a message.
func (m *Memory) Reactions(chat, id string) []string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Clone(m.reactions[place{chat, id}])
}

// IsTyping reports whether it is shown in a chat that an answer is being written. It does not end by itself.
func (m *Memory) IsTyping(chat string) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.typing[chat]
}

// Fail says how the next calls of Send, Edit, Delete and React end; nil is one that succeeds. Such a call does nothing
// but for a [channel.Failure] that is [channel.Unknown]: that one is done, and nobody hears of it.
func (m *Memory) Fail(outcomes ...error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.outcomes = append(m.outcomes, outcomes...)
}

// Stop takes the server away until Start.
func (m *Memory) Stop() { m.set(func() { m.away = true }) }

// Start brings it back.
func (m *Memory) Start() { m.set(func() { m.away = false }) }

// Expire has the account's token end, for good.
func (m *Memory) Expire() { m.set(func() { m.expired = true }) }

// Block has a chat refuse messages of the agent, for good.
func (m *Memory) Block(chat string) {
	m.set(func() {
		if m.blocked == nil {
			m.blocked = map[string]bool{}
		}
		m.blocked[chat] = true
	})
}

func (m *Memory) set(change func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	change()
	m.tell()
}

// Name implements [channel.Driver].
func (m *Memory) Name() string { return cmp.Or(m.Channel, "memory") }

// Capabilities implements [channel.Driver].
func (m *Memory) Capabilities() channel.Capabilities {
	if m.Can.TextLimit == 0 {
		return Everything()
	}
	return m.Can
}

// Run implements [channel.Driver]. The messages of all chats are delivered one after the other.
func (m *Memory) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	m.mutex.Lock()
	if m.running {
		m.mutex.Unlock()
		return errors.New("the channel is run already")
	}
	m.running = true
	m.mutex.Unlock()
	defer m.set(func() { m.running = false })
	for ctx.Err() == nil {
		message, changed, err := m.next()
		if err != nil {
			return err
		}
		if changed != nil {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		if receive(ctx, message) == nil {
			m.set(func() { m.taken++ })
			continue
		}
		select {
		case <-time.After(cmp.Or(m.Pause, 5*time.Millisecond)):
		case <-ctx.Done():
		}
	}
	return nil
}

// next returns what is to be delivered, or what is closed when there may be something.
func (m *Memory) next() (channel.Message, <-chan struct{}, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.expired {
		return channel.Message{}, nil, unauthorized()
	}
	if m.away || m.taken >= len(m.happened) {
		return channel.Message{}, m.onChange(), nil
	}
	return m.happened[m.taken], nil, nil
}

// onChange returns what is closed at the next change.
func (m *Memory) onChange() <-chan struct{} {
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return m.changed
}

func (m *Memory) tell() {
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

func (m *Memory) newID() string {
	m.number++
	return "m" + strconv.Itoa(m.number)
}
