package journal_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestAcceptTwice(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first := accepted(t, j, "q1", "main", "text")
	turn, again, err := j.Turns.Accept(ctx, message("q1", "main", "text"), "another")
	if err != nil || again || !reflect.DeepEqual(turn, first) {
		t.Errorf("again: %+v, fresh %v, %v", turn, again, err)
	}
	set(t, j, first.ID, protocol.TurnRunning)
	must(t, j.Acts.PutAct(ctx, journal.Act{ID: "a1", Session: "main", Turn: first.ID, Kind: journal.ActAnswer}))
	for _, test := range []struct {
		event protocol.Event
		turn  string
		code  protocol.Code
	}{
		{message("q1", "main", "other"), "t2", protocol.CodeConflict},
		{message("q1", "other", "text"), "t2", protocol.CodeConflict},
		{message("a1", "main", "text"), "t2", protocol.CodeConflict},     // an answer's id
		{message("q2", "main", "text"), first.ID, protocol.CodeConflict}, // another's turn
		{message("", "main", "text"), "t2", protocol.CodeInvalidParams},
		{message("q2", "", "text"), "t2", protocol.CodeInvalidParams},
		{message("q2", "main", "text"), "", protocol.CodeInvalidParams},
		{protocol.Event{ID: "q2", Session: "main", Payload: protocol.Object{{Key: "x", Value: struct{}{}}}}, "t2", protocol.CodeInvalidParams},
		{protocol.Event{ID: "q2", Session: "main", Payload: protocol.Object{{Key: "x", Value: math.NaN()}}}, "t2", protocol.CodeInvalidParams},
	} {
		_, _, err := j.Turns.Accept(ctx, test.event, test.turn)
		wantCode(t, err, test.code)
	}
	if rows := entries(t, j, journal.Query{Kinds: []journal.Kind{journal.KindEvent}}); len(rows) != 1 {
		t.Errorf("%d events were taken", len(rows))
	}
}

// TestManyAtOnce: two hundred messages that wait for one writer are taken in
// the order of their calls, and one that is refused harms no other.
func TestManyAtOnce(t *testing.T) {
	j := fresh(t)
	accepted(t, j, "taken", "main", "text")
	release := j.HoldWriter()
	var group sync.WaitGroup
	var want []string
	for i := range 200 {
		id := fmt.Sprint("q", i)
		if i%50 == 7 {
			id = "taken" // with another text
		} else {
			want = append(want, "turn-"+id)
		}
		group.Go(func() {
			_, fresh, err := j.Turns.Accept(t.Context(), message(id, "main", id), "turn-"+id)
			if (id == "taken") != (protocol.ErrorCode(err) == protocol.CodeConflict) || fresh != (err == nil) {
				t.Errorf("%s: fresh %v, %v", id, fresh, err)
			}
		})
		waitUntil(t, func() bool {
			return j.Turns.WaitingEvents() == i+1
		})
	}
	release()
	group.Wait()
	turns, err := j.Turns.Unfinished(t.Context())
	must(t, err)
	if got := ids(turns[1:]); got != fmt.Sprint(want) {
		t.Errorf("order: %s", got)
	}
}

// waitUntil waits for what other goroutines are about to do.
func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	for range 5000 {
		if done() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not happen in five seconds")
}

// TestEverythingAtOnce lets many goroutines take messages, answer them and
// read, for the race detector and for the sums at the end.
func TestEverythingAtOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	var group sync.WaitGroup
	const sessions, turns = 8, 20
	for s := range sessions {
		session := fmt.Sprint("session ", s)
		group.Go(func() {
			for i := range turns {
				turn, _, err := j.Turns.Accept(ctx, message(fmt.Sprintf("q%d-%d", s, i), session, "text"), fmt.Sprintf("t%d-%d", s, i))
				if err != nil {
					t.Error(err)
					return
				}
				act := fmt.Sprintf("a%d-%d", s, i)
				_, running := j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnRunning})
				_, ended := j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnWaiting, Input: 1})
				err = errors.Join(running, ended,
					j.Acts.PutAct(ctx, journal.Act{ID: act, Session: session, Turn: turn.ID, Kind: journal.ActAnswer, Raw: "answer"}),
					j.Acts.PutReceipt(ctx, act, journal.Receipt{Client: "emacs", Receipt: protocol.Receipt{Saved: true}}))
				_, answered := j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered})
				history, read := j.Transcripts.History(ctx, session, "", 0)
				if err = errors.Join(err, answered, read); err != nil || len(history) != i+1 {
					t.Errorf("%s, turn %d: %d exchanges, %v", session, i, len(history), err)
				}
			}
		})
	}
	group.Wait()
	infos, err := j.Sessions.List(ctx)
	must(t, err)
	if len(infos) != sessions {
		t.Errorf("%d sessions", len(infos))
	}
	for _, info := range infos {
		if info.Turns != turns || info.State != protocol.TurnAnswered {
			t.Errorf("%+v", info)
		}
	}
	if rows := entries(t, j, journal.Query{Limit: 10000}); len(rows) != sessions*turns*6 {
		t.Errorf("%d rows", len(rows))
	}
	checkWhole(t, j)
}

