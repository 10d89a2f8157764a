package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post is an outbox over a real journal, and the chat that it sends to.
type post struct {
	t       *testing.T
	journal *journal.Journal
	chat    *channeltest.Memory
	outbox  *outbox.Outbox
	mu      sync.Mutex
	told    []string
	stop    func()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newPost(t *testing.T, can channel.Capabilities) *post {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	p := &post{t: t, journal: j, chat: &channeltest.Memory{Can: can}}
	p.begin()
	t.Cleanup(func() { p.stop() })
	return p
}

// begin starts what a kernel starts.
func (p *post) begin() {
	p.outbox = outbox.New(outbox.Config{
		Store: p.journal.Outgoing, Logger: slog.New(slog.DiscardHandler), Pause: func(int) time.Duration { return 5 * time.Millisecond },
		Tell: func(_ context.Context, m journal.Outgoing, why string) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.told = append(p.told, m.ID+": "+why)
			return nil
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		p.outbox.Run(ctx, p.chat)
		close(ended)
	}()
	p.stop = func() { cancel(); <-ended }
}

func (p *post) compose(m outbox.Message) []journal.Outgoing {
	p.t.Helper()
	messages, err := outbox.Compose(p.chat.Name(), p.chat.Capabilities(), m, time.Now())
	must(p.t, err)
	return messages
}

func (p *post) queue(m outbox.Message) {
	p.t.Helper()
	must(p.t, p.outbox.Queue(p.t.Context(), p.compose(m)))
}

// becomes waits until it is known what became of an act, and returns that.
func (p *post) becomes(act string) []journal.Outgoing {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	messages, err := p.outbox.Await(ctx, act)
	must(p.t, err)
	return messages
}

func (p *post) texts(chat string) (texts []string) {
	for _, s := range p.chat.Sent(chat) {
		texts = append(texts, s.Text.Plain)
	}
	return texts
}

func (p *post) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told)
}

func text(act, chat, s string) outbox.Message {
	return outbox.Message{Act: act, Chat: chat, Text: rich.Plain(s)}
}

// TestSends checks that a message is sent in pieces that fit, in order, with its files behind it, and that the chat has it then.
func TestSends(t *testing.T) {
	p := newPost(t, channel.Capabilities{TextLimit: 20, FileLimit: 1 << 20, Buttons: true})
	file := filepath.Join(t.TempDir(), "a.txt")
	must(t, os.WriteFile(file, []byte("content"), 0o600))
	m := text("a1", "loft", "one two three four five six seven eight")
	m.ReplyTo, m.Files, m.Buttons = "", []outbox.File{{Path: file, Name: "a.txt", Media: "text/plain"}}, [][]channel.Button{{{Label: "Yes", Data: "y"}}}
	p.queue(m)
	messages := p.becomes("a1")
	sent := p.chat.Sent("loft")
	if len(messages) != 3 || len(sent) != 3 || strings.Join(p.texts("loft"), " ") != "one two three four five six seven eight " {
		t.Fatalf("it becomes %+v, sent is %+v", messages, sent)
	}
	for _, m := range messages {
		if m.State != journal.OutgoingSent || m.Sent == "" {
			t.Errorf("a message is %+v", m)
		}
	}
	if len(sent[0].Buttons) != 0 || len(sent[1].Buttons) != 1 {
		t.Errorf("the buttons are below the wrong piece: %+v", sent)
	}
	if kept, err := p.journal.Chats.Message(t.Context(), p.chat.Name(), messages[2].Sent); err != nil || len(kept.Attachments) != 1 || kept.Attachments[0].Size != 7 {
		t.Errorf("the chat has %+v, %v", kept, err)
	}
	p.queue(m)
	p.becomes("a1")
	if again := p.chat.Sent("loft"); len(again) != 3 {
		t.Errorf("it is sent twice: %+v", again)
	}
}

