package journal_test

import (
	"reflect"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// What went along with an event comes back whole, from a row of its own; a fork has it too.
func TestContext(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	event := message("q1", "main", "text")
	event.Context = []protocol.ContextItem{
		{Kind: "file", Name: "a.org", Place: "/a.org", Bytes: 5, Text: "<a> é\n"},
		{Kind: "image", Name: "p.png", Media: "image/png", Bytes: 3, Data: []byte{0, 255, 1}},
	}
	turn, _, err := j.Turns.Accept(ctx, event, "t1")
	must(t, err)
	if told := turn.Question.Context; len(told) != 2 || told[0].Text != "" || told[1].Data != nil || told[1].Bytes != 3 {
		t.Errorf("the turn tells of %+v", told)
	}
	if read, err := j.Turns.Turn(ctx, "t1"); err != nil || !reflect.DeepEqual(read.Question.Context, turn.Question.Context) {
		t.Errorf("read again the turn tells of %+v, %v", read.Question.Context, err)
	}
	if items, err := j.Turns.Context(ctx, "q1"); err != nil || !reflect.DeepEqual(items, event.Context) {
		t.Errorf("the items are %+v, %v", items, err)
	}
	if items, err := j.Turns.Context(ctx, "absent"); err != nil || items != nil {
		t.Errorf("of no event: %+v, %v", items, err)
	}
	answered(t, j, turn, "a1", "raw")
	copied := turn
	copied.ID, copied.Event, copied.State = "t2", "q2", protocol.TurnAnswered
	must(t, j.Sessions.Fork(ctx, journal.Fork{Session: "other", Parent: "main", At: "a1", Copies: []journal.Copy{{Turn: copied, Origin: "t1"}}}))
	if items, err := j.Turns.Context(ctx, "q2"); err != nil || !reflect.DeepEqual(items, event.Context) {
		t.Errorf("the fork has %+v, %v", items, err)
	}
}
