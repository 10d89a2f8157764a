package daemon_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A kernel that is killed at any moment: every message that was acknowledged is
// answered exactly once or marked as interrupted, a retry answers it, and file
// and buffer agree.
func TestKernelKilledAtAnyMoment(t *testing.T) {
	const rounds, messages = 12, 3
	in := newInstance(t, llmtest.Exchange{Reply: insertion(`* Done\none two three four five six`), Chunk: 8, Delay: llmtest.Duration(4 * time.Millisecond), Times: -1})
	acknowledged := map[string]string{} // turns by event
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range rounds {
		e, dead := in.doomed(t, time.Duration(random.IntN(250))*time.Millisecond)
		for i := range messages {
			id := fmt.Sprintf("q%d-%d", round, i)
			if sent, err := e.Send(within(t), id, id); err == nil {
				acknowledged[id] = sent.Turn
			}
		}
		dead()
	}
	e, unsent := in.revived(t, "")
	for _, id := range unsent {
		if _, known := acknowledged[id]; known {
			t.Errorf("seed %d: %s was acknowledged and is not known", seed, id)
		}
	}
	idle(t, e)
	retryInterrupted(t, in, e)
	for round := range rounds {
		for i := range messages {
			id := fmt.Sprintf("q%d-%d", round, i)
			see(t, e, "the answer to "+id, func() bool { return strings.Count(answers(e.Text(), id), "** Done\n") == 1 })
		}
	}
	converged(t, in, e)
	if len(e.Problems()) > 0 || e.Previewing() {
		t.Errorf("seed %d: %q", seed, e.Problems())
	}
}

// doomed starts a kernel that is killed after a time, and has an editor beside it; dead waits
// until it is.
func (in *instance) doomed(t *testing.T, after time.Duration) (e *rpctest.Editor, dead func()) {
	t.Helper()
	p := in.spawn(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	killed := make(chan struct{})
	time.AfterFunc(after, func() { p.kill(); close(killed) })
	return e, func() { <-killed; e.Kill() }
}

// revived starts a kernel again, and sends what no kernel received, as C-c C-c on an unsent
// question does: the id with these words before it.
func (in *instance) revived(t *testing.T, words string) (e *rpctest.Editor, unsent []string) {
	t.Helper()
	in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	loaded, _ := e.Loaded()
	for _, id := range loaded.NeverReceived {
		if _, err := e.Send(within(t), id, words+id); err != nil {
			t.Error(err)
		}
	}
	return e, loaded.NeverReceived
}

// retryInterrupted has everything answered again that the journal calls interrupted.
func retryInterrupted(t *testing.T, in *instance, e *rpctest.Editor) {
	t.Helper()
	retryAll(t, in, e)
	idle(t, e)
}

// retryAll does so without waiting for the answers.
func retryAll(t *testing.T, in *instance, e *rpctest.Editor) {
	t.Helper()
	last := map[string]string{}
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindTurn}}) {
		switch text := string(row.Data); {
		case strings.Contains(text, `"state":"interrupted"`):
			last[row.Turn] = "interrupted"
		default:
			last[row.Turn] = ""
		}
	}
	for turn, state := range last {
		if state == "interrupted" {
			if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: turn}, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

// answers is what stands below the question with the id, without drawers.
func answers(text, id string) string {
	_, rest, found := strings.Cut(bare(text), "* "+id+"\n")
	if !found {
		return ""
	}
	if end := strings.Index(rest, "\n* "); end >= 0 {
		rest = rest[:end+1]
	}
	return rest
}
