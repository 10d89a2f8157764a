package stream_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/channel/stream"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	route  = protocol.Route{Kind: protocol.RouteChannel, Channel: "memory", Chat: "loft"}
	answer = journal.Act{ID: "a1", Turn: "t1", Session: "memory-loft"}
)

// kernel is what is between a conversation and its chat, over a real journal.
type kernel struct {
	t       *testing.T
	journal *journal.Journal
	chat    *channeltest.Memory
	stream  *stream.Stream
	post    *outbox.Post
	told    []string
	stop    func()
}

// in runs a test with a kernel, and with a clock of its own.
func in(t *testing.T, can channel.Capabilities, test func(k *kernel)) {
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
		if err != nil {
			t.Fatal(err)
		}
		k := &kernel{t: t, journal: j, chat: &channeltest.Memory{Can: can}}
		k.begin()
		test(k)
		k.stop()
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

func everything() channel.Capabilities { return channeltest.Everything() }

func (k *kernel) begin() {
	find := func(name string) (channel.Driver, bool) { return k.chat, name == "memory" }
	box := outbox.New(outbox.Config{Store: k.journal.Outgoing, Logger: slog.New(slog.DiscardHandler), Pause: func(int) time.Duration { return time.Second },
		Tell: func(_ context.Context, m journal.Outgoing, why string) error {
			k.told = append(k.told, m.ID+": "+why)
			return nil
		}})
	k.stream = stream.New(stream.Config{Find: find, Outbox: box, Store: k.journal.Outgoing, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
	k.post = &outbox.Post{Outbox: box, Store: k.journal.Outgoing, Find: find, Stop: k.stream.Stop}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { k.stream.Run(ctx) })
	running.Go(func() { box.Run(ctx, k.chat) })
	k.stop = func() { cancel(); running.Wait() }
	synctest.Wait()
}

// write shows an answer that grows by ten characters in each tenth of a second, until it is whole.
func (k *kernel) write(text string) {
	for i := range (len(text) + 9) / 10 {
		k.stream.Preview(route, answer, text[:min(len(text), 10*i+10)])
		time.Sleep(time.Second / 10)
	}
}

// finish writes the text of an act as the conversation does, and waits until the chat has it.
func (k *kernel) finish(act journal.Act, text string) {
	k.t.Helper()
	messages, err := k.post.Compose(k.t.Context(), route, act, text)
	if err == nil {
		err = k.post.Outbox.Queue(k.t.Context(), messages)
	}
	if err == nil && len(messages) > 0 {
		_, err = k.post.Outbox.Await(k.t.Context(), act.ID)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

func (k *kernel) texts() (texts []string) {
	for _, s := range k.chat.Sent("loft") {
		texts = append(texts, s.Text.Plain)
	}
	return texts
}

func (k *kernel) expect(when string, want ...string) {
	k.t.Helper()
	synctest.Wait()
	if got := k.texts(); !slices.Equal(got, want) {
		k.t.Errorf("%s the chat has %q, not %q", when, got, want)
	}
}

func long(sentence string, length int) string {
	return strings.TrimSpace(strings.Repeat(sentence, length/len(sentence)))
}

// TestStreams checks that a long answer is shown by one message while it is written, that this is edited a bounded number of
// times, that each text is the beginning of the answer, and that the answer takes its place, in the journal as well.
func TestStreams(t *testing.T) {
	in(t, everything(), func(k *kernel) {
		text := long("It was a dark and stormy night. ", 3000) // half a minute
		began := time.Now()
		k.write(text)
		sent := k.chat.Sent("loft")
		if len(sent) != 1 {
			k.t.Fatalf("the chat has %q", k.texts())
		}
		most := int(time.Since(began)/(3*time.Second)) + 1
		if shown, _ := strings.CutSuffix(strings.TrimSuffix(sent[0].Text.Plain, "…"), " "); !strings.HasPrefix(text, shown) || len(shown) < 2000 || sent[0].Edits < most/2 || sent[0].Edits > most {
			k.t.Errorf("after %d edits, of which at most %d were expected, %q is shown", sent[0].Edits, most, sent[0].Text.Plain)
		}
		k.finish(answer, text)
		k.expect("in the end", text)
		time.Sleep(time.Minute)
		k.expect("later", text)
		kept, err := k.journal.Chats.Message(k.t.Context(), "memory", sent[0].MessageID)
		if err != nil || kept.Text != text {
			k.t.Errorf("kept is %+v, %v", kept, err)
		}
	})
}

// TestWhen checks what is not shown before it is whole, and what is at once.
func TestWhen(t *testing.T) {
	text := long("It was a dark and stormy night. ", 300)
	t.Run("a short one", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.stream.Preview(route, answer, text[:100])
			time.Sleep(time.Second)
			k.expect("after a second")
			k.finish(answer, text[:100])
			k.expect("in the end", text[:100])
			if edits := k.chat.Sent("loft")[0].Edits; edits > 0 {
				k.t.Errorf("it was edited %d times", edits)
			}
		})
	})
	t.Run("a long one", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.stream.Preview(route, answer, text[:250])
			time.Sleep(time.Second / 10)
			k.expect("at once", strings.TrimSpace(text[:250])+" …")
		})
	})
	t.Run("silence", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.stream.Preview(route, answer, "NO_RE")
			time.Sleep(time.Minute)
			k.finish(answer, "NO_REPLY")
			k.expect("in the end")
		})
	})
	for name, can := range map[string]channel.Capabilities{"a chat that shows former texts": {TextLimit: 4096, Idempotent: true}} {
		t.Run(name, func(t *testing.T) {
			in(t, can, func(k *kernel) {
				k.write(text)
				k.expect("before the end")
				k.finish(answer, text)
				k.expect("in the end", text)
			})
		})
	}
}

