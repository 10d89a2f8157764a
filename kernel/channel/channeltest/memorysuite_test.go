package channeltest_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
)

// TestMemory holds the chat in memory against what every driver keeps. TestSuiteFinds runs it with drivers that have a fault.
func TestMemory(t *testing.T) {
	channeltest.DriverSuite(t, func(*testing.T) channeltest.Fixture {
		r := &room{m: &channeltest.Memory{}}
		if name := os.Getenv(fault); name != "" {
			return faultyRoom{r, &faulty{Memory: r.m, fault: name}}
		}
		return r
	})
}

// room is a person in a room of a chat in memory.
type room struct {
	m    *channeltest.Memory
	name string // of the person, that of the memory if it is empty
}

func (r *room) Driver(*testing.T) channel.Driver { return r.m }
func (*room) Chat() string                       { return "room" }

func (r *room) Say(_ *testing.T, line channeltest.Line) string {
	m := channel.Message{Text: line.Text}
	if r.name != "" {
		m.Sender = channel.Person{ID: "ada", Name: r.name}
	}
	if line.ReplyTo != "" {
		mine := slices.ContainsFunc(r.m.Sent("room"), func(s channeltest.Sent) bool { return s.MessageID == line.ReplyTo })
		m.Reply = &channel.Quote{ID: line.ReplyTo, ToMe: mine}
	}
	for _, f := range line.Files {
		m.Attachments = append(m.Attachments, channeltest.Attachment(f.Name, f.Media, f.Data))
	}
	return r.m.Post(m)
}

func (r *room) Seen(*testing.T) (all []channeltest.Seen) {
	for _, s := range r.m.Sent("room") {
		seen := channeltest.Seen{ID: s.MessageID, Text: s.Text.Plain, ReplyTo: s.ReplyTo}
		if s.File != nil {
			seen.File = &channeltest.Upload{Name: s.File.Name, Media: s.File.Media, Data: s.Data}
		}
		for _, row := range s.Buttons {
			for _, b := range row {
				seen.Buttons = append(seen.Buttons, b.Label)
			}
		}
		all = append(all, seen)
	}
	return all
}

func (r *room) Change(_ *testing.T, id, text string) {
	r.m.Post(channel.Message{Kind: channel.Edited, Of: id, Text: text})
}

func (r *room) Remove(_ *testing.T, id string) {
	r.m.Post(channel.Message{Kind: channel.Deleted, Of: id})
}

func (r *room) PersonReacts(_ *testing.T, id, emoji string, remove bool) {
	kind := channel.Reacted
	if remove {
		kind = channel.Unreact
	}
	r.m.Post(channel.Message{Kind: kind, Of: id, Text: emoji})
}

func (r *room) Reactions(_ *testing.T, id string) []string { return r.m.Reactions("room", id) }

func (r *room) Press(t *testing.T, id, label string) {
	for _, s := range r.m.Sent("room") {
		for _, b := range slices.Concat(s.Buttons...) {
			if s.MessageID == id && b.Label == label {
				r.m.Post(channel.Message{Kind: channel.Pressed, Of: id, Text: b.Data})
				return
			}
		}
	}
	t.Fatalf("the message %s has no button %s", id, label)
}

func (r *room) Rename(_ *testing.T, name string) { r.name = name }
func (r *room) Repeat(_ *testing.T, n int)       { r.m.Rewind(n) }

func (r *room) Typing(*testing.T) bool { return r.m.IsTyping("room") }
func (*room) Uploads(int) bool         { return true }
func (r *room) Stop(*testing.T)        { r.m.Stop() }
func (r *room) Start(*testing.T)       { r.m.Start() }
func (r *room) Expire(*testing.T)      { r.m.Expire() }

func (r *room) Limit(_ *testing.T, wait time.Duration) {
	r.m.Fail(&channel.Failure{Class: channel.Temporary, RetryAfter: wait, Err: errors.New("too many messages")})
}

func (r *room) Lose(*testing.T) {
	r.m.Fail(&channel.Failure{Class: channel.Unknown, Err: errors.New("the connection ended")})
}
