//go:build race

package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A summary that is being made is stopped: whoever waits for it is told, the request of the
// model ends, nothing has changed, what was said meanwhile is there, and the next is made.
func TestSummaryIsStopped(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: summarising, Reply: "* Facts\n- half of it\n", Chunk: 8, Fault: llmtest.Fault{HangAfter: 1}},
		llmtest.Exchange{Match: summarising, Reply: "* Facts\n- whole\n", Times: -1},
		llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i := range 7 {
		ask(t, e, fmt.Sprintf("q%d", i), "hi")
	}
	stop := protocol.SessionCompactParams{Stop: true}
	if _, err := compactNow(t, e, stop); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("with nothing to stop: %v", err)
	}
	if _, err := compactNow(t, e, protocol.SessionCompactParams{Stop: true, Undo: true}); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Errorf("stopped and taken back: %v", err)
	}
	waits := make(chan error, 1)
	go func() {
		waits <- e.Call(within(t), protocol.MethodSessionCompact, protocol.SessionCompactParams{}, nil)
	}()
	until(t, "the request", func() bool { return len(model.Requests()) == 8 })
	ask(t, e, "meanwhile", "said meanwhile")
	result, err := compactNow(t, e, stop)
	if err != nil || result.State != protocol.CompactingStopped || !strings.Contains(result.Text, "nothing has changed") {
		t.Errorf("%+v, %v", result, err)
	}
	if err := <-waits; protocol.ErrorCode(err) != protocol.CodeCancelled {
		t.Errorf("who waited was told %v", err)
	}
	until(t, "the end of the request", func() bool { return model.Abandoned() == 1 })
	see(t, e, "the news", func() bool {
		told := e.Compacted()
		return len(told) == 2 && told[0].State == protocol.CompactingRunning && told[1].State == protocol.CompactingStopped
	})
	if rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindCompaction}}); len(rows) != 0 {
		t.Errorf("half a summary was kept: %s", rows[0].Data)
	}
	if result, err := compactNow(t, e, protocol.SessionCompactParams{}); err != nil || result.Notes != "* Facts\n- whole\n" {
		t.Errorf("%+v, %v", result, err)
	}
	ask(t, e, "after", "now?")
	requests := turnsOf(model)
	if shown := shownTo(requests[len(requests)-1]); !strings.Contains(shown, "- whole") || !strings.Contains(shown, "said meanwhile") || strings.Contains(shown, "half") {
		t.Errorf("the model was shown %s", shown)
	}
}

// A summary of the whole conversation is shown where the whole conversation would be, and
// below a heading whose questions see their branch alone nothing of it is.
func TestSummaryStaysOutOfBranches(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: summarising, Reply: "* Facts\n- the secret of A\n", Times: -1},
		llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i := range 7 {
		ask(t, e, fmt.Sprintf("a%d", i), "of A")
	}
	ask(t, e, "b", "of B")
	if _, err := compactNow(t, e, protocol.SessionCompactParams{}); err != nil {
		t.Fatal(err)
	}
	branch := protocol.Field{Key: "properties", Value: []any{[]any{"history", "branch"}}}
	below := func(id, parent string) string {
		sendWith(t, e, append(message(id, "and?"), protocol.Field{Key: "parent", Value: parent}, protocol.Field{Key: "level", Value: int64(2)}, branch))
		requests := turnsOf(model)
		return shownTo(requests[len(requests)-1])
	}
	if shown := below("b1", "b"); strings.Contains(shown, "secret") || strings.Contains(shown, "of A") || !strings.Contains(shown, "of B") {
		t.Errorf("below B the model was shown %s", shown)
	}
	if shown := below("a1-below", "a1"); strings.Contains(shown, "secret") || !strings.Contains(shown, "of A") || strings.Contains(shown, "of B") {
		t.Errorf("below A the model was shown %s", shown)
	}
	ask(t, e, "end", "and here?")
	requests := turnsOf(model)
	if shown := shownTo(requests[len(requests)-1]); !strings.Contains(shown, "the secret of A") || !strings.Contains(shown, "of B") {
		t.Errorf("at the end the model was shown %s", shown)
	}
	if n := len(in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindCompaction}})); n != 1 {
		t.Errorf("there are %d digests", n)
	}
}
