package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"org-agent/kernel/channel"
)

// ownID is how the ids of the agent's messages begin.
const ownID = "agent:"

// What is kept at most.
const (
	mostKept  = 256
	mostBytes = 16 << 20
)

// outgoing is a message of the agent, as programs get it.
type outgoing struct {
	Number  int64  `json:"number"` // grows with each message of the channel
	ID      string `json:"id"`
	Chat    string `json:"chat"`
	Text    string `json:"text"`
	HTML    string `json:"html,omitempty"` // if the text has any formatting
	ReplyTo string `json:"reply_to,omitempty"`
	File    *file  `json:"file,omitempty"`

	Sent string `json:"-"` // the ID of [channel.Outgoing]
}

// stored is how a message is stored.
type stored struct {
	outgoing
	Sent string `json:"sent"`
}

// slot is a place for a message. Slots are stored one by one, and used again.
type slot struct {
	outgoing
	bytes   int
	fetched bool
}

// kept are the messages that may not have been fetched yet. It is loaded when it is used first.
type kept struct {
	state channel.State

	mutex   sync.Mutex
	loaded  bool
	slots   []slot // by number of the slot; Number is 0 for one that is free
	last    int64
	changed chan struct{} // closed when there is another message, nil if nobody waits
}

func keyOf(i int) string { return "outgoing/" + strconv.Itoa(i) }

// load reads what is stored.
func (k *kept) load(ctx context.Context) error {
	if k.loaded {
		return nil
	}
	slots := make([]slot, mostKept)
	for i := range slots {
		text, err := k.state.Load(ctx, keyOf(i))
		if err != nil {
			return fmt.Errorf("load what was not fetched: %w", err)
		}
		var s stored
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return fmt.Errorf("read what was not fetched: %w", err)
		}
		s.outgoing.Sent = s.Sent
		slots[i] = slot{outgoing: s.outgoing, bytes: len(text)}
		k.last = max(k.last, s.Number)
	}
	k.slots, k.loaded = slots, true
	return nil
}

// add stores a message, and returns its id. One with the same Sent is stored once.
func (k *kept) add(ctx context.Context, out outgoing) (string, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if err := k.load(ctx); err != nil {
		return "", err
	}
	if i := slices.IndexFunc(k.slots, func(s slot) bool { return s.Number > 0 && s.Sent == out.Sent }); i >= 0 {
		return k.slots[i].ID, nil
	}
	out.Number = k.last + 1
	out.ID = ownID + strconv.FormatInt(out.Number, 10)
	text, err := json.Marshal(stored{out, out.Sent})
	if err != nil {
		return "", err
	}
	free, bytes := k.free()
	if free < 0 || bytes+len(text) > mostBytes {
		return "", errors.New("there is too much that no program has fetched: nothing asks for the messages of this channel any more, or not with after")
	}
	if err := k.state.Store(ctx, keyOf(free), string(text)); err != nil {
		return "", fmt.Errorf("store the message: %w", err)
	}
	k.last = out.Number
	k.slots[free] = slot{outgoing: out, bytes: len(text)}
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
	return out.ID, nil
}

// free returns a slot that can be used, that with the oldest of the messages that were fetched, and how many bytes are
// kept without it. It is negative if there is none.
func (k *kept) free() (free, bytes int) {
	free = -1
	for i, s := range k.slots {
		bytes += s.bytes
		if (s.Number == 0 || s.fetched) && (free < 0 || s.Number < k.slots[free].Number) {
			free = i
		}
	}
	if free >= 0 {
		bytes -= k.slots[free].bytes
	}
	return free, bytes
}

// after returns the messages of a chat behind a number, the oldest first. Those up to the number count as fetched.
// changed is closed when there is another message.
func (k *kept) after(ctx context.Context, chat string, number int64) (messages []outgoing, changed <-chan struct{}, err error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if err := k.load(ctx); err != nil {
		return nil, nil, err
	}
	for i := range k.slots {
		switch s := &k.slots[i]; {
		case s.Number == 0 || s.Chat != chat:
		case s.Number <= number:
			s.fetched = true
		default:
			messages = append(messages, s.outgoing)
		}
	}
	slices.SortFunc(messages, func(a, b outgoing) int { return int(a.Number - b.Number) })
	if k.changed == nil {
		k.changed = make(chan struct{})
	}
	return messages, k.changed, nil
}
