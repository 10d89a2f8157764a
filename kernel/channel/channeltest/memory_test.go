package channeltest_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/rich"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMemoryDelivers checks that what happened is delivered in order, again after a failure and a rewind, in a second
// run after the first, and not while the server is away.
func TestMemoryDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &channeltest.Memory{}
		for _, text := range []string{"one", "two", "three"} {
			m.Post(channel.Message{Text: text})
		}
		var got []string
		failures := 2
		run := func() (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			var group sync.WaitGroup
			group.Go(func() {
				err := m.Run(ctx, func(_ context.Context, message channel.Message) error {
					got = append(got, message.ID+" "+message.Text)
					if message.Text == "two" && failures > 0 {
						failures--
						return errors.New("the disk is full")
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Second)
			synctest.Wait()
			return func() { cancel(); group.Wait() }
		}
		stop := run()
		if err := m.Run(t.Context(), nil); err == nil {
			t.Error("it is run twice at once")
		}
		stop()
		if want := []string{"m1 one", "m2 two", "m2 two", "m2 two", "m3 three"}; !slices.Equal(got, want) || m.Waiting() != 0 {
			t.Errorf("the first run delivers %q, %d wait", got, m.Waiting())
		}
		got = nil
		m.Rewind(1)
		m.Stop()
		m.Post(channel.Message{ID: "own", Kind: channel.Edited, Of: "m1", Text: "ONE"})
		stop = run()
		if len(got) > 0 {
			t.Errorf("while the server is away, it delivers %q", got)
		}
		m.Start()
		synctest.Wait()
		stop()
		if want := []string{"m3 three", "own ONE"}; !slices.Equal(got, want) {
			t.Errorf("the second run delivers %q", got)
		}
		m.Expire()
		if f := failure(m.Run(t.Context(), nil)); f.Class != channel.Unauthorized {
			t.Errorf("without a token it ends with %+v", f)
		}
	})
}

// failure returns the failure that an error is, and one of no class for any other.
func failure(err error) channel.Failure {
	if f := (*channel.Failure)(nil); errors.As(err, &f) {
		return *f
	}
	return channel.Failure{}
}

// TestMemoryTakes checks what people see of what the agent sends, changes, takes back and reacts to.
func TestMemoryTakes(t *testing.T) {
	m := &channeltest.Memory{Channel: "dove"}
	theirs := m.Post(channel.Message{Text: "hello"})
	send := func(out channel.Outgoing) string {
		t.Helper()
		id, err := m.Send(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := send(channel.Outgoing{ID: "a1", Chat: "room", Text: rich.Plain("Yes."), ReplyTo: theirs})
	if again := send(channel.Outgoing{ID: "a1", Chat: "room", Text: rich.Plain("Yes.")}); again != first {
		t.Errorf("sent again, it is the message %s and not %s", again, first)
	}
	second := send(channel.Outgoing{ID: "a2", Chat: "room", File: channeltest.File("a.txt", "text/plain", []byte("file"))})
	third := send(channel.Outgoing{ID: "a3", Chat: "room", Text: rich.Plain("Gone.")})
	if err := errors.Join(
		m.Edit(t.Context(), "room", first, rich.Plain("No.")),
		m.Delete(t.Context(), "room", third),
		m.React(t.Context(), channel.Reaction{Chat: "room", ID: theirs, Emoji: "👍"}),
		m.React(t.Context(), channel.Reaction{Chat: "room", ID: theirs, Emoji: "👍"}),
		m.React(t.Context(), channel.Reaction{Chat: "room", ID: theirs, Emoji: "🎉"}),
		m.React(t.Context(), channel.Reaction{Chat: "room", ID: theirs, Emoji: "👍", Remove: true}),
		m.React(t.Context(), channel.Reaction{Chat: "room", ID: theirs, Emoji: "👍", Remove: true}),
		m.Typing(t.Context(), "room", true),
	); err != nil {
		t.Fatal(err)
	}
	in, err := m.Wait(t.Context(), "room", 2)
	if err != nil || len(in) != 2 || in[0].Text.Plain != "No." || in[0].Edits != 1 || in[0].ReplyTo != theirs || in[0].MessageID != first ||
		in[1].MessageID != second || string(in[1].Data) != "file" {
		t.Errorf("people see %+v, %v", in, err)
	}
	if got := m.Reactions("room", theirs); !slices.Equal(got, []string{"🎉"}) || !m.IsTyping("room") {
		t.Errorf("they see the reactions %q, typing %v", got, m.IsTyping("room"))
	}
	in, err = m.Wait(expired(t), "room", 3)
	if !errors.Is(err, context.Canceled) || len(in) != 2 {
		t.Errorf("waiting for what does not come: %v", err)
	}
}

func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestMemoryRefuses checks that what breaks the promises of a driver is refused, and that failures are what a test wants.
func TestMemoryRefuses(t *testing.T) {
	var m channeltest.Memory
	m.Block("them")
	limit := m.Capabilities().TextLimit
	long := channeltest.File("a", "", []byte("abc"))
	long.Size = 2
	for name, out := range map[string]channel.Outgoing{
		"no id":            {Chat: "room", Text: rich.Plain("a")},
		"an id with blank": {ID: "a b", Chat: "room", Text: rich.Plain("a")},
		"no chat":          {ID: "a", Text: rich.Plain("a")},
		"a blocked chat":   {ID: "a", Chat: "them", Text: rich.Plain("a")},
		"nothing":          {ID: "a", Chat: "room"},
		"too long":         {ID: "a", Chat: "room", Text: rich.Plain(strings.Repeat("😀", limit/2) + "a")},
		"no span":          {ID: "a", Chat: "room", Text: rich.Text{Plain: "é", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Bold}}}},
		"another size":     {ID: "a", Chat: "room", File: long},
		"a large file":     {ID: "a", Chat: "room", File: channeltest.File("a", "", make([]byte, 1<<20+1))},
		"a button's data":  {ID: "a", Chat: "room", Text: rich.Plain("a"), Buttons: [][]channel.Button{{{Label: "Yes", Data: "ä"}}}},
	} {
		if _, err := m.Send(t.Context(), out); failure(err).Class != channel.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.Send(t.Context(), channel.Outgoing{ID: "fits", Chat: "room", Text: rich.Plain(strings.Repeat("😀", limit/2))}); err != nil {
		t.Error(err)
	}
	busy := &channel.Failure{Class: channel.Temporary, RetryAfter: time.Second, Err: errors.New("too many messages")}
	lost := &channel.Failure{Class: channel.Unknown, Err: io.ErrUnexpectedEOF}
	m.Fail(busy, lost, nil)
	for i, want := range []error{busy, lost, nil} {
		_, err := m.Send(t.Context(), channel.Outgoing{ID: "again", Chat: "yard", Text: rich.Plain("a")})
		if !errors.Is(err, want) {
			t.Errorf("call %d ends with %v", i, err)
		}
		if seen := len(m.Sent("yard")); seen != min(i, 1) {
			t.Errorf("after call %d, people see %d messages", i, seen)
		}
	}
	m.Stop()
	if _, err := m.Send(t.Context(), channel.Outgoing{ID: "b", Chat: "room", Text: rich.Plain("a")}); failure(err).Class != channel.Temporary {
		t.Errorf("without a server: %v", err)
	}
	m.Start()
	m.Expire()
	if _, err := m.Send(t.Context(), channel.Outgoing{ID: "b", Chat: "room", Text: rich.Plain("a")}); failure(err).Class != channel.Unauthorized {
		t.Errorf("without a token: %v", err)
	}
}
