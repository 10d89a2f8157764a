package daemon_test

import (
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// clockVariable tells a kernel in a process of its own what time it is when it starts.
const clockVariable = "ORG_AGENT_TEST_CLOCK"

// movedClock is a clock that goes on from then; nil for the machine's if that is empty.
func movedClock(then string) func() time.Time {
	if then == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, then)
	if err != nil {
		panic(err)
	}
	began := time.Now()
	return func() time.Time { return at.Add(time.Since(began)) }
}

// stopped is a clock that stands still.
func stopped() time.Time { return time.Date(2026, 10, 25, 0, 59, 59, 0, time.UTC) }

// handClock is a clock that a test sets.
type handClock struct{ seconds atomic.Int64 }

func (c *handClock) set(at time.Time) { c.seconds.Store(at.Unix()) }
func (c *handClock) now() time.Time   { return time.Unix(c.seconds.Load(), 0).UTC() }

var stampOf = regexp.MustCompile(`^\[[^\n]*\]\n`)

// Each message says when it came, where the person is: on both sides of changes of the
// clock and of midnight, when a clock is set back, and after they have moved. What was said
// once is sent again byte for byte, also by the next kernel, and the system prompt is the same
// all day.
func TestStampsOfTurns(t *testing.T) {
	for zone, cases := range map[string][]struct{ sent, want string }{
		"Europe/Berlin": {
			{"2026-10-24T22:00:00Z", "[2026-10-25 Sun 00:00 +02:00]"},
			{"2026-10-25T00:59:59Z", "[2026-10-25 Sun 02:59 +02:00]"}, {"2026-10-25T01:00:00Z", "[2026-10-25 Sun 02:00 +01:00]"},
			{"2026-10-24T23:00:00Z", "[2026-10-25 Sun 02:00 +01:00]"}, // set back by two hours
			{"2026-10-25T22:59:00Z", "[2026-10-25 Sun 23:59 +01:00]"},
		},
		"America/New_York": {
			{"2026-03-08T06:59:00Z", "[2026-03-08 Sun 01:59 -05:00]"}, {"2026-03-08T07:00:00Z", "[2026-03-08 Sun 03:00 -04:00]"},
			{"2026-03-08T06:59:00Z", "[2026-03-08 Sun 03:00 -04:00]"}, {"2026-03-09T03:59:59Z", "[2026-03-08 Sun 23:59 -04:00]"},
		},
		"Australia/Lord_Howe": {
			{"2026-04-04T14:45:00Z", "[2026-04-05 Sun 01:45 +11:00]"}, {"2026-04-04T15:15:00Z", "[2026-04-05 Sun 01:45 +10:30]"},
			{"2026-04-05T13:29:59Z", "[2026-04-05 Sun 23:59 +10:30]"},
		},
	} {
		t.Run(strings.ReplaceAll(zone, "/", "-"), func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
			clock := &handClock{}
			in.clock = clock.now
			clock.set(moment(t, cases[0].sent))
			in.write(t, "USER.org", "- Timezone :: "+zone+"\n")
			k := in.start(t)
			e := in.editor(t, rpctest.Config{})
			before := ""
			for i, c := range cases {
				if i == len(cases)-1 {
					e.Close()
					if err := k.end(); err != nil {
						t.Fatal(err)
					}
					in.start(t)
					e = in.editor(t, rpctest.Config{})
				}
				clock.set(moment(t, c.sent))
				ask(t, e, "q"+string(rune('0'+i)), "words "+c.sent)
				requests := model.Requests()
				sent := requests[len(requests)-1].Whole()
				if last := sent[len(sent)-1].Content; last != c.want+"\nwords "+c.sent {
					t.Errorf("%s was sent as %q", c.sent, last)
				}
				all := ""
				for _, m := range sent {
					all += m.Role + " " + m.Content + "\n"
				}
				if !strings.HasPrefix(all, before) {
					t.Errorf("request %d does not begin with the one before", i+1)
				}
				before = all
			}
		})
	}
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Who moves is told the time of the other place from the next message on; what is asked anew
// has the time at which it was asked first, and a preview has the present.
func TestStampsOfATraveller(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	clock := &handClock{}
	in.clock = clock.now
	clock.set(moment(t, "2026-06-01T12:00:00Z"))
	in.write(t, "USER.org", "- Timezone :: Europe/Berlin\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	stamps := func(messages []llmtest.Message) (all string) {
		for _, m := range messages {
			all += stampOf.FindString(m.Content)
		}
		return all
	}
	ask(t, e, "q1", "here")
	in.write(t, "USER.org", "- Timezone :: Asia/Tokyo\n")
	clock.set(moment(t, "2026-06-01T22:00:00Z"))
	until(t, "the new zone", func() bool {
		var shown protocol.PromptResult
		err := e.Call(within(t), protocol.MethodPromptGet, message("", "hi"), &shown)
		return err == nil && shown.Parts[len(shown.Parts)-1].Text == "[2026-06-02 Tue 07:00 +09:00]\nhi"
	})
	ask(t, e, "q2", "there")
	clock.set(moment(t, "2026-06-03T12:00:00Z"))
	if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Event: "q2"}, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the other answer", func() bool { return len(model.Requests()) == 3 })
	const both = "[2026-06-01 Mon 14:00 +02:00]\n[2026-06-02 Tue 07:00 +09:00]\n"
	for _, request := range model.Requests()[1:] {
		if got := stamps(request.Whole()[1:]); got != both {
			t.Errorf("the times sent are %q", got)
		}
	}
}