// TestNothingToSend checks that an empty message is none.
func TestNothingToSend(t *testing.T) {
	if all, err := outbox.Compose("dove", channel.Capabilities{TextLimit: 9}, text("a", "loft", " \n"), time.Now()); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestFailures checks what becomes of a message whose sending fails, for each class, and that the owner is told once of
// what will not be sent any more.
func TestFailures(t *testing.T) {
	failure := func(class channel.FailureClass) error {
		return &channel.Failure{Class: class, Err: errors.New("the wind is too strong")}
	}
	for _, c := range []struct {
		name       string
		idempotent bool
		failure    error
		state      journal.OutgoingState
		sent       int
	}{
		{"temporary", false, failure(channel.Temporary), journal.OutgoingSent, 1},
		{"not classified", false, errors.New("odd"), journal.OutgoingSent, 1},
		{"refused", false, failure(channel.Refused), journal.OutgoingFailed, 0},
		{"unknown", false, failure(channel.Unknown), journal.OutgoingUnknown, 0},
		{"unknown, and the chat knows ids", true, failure(channel.Unknown), journal.OutgoingSent, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPost(t, channel.Capabilities{TextLimit: 100, Idempotent: c.idempotent})
			p.chat.Fail(c.failure, c.failure)
			p.queue(text("a1", "loft", "hello"))
			if got := p.becomes("a1"); got[0].State != c.state {
				t.Errorf("it becomes %+v", got[0])
			}
			if c.sent == 0 { // what follows is not held up
				p.queue(text("a2", "loft", "again"))
				p.queue(text("a3", "loft", "and again"))
				p.becomes("a3")
			}
			told := p.complaints()
			if final := c.state != journal.OutgoingSent; final != (len(told) > 0) || final && !strings.HasPrefix(told[0], "a1.1: the wind") {
				t.Errorf("told is %q", told)
			}
		})
	}
}

// TestInterrupted checks what becomes of a message that was being sent when the kernel was killed.
func TestInterrupted(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		t.Run(fmt.Sprint(idempotent), func(t *testing.T) {
			p := newPost(t, channel.Capabilities{TextLimit: 100, Idempotent: idempotent})
			p.stop()
			messages := p.compose(text("a1", "loft", "hello"))
			must(t, p.journal.Outgoing.Queue(t.Context(), append(messages, p.compose(text("a2", "loft", "on"))...)...))
			m := messages[0]
			m.State, m.Attempts = journal.OutgoingSending, 1
			must(t, p.journal.Outgoing.Set(t.Context(), m, "", journal.ChatFields{}, time.Now()))
			p.begin()
			p.becomes("a2")
			want, told := []string{"on"}, 1
			if idempotent {
				want, told = []string{"hello", "on"}, 0
			}
			if got := p.texts("loft"); !slices.Equal(got, want) || len(p.complaints()) != told {
				t.Errorf("sent is %q, told %q", got, p.complaints())
			}
		})
	}
}

// TestOtherChatsGoOn checks that a chat that cannot be reached holds up no other one.
func TestOtherChatsGoOn(t *testing.T) {
	p := newPost(t, channel.Capabilities{TextLimit: 100})
	p.chat.Fail(&channel.Failure{Class: channel.Temporary, RetryAfter: time.Hour, Err: errors.New("slower")})
	p.queue(text("a1", "loft", "hello"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if got, err := p.outbox.Await(ctx, "a1"); err != nil || got[0].State != journal.OutgoingWaiting || got[0].Failure != "slower" {
		t.Errorf("it becomes %+v, %v", got, err)
	}
	for i := range 6 {
		p.queue(text(fmt.Sprint("b", i), fmt.Sprint("tower", i), "hello"))
	}
	for i := range 6 {
		if got := p.becomes(fmt.Sprint("b", i)); got[0].State != journal.OutgoingSent {
			t.Errorf("it becomes %+v", got)
		}
	}
}

// TestOrder checks for random messages and failures, with restarts between them, that each chat has what was said in it, once
// and in order.
func TestOrder(t *testing.T) {
	p, round := newPost(t, channel.Capabilities{TextLimit: 30, Idempotent: true}), 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		want := map[string][]string{}
		var acts []string
		for i := range rapid.IntRange(1, 12).Draw(r, "messages") {
			chat := rapid.SampledFrom([]string{"loft", "tower", "barn"}).Draw(r, "chat") + fmt.Sprint(round)
			said := fmt.Sprintf("message %d", i)
			want[chat] = append(want[chat], said)
			acts = append(acts, fmt.Sprintf("a%d-%d", round, i))
			switch rapid.IntRange(0, 4).Draw(r, "then") {
			case 0:
				p.chat.Fail(&channel.Failure{Class: channel.Unknown, Err: errors.New("cut")})
			case 1:
				p.stop()
				p.begin()
			}
			p.queue(text(acts[i], chat, said))
		}
		for _, act := range acts {
			p.becomes(act)
		}
		for chat, said := range want {
			if got := p.texts(chat); !slices.Equal(got, said) {
				r.Errorf("%s has %q, said was %q", chat, got, said)
			}
		}
	})
}
