package rpc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"pgregory.net/rapid"

	"org-agent/kernel/protocol"
)

// drain takes everything and shows frames as they are, deltas as id@offset:text.
func drain(q *queue) []string {
	q.close()
	var got []string
	for {
		batch := q.take()
		if len(batch) == 0 {
			return got
		}
		for _, e := range batch {
			if e.preview == nil {
				got = append(got, string(e.frame))
				continue
			}
			d := e.preview.message().params.(*protocol.TurnDelta)
			got = append(got, fmt.Sprintf("%s@%d:%s", d.ID, d.Offset, d.Text))
		}
	}
}

func TestQueueMergesDeltas(t *testing.T) {
	delta := func(act string, offset int, text string) protocol.TurnDelta {
		return protocol.TurnDelta{Turn: "t", ID: act, Offset: offset, Text: text}
	}
	tests := []struct {
		name string
		push func(q *queue) error
		want string
	}{
		{"contiguous, counted in code points", func(q *queue) error {
			return errors.Join(q.pushDelta(delta("a", 0, "ä😀")), q.pushDelta(delta("a", 2, "b")), q.pushDelta(delta("a", 3, "")))
		}, "a@0:ä😀b"},
		{"a gap", func(q *queue) error {
			return errors.Join(q.pushDelta(delta("a", 0, "x")), q.pushDelta(delta("a", 2, "y")), q.pushDelta(delta("a", 3, "z")))
		}, "a@0:x a@2:yz"},
		{"begun anew", func(q *queue) error {
			return errors.Join(q.pushDelta(delta("a", 0, "x")), q.pushDelta(delta("a", 0, "y")))
		}, "a@0:x a@0:y"},
		{"two acts", func(q *queue) error {
			return errors.Join(q.pushDelta(delta("a", 0, "x")), q.pushDelta(delta("b", 0, "1")), q.pushDelta(delta("a", 1, "y")), q.pushDelta(delta("b", 1, "2")))
		}, "a@0:xy b@0:12"},
		{"nothing overtakes a frame", func(q *queue) error {
			return errors.Join(q.pushDelta(delta("a", 0, "x")), q.push([]byte("act")), q.pushDelta(delta("a", 1, "y")), q.pushDelta(delta("a", 2, "z")))
		}, "a@0:x act a@1:yz"},
		{"another turn", func(q *queue) error {
			other := delta("a", 1, "y")
			other.Turn = "u"
			return errors.Join(q.pushDelta(delta("a", 0, "x")), q.pushDelta(other))
		}, "a@0:x a@1:y"},
		{"not once it was taken", func(q *queue) error {
			err := q.pushDelta(delta("a", 0, "x"))
			q.take()
			return errors.Join(err, q.pushDelta(delta("a", 1, "y")))
		}, "a@1:y"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := newQueue()
			if err := test.push(q); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(drain(q), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Whatever is merged, each act's text arrives whole and in order, and frames keep
// their place among the deltas.
func TestQueueLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		texts := map[string]string{}
		arrived := map[string]string{}
		take := func(batch []entry) {
			for _, e := range batch {
				if e.preview == nil {
					parts := strings.SplitN(string(e.frame), "=", 2)
					if arrived[parts[0]] != parts[1] {
						t.Fatalf("at the frame of %s there was %q, not %q", parts[0], arrived[parts[0]], parts[1])
					}
					continue
				}
				d := e.preview.message().params.(*protocol.TurnDelta)
				if n := len([]rune(arrived[d.ID])); d.Offset != n {
					t.Fatalf("a delta at %d, %d arrived", d.Offset, n)
				}
				arrived[d.ID] += d.Text
			}
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			act := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "act")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				if err := q.push([]byte(act + "=" + texts[act])); err != nil {
					t.Fatal(err)
				}
			case 1:
				if len(q.entries) > 0 {
					take(q.take())
				}
			default:
				text := rapid.String().Draw(t, "text")
				if err := q.pushDelta(protocol.TurnDelta{ID: act, Offset: len([]rune(texts[act])), Text: text}); err != nil {
					t.Fatal(err)
				}
				texts[act] += text
			}
		}
		q.close()
		for batch := q.take(); len(batch) > 0; batch = q.take() {
			take(batch)
		}
		for act, text := range texts {
			if arrived[act] != text {
				t.Fatalf("%s arrived as %q, not %q", act, arrived[act], text)
			}
		}
		if q.bytes != 0 {
			t.Fatalf("%d bytes are still counted", q.bytes)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	q := newQueue()
	frame := make([]byte, 1<<20)
	n := 0
	for q.push(frame) == nil {
		n++
	}
	if n*len(frame) > queueLimit || n < 60 {
		t.Errorf("%d MiB were taken in", n)
	}
	for i := 0; ; i++ { // deltas of one act are counted where they are merged, too
		if err := q.pushDelta(protocol.TurnDelta{ID: "a", Offset: i * 1000, Text: strings.Repeat("x", 1000)}); err != nil {
			if !errors.Is(err, errQueueFull) || i*1000 > 2<<20 {
				t.Errorf("after %d deltas: %v", i, err)
			}
			break
		}
	}
	if err := newClosedQueue().push(frame); !errors.Is(err, jsonrpc2.ErrClosed) {
		t.Errorf("a closed queue: %v", err)
	}
}

func newClosedQueue() *queue {
	q := newQueue()
	q.close()
	return q
}
