package daemon_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
)

var points = flag.Int("points", 6, "at how many moments a kernel is killed that calls tools")

// A kernel that is killed while it calls tools: whatever the moment, no model is ever shown
// a call without its result, the file is the buffer, and every question is answered once when
// that is asked for.
func TestKilledAmidCalls(t *testing.T) {
	slow := llmtest.Duration(3 * time.Millisecond)
	call := calling("list_skills", "")
	call.Chunk, call.Delay, call.Times = 16, slow, -1
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "This is a result", Reply: insertion(`* Done\none two three four`), Chunk: 16, Delay: slow, Times: -1}, call)
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\n"))
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for point := range *points {
		e, dead := in.doomed(t, time.Duration(random.IntN(120))*time.Millisecond)
		id := fmt.Sprint("q", point)
		if _, err := e.Send(within(t), id, id); err != nil {
			t.Logf("point %d: not acknowledged", point)
		}
		dead()
	}
	e, _ := in.revived(t, "")
	idle(t, e)
	retryInterrupted(t, in, e)
	for point := range *points {
		id := fmt.Sprint("q", point)
		see(t, e, "the answer to "+id, func() bool { return strings.Count(answers(e.Text(), id), "** Done\n") == 1 })
	}
	converged(t, in, e)
	if len(e.Problems()) > 0 || e.Previewing() {
		t.Errorf("seed %d: %q", seed, e.Problems())
	}
	calls := 0
	for _, request := range model.Requests() {
		calls += paired(t, seed, request.Messages())
	}
	if calls < *points {
		t.Errorf("seed %d: only %d calls were shown, so little was seen", seed, calls)
	}
	settled(t, seed, in)
	explained(t, seed, in)
}

// explained checks that the journal has how each request and each action came about, before it:
// those rows are written together.
func explained(t *testing.T, seed uint64, in *instance) {
	t.Helper()
	known := map[string]map[journal.Kind]bool{}
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{
		journal.KindChoice, journal.KindModelRequest, journal.KindModelReply, journal.KindProposal, journal.KindVerdict, journal.KindAct}, Limit: 10_000}) {
		if known[row.Turn] == nil {
			known[row.Turn] = map[journal.Kind]bool{}
		}
		has := known[row.Turn]
		has[row.Kind] = true
		var act journal.Act
		if err := json.Unmarshal(row.Data, &act); err != nil {
			t.Fatal(err)
		}
		switch {
		case row.Kind == journal.KindModelRequest && !has[journal.KindChoice]:
			t.Errorf("seed %d: row %d is a request of a skill that nobody chose", seed, row.Seq)
		case row.Kind == journal.KindAct && act.Kind != journal.ActNotice:
			if !has[journal.KindModelReply] || !has[journal.KindProposal] || !has[journal.KindVerdict] {
				t.Errorf("seed %d: row %d is an action, and before it there are only %v", seed, row.Seq, has)
			}
			delete(has, journal.KindModelReply)
			delete(has, journal.KindProposal)
			delete(has, journal.KindVerdict)
		}
	}
}

// paired counts the calls that a model is shown, each of which has its result behind it.
func paired(t *testing.T, seed uint64, messages []llmtest.Message) (calls int) {
	for i, m := range messages {
		if m.Role != "assistant" || !strings.Contains(m.Content, ":target :tool") {
			continue
		}
		calls++
		if i+1 == len(messages) || messages[i+1].Role != "user" || !strings.Contains(messages[i+1].Content, " result of ") {
			t.Errorf("seed %d: a call without its result: %q", seed, messages[i:min(i+2, len(messages))])
		}
	}
	return calls
}

// settled checks that every turn of the journal ended.
func settled(t *testing.T, seed uint64, in *instance) {
	states := map[string]protocol.TurnState{}
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindTurn}, Limit: 10_000}) {
		var turn struct{ State protocol.TurnState }
		if err := json.Unmarshal(row.Data, &turn); err != nil {
			t.Fatal(err)
		}
		states[row.Turn] = turn.State
	}
	for turn, state := range states {
		if state != protocol.TurnAnswered {
			t.Errorf("seed %d: the turn %s is %s", seed, turn, state)
		}
	}
}
