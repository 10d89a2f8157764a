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

// A kernel that is killed at any moment of asking and answering: each turn is answered in
// the end, nobody is asked twice what they answered, and nothing goes on waiting.
func TestQuestionsOfKernelsKilledAtAnyMoment(t *testing.T) {
	const rounds = 12
	in := newInstance(t, questioner(`:questions ((:question "Tea?" :kind :yes-no))`)...)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	taken := map[string]bool{} // the questions whose answer was acknowledged
	reply := func(e *rpctest.Editor) {
		for _, q := range e.Questions() {
			err := answer(t, e, q.ID, "answer", "yes")
			if err == nil && taken[q.ID] {
				t.Errorf("seed %d: %s was answered twice", seed, q.ID)
			}
			taken[q.ID] = taken[q.ID] || err == nil
		}
	}
	for round := range rounds {
		e, dead := in.doomed(t, time.Duration(random.IntN(300))*time.Millisecond)
		id := fmt.Sprintf("q%d", round)
		_, _ = e.Send(within(t), id, "print "+id) // it may be dead already
		for e.Wait(within(t), func() bool { return len(e.Questions()) > 0 }) == nil {
			reply(e)
			if e.Wait(within(t), func() bool { return len(e.Questions()) == 0 }) != nil {
				break // it is dead
			}
		}
		dead()
	}
	e, _ := in.revived(t, "print ")
	for range 3 { // what is retried may ask as well
		until(t, "the end of what runs", func() bool {
			reply(e)
			var status protocol.StatusResult
			err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status)
			return err == nil && status.Running+status.Queued+status.Waiting == 0
		})
		retryAll(t, in, e)
	}
	idle(t, e)
	said := map[string]bool{}
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindQuestion, journal.KindAnswer}}) {
		if row.Kind == journal.KindQuestion && said[row.Turn] {
			t.Errorf("seed %d: the turn %s asks again what was answered", seed, row.Turn)
		}
		if strings.Contains(string(row.Data), `"state":"answered"`) {
			said[row.Turn] = true
		}
	}
	for id := range taken {
		if n := len(in.rows(t, journal.Query{ID: id, Kinds: []journal.Kind{journal.KindAnswer}})); n != 1 {
			t.Errorf("seed %d: %s has %d answers", seed, id, n)
		}
	}
	for round := range rounds {
		id := fmt.Sprintf("print q%d", round)
		if got := strings.Count(answers(e.Text(), id), "** Printed\n"); got != 1 {
			t.Errorf("seed %d: %s has %d answers:\n%s", seed, id, got, e.Text())
		}
	}
	if text := e.Text(); strings.Contains(text, "TODO") || len(e.Questions()) > 0 {
		t.Errorf("seed %d: something waits:\n%s", seed, text)
	}
	converged(t, in, e)
}

// A secret that was given to a kernel which died before it was used is gone; the skill is
// told so.
func TestSecretEndsWithItsKernel(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("Opened"), Times: -1})
	in.write(t, "skills/safe.org", safe)
	k := in.spawn(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "open it")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the question", func() bool { return len(e.Questions()) == 1 })
	k.kill()
	j := in.journal(t)
	answers := []protocol.FieldAnswer{{Name: "word"}, {Name: "whom", Values: []string{"me"}}}
	if _, err := j.Asks.Decide(t.Context(), e.Questions()[0].ID, protocol.AskOutcome{Decision: protocol.Answered, Answers: answers, Client: "emacs"}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "** Opened") })
	if got := lastTold(model); !strings.Contains(got, "secrets are not stored: ask again") || !strings.Contains(got, ": failed") {
		t.Errorf("after turn %s the model was told %s", sent.Turn, got)
	}
}