// TestPieces checks that an answer that does not fit in a message is shown as far as it does, and that its other pieces follow.
func TestPieces(t *testing.T) {
	can := everything()
	can.TextLimit = 400
	in(t, can, func(k *kernel) {
		text := long("It was a dark and stormy night. ", 1000)
		k.write(text)
		if got := k.texts(); len(got) != 1 || len(got[0]) < 300 {
			k.t.Errorf("the chat has %q", got)
		}
		k.finish(answer, text)
		synctest.Wait()
		if got := k.texts(); len(got) != 3 || strings.Join(strings.Fields(strings.Join(got, " ")), " ") != text {
			k.t.Errorf("in the end the chat has %q", got)
		}
	})
}

// TestRetracted checks that nothing of a retracted text stays, that the answer takes its place, also when it is to say nothing,
// and that it comes below what the turn sent meanwhile.
func TestRetracted(t *testing.T) {
	text := long("It was a dark and stormy night. ", 300)
	for name, c := range map[string]struct {
		between, answer string
		want            []string
	}{
		"an answer":                {"", "It rained.", []string{"It rained."}},
		"silence":                  {"", "NO_REPLY", nil},
		"an answer after a file":   {"Here is the plot.", "It rained.", []string{"Here is the plot.", "It rained."}},
		"what was sent already":    {"It rained.", "It rained.", []string{"It rained."}},
		"what the draft looked as": {"", "…", []string{"…"}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, everything(), func(k *kernel) {
				k.write(text)
				k.stream.Preview(route, answer, "")
				time.Sleep(4 * time.Second)
				k.expect("after it was retracted", "…")
				first := k.chat.Sent("loft")[0].MessageID
				if c.between != "" {
					if _, err := k.post.Send(k.t.Context(), channel.Sending{ID: "a0", Turn: "t1", Session: "memory-loft", Channel: "memory", Chat: "loft", Text: c.between}); err != nil {
						k.t.Fatal(err)
					}
				}
				k.finish(answer, c.answer)
				k.expect("in the end", c.want...)
				kept, err := k.journal.Chats.Message(k.t.Context(), "memory", first)
				if gone := !slices.ContainsFunc(k.chat.Sent("loft"), func(s channeltest.Sent) bool { return s.MessageID == first }); err != nil || gone == kept.Deleted.IsZero() {
					k.t.Errorf("kept of the first message is %+v, %v", kept, err)
				}
			})
		})
	}
}