// values draws an event's value of any shape and depth a codec can make.
func values(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](true),
		rapid.Map(rapid.Int64(), func(i int64) any { return i }),
		rapid.Map(rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }), func(f float64) any { return f }),
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.StringMatching(`[:']{0,2}[a-z]{0,3}`), func(s string) any { return s }),
		rapid.Map(rapid.StringMatching(`[a-z:']{0,5}`), func(s string) any { return protocol.Keyword(s) }),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	return rapid.OneOf(append(leaves,
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 4), func(items []any) any { return items }),
		rapid.Map(objects(depth-1), func(o protocol.Object) any { return o }))...)
}

func objects(depth int) *rapid.Generator[protocol.Object] {
	return rapid.Custom(func(t *rapid.T) protocol.Object {
		object := protocol.Object{}
		for _, key := range rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID[string]).Draw(t, "keys") {
			object = append(object, protocol.Field{Key: key, Value: values(depth).Draw(t, "value")})
		}
		return object
	})
}

// TestEventsComeBackAsTheyWere: keywords stay keywords, floats stay floats,
// and every text comes back.
func TestEventsComeBackAsTheyWere(t *testing.T) {
	j, count := fresh(t), 0
	rapid.Check(t, func(r *rapid.T) {
		count++
		event := protocol.Event{
			ID: fmt.Sprint("q", count), Session: "main", Sensor: protocol.SensorChatMessage,
			Route: rapid.SampledFrom([]protocol.Route{
				protocol.LocalRoute(protocol.ChannelEmacs), protocol.LocalRoute(protocol.ChannelCLI), {Kind: protocol.RouteNone},
				{Kind: protocol.RouteChannel, Channel: "telegram", Chat: "42"}, {Kind: protocol.RouteSubagent, Channel: protocol.ChannelCLI},
			}).Draw(r, "route"),
			Text: rapid.String().Draw(r, "text"), Level: rapid.IntRange(1, 9).Draw(r, "level"),
			Payload: objects(3).Draw(r, "payload"),
		}
		if len(event.Payload) == 0 {
			event.Payload = nil
		}
		if _, _, err := j.Turns.Accept(t.Context(), event, fmt.Sprint("t", count)); err != nil {
			r.Fatal(err)
		}
		turn, err := j.Turns.TurnOfEvent(t.Context(), event.ID)
		if err != nil || !reflect.DeepEqual(turn.Question, event) {
			r.Fatalf("%v\n got %#v\nwant %#v", err, turn.Question, event)
		}
	})
}

func TestInvalidTextIsTheSameMessage(t *testing.T) {
	j := fresh(t)
	text := "a\xff\xfe\x00b"
	accepted(t, j, "q1", "main", text)
	turn, again, err := j.Turns.Accept(t.Context(), message("q1", "main", text), "t2")
	if err != nil || again || turn.Question.Text != "a\uFFFD\x00b" {
		t.Errorf("%q, fresh %v, %v", turn.Question.Text, again, err)
	}
}

func TestLongMessage(t *testing.T) {
	j := fresh(t)
	text := strings.Repeat("\x01é\"", 1<<18)
	accepted(t, j, "q1", "main", text)
	turn, err := j.Turns.TurnOfEvent(t.Context(), "q1")
	must(t, err)
	if turn.Question.Text != text {
		t.Error("the text came back changed")
	}
}
