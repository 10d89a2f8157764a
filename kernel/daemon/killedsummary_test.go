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

// A kernel that is killed while a summary is made has none, or a whole one; the next makes it.
func TestKilledWhileSummarising(t *testing.T) {
	for _, cut := range []llmtest.Exchange{
		{Match: summarising, Fault: llmtest.Fault{HangAfter: -1}, Reply: "* Facts\n- half\n"},
		{Match: summarising, Fault: llmtest.Fault{HangAfter: 1}, Chunk: 8, Reply: "* Facts\n- half of it\n"},
	} {
		in, model := newInstanceAndModel(t, cut, llmtest.Exchange{Match: summarising, Reply: "* Facts\n- whole\n", Times: -1},
			llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
		p := in.spawn(t)
		e := in.editor(t, rpctest.Config{})
		for i := range 7 {
			ask(t, e, fmt.Sprintf("q%d", i), "hi")
		}
		done := make(chan error, 1)
		go func() {
			done <- e.Call(within(t), protocol.MethodSessionCompact, protocol.SessionCompactParams{}, nil)
		}()
		until(t, "the request", func() bool { return len(model.Requests()) == 8 })
		ask(t, e, "meanwhile", "said meanwhile") // nobody waits for it
		p.kill()
		<-done
		e.Close()
		if rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindCompaction}}); len(rows) != 0 {
			t.Errorf("half a summary was kept: %s", rows[0].Data)
		}
		in.start(t)
		e = in.editor(t, rpctest.Config{})
		result, err := compactNow(t, e, protocol.SessionCompactParams{})
		if err != nil || result.Notes != "* Facts\n- whole\n" || result.Turns != 3 {
			t.Errorf("%+v, %v", result, err)
		}
		ask(t, e, "after", "now?")
		requests := turnsOf(model)
		if shown := shownTo(requests[len(requests)-1]); !strings.Contains(shown, "- whole") || !strings.Contains(shown, "said meanwhile") {
			t.Errorf("the model was shown %s", shown)
		}
	}
}