// TestRestarted checks that the message which stands in the chat when a kernel ends is taken up by the next one: it goes on, and
// the answer or a notice takes its place, once.
func TestRestarted(t *testing.T) {
	text := long("It was a dark and stormy night. ", 600)
	notice := journal.Act{ID: "n1", Turn: "t1", Session: "memory-loft"}
	t.Run("answered", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.write(text[:300])
			k.stop()
			k.begin()
			k.write(text)
			if got := k.texts(); len(got) != 1 {
				k.t.Errorf("the chat has %q", got)
			}
			k.finish(answer, text)
			k.expect("in the end", text)
		})
	})
	t.Run("answered by an act of another id", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.write(text[:300])
			k.stop()
			k.begin()
			other := journal.Act{ID: "a2", Turn: "t1", Session: "memory-loft"}
			k.stream.Preview(route, other, text[:500])
			time.Sleep(5 * time.Second)
			k.expect("before the end", strings.TrimSpace(text[:500])+" …")
			k.finish(other, text)
			k.expect("in the end", text)
		})
	})
	t.Run("interrupted, and answered later", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.write(text[:300])
			k.stop()
			k.begin()
			k.finish(notice, "Interrupted")
			k.expect("after the notice", "Interrupted")
			k.write(text)
			k.finish(answer, text)
			k.expect("in the end", "Interrupted", text)
		})
	})
	t.Run("killed before the answer was sent", func(t *testing.T) {
		in(t, everything(), func(k *kernel) {
			k.write(text)
			k.chat.Stop()
			messages, err := k.post.Compose(k.t.Context(), route, answer, text)
			if err == nil {
				err = k.post.Outbox.Queue(k.t.Context(), messages)
			}
			if err != nil {
				k.t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
			k.stop()
			k.chat.Start()
			k.begin()
			if _, err := k.post.Outbox.Await(k.t.Context(), answer.ID); err != nil {
				k.t.Fatal(err)
			}
			k.expect("in the end", text)
		})
	})
}

// TestFailures checks that no failure of a draft or of an edit loses or doubles the answer, or is told to the owner.
func TestFailures(t *testing.T) {
	text := long("It was a dark and stormy night. ", 600)
	failure := func(class channel.FailureClass, after time.Duration) error {
		return &channel.Failure{Class: class, RetryAfter: after, Err: errors.New("the wind is too strong")}
	}
	once := everything()
	once.Idempotent = false
	for name, c := range map[string]struct {
		can      channel.Capabilities
		outcomes []error // of the draft and its edits
		last     []error // of the answer
	}{
		"no draft is taken":             {everything(), []error{failure(channel.Refused, 0)}, nil},
		"the draft comes too fast":      {once, []error{failure(channel.Temporary, time.Minute)}, nil},
		"it is unknown, with ids":       {everything(), []error{failure(channel.Unknown, 0)}, nil},
		"edits come too fast":           {once, []error{nil, failure(channel.Temporary, 10*time.Second)}, nil},
		"edits are refused":             {once, []error{nil, failure(channel.Refused, 0)}, nil},
		"the last edit comes too fast":  {once, nil, []error{failure(channel.Temporary, 10*time.Second)}},
		"the last edit is unknown":      {once, nil, []error{failure(channel.Unknown, 0)}},
		"the last edit is refused":      {once, nil, []error{failure(channel.Refused, 0)}},
		"neither edited nor deleted":    {once, nil, []error{failure(channel.Refused, 0), failure(channel.Temporary, 0)}},
		"deleted, and then not sent":    {once, nil, []error{failure(channel.Refused, 0), nil, failure(channel.Temporary, 0)}},
		"an error that is no [Failure]": {once, []error{nil, errors.New("odd")}, []error{errors.New("odd")}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, c.can, func(k *kernel) {
				k.chat.Fail(c.outcomes...)
				k.write(text)
				time.Sleep(4 * time.Second)
				k.chat.Fail(c.last...)
				k.finish(answer, text)
				k.expect("in the end", text)
				if len(k.told) > 0 {
					k.t.Errorf("the owner is told %q", k.told)
				}
			})
		})
	}
}

// TestTooFast checks that no edit is tried before a chat that was asked too often takes one again.
func TestTooFast(t *testing.T) {
	in(t, everything(), func(k *kernel) {
		text := long("It was a dark and stormy night. ", 900)
		k.stream.Preview(route, answer, text[:300])
		time.Sleep(time.Second)
		k.chat.Fail(&channel.Failure{Class: channel.Temporary, RetryAfter: time.Minute, Err: errors.New("slower")})
		k.stream.Preview(route, answer, text[:600])
		time.Sleep(50 * time.Second)
		if sent := k.chat.Sent("loft"); len(sent) != 1 || sent[0].Edits != 0 {
			k.t.Errorf("it is edited %d times", sent[0].Edits)
		}
		time.Sleep(30 * time.Second)
		k.expect("after a minute", strings.TrimSpace(text[:600])+" …")
		k.finish(answer, text)
	})
}
