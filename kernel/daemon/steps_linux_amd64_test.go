//go:build !race

package daemon_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

var stepsTried = flag.Int("steps", 8, "at how many steps of a turn with tools its kernel is killed; 0 is at each")

// turnOfSteps is a model that does something with each tool that changes something, once each, and
// goes on whatever came of it.
func turnOfSteps(project, counter string) []llmtest.Exchange {
	step := func(match, reply string) llmtest.Exchange {
		return llmtest.Exchange{Match: match, Reply: reply, Times: -1}
	}
	after := func(tool string) string { return `^--- [0-9a-f]{8} result of ` + tool + `:` }
	return []llmtest.Exchange{
		step("^go$", calling("write", `:path "notes/w.org" :content "written once"`).Reply),
		step(after("write"), calling("exec", fmt.Sprintf(`:command "echo once >>count" :cwd %q :writes t`, project)).Reply),
		step(after("exec"), calling("edit", `:path "notes/e.org" :old "before" :new "after after"`).Reply),
		step(after("edit"), `(:type :request :target :tool :action :batch :calls ((:tool "read" :args (:path "notes/e.org")) (:tool "glob" :args (:pattern "*.org"))))`),
		step(`^--- [0-9a-f]{8} result 1 of 2`, calling("web_fetch", fmt.Sprintf(":url %q", counter)).Reply),
		step(after("web_fetch"), calling("memory_save", `:text "The samovar is kept once" :lasting t`).Reply),
		step(after("memory_save"), insertion("* All is done")),
		step("^on$", insertion("* Gone on")),
	}
}

// TestKilledAtEachStep: a kernel that is killed right before it writes, sends, renames or starts
// something, at any such step of a turn that writes, runs, edits, fetches and keeps: each of
// these happened once at most, what is known to have happened is in the journal, the turn has an
// end that is true, and the conversation goes on.
func TestKilledAtEachStep(t *testing.T) {
	all := killedAt(t, 0)
	if all < 50 {
		t.Fatalf("the turn has only %d steps", all)
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("%d steps, seed %d", all, seed)
	if *stepsTried == 0 || *stepsTried > all {
		*stepsTried = all
	}
	for n := range *stepsTried {
		killedAt(t, 1 + (n*all+random.IntN(all)) / *stepsTried)
	}
}

var stepsTold = regexp.MustCompile(`steps (\d+)\n`)

// killedAt runs the turn with a kernel that is killed at a step, and then with one that is not.
// 0 is never. It returns how many steps there were.
func killedAt(t *testing.T, step int) (steps int) {
	t.Helper()
	var fetched atomic.Int64
	counter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "the page")
	}))
	defer counter.Close()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in, model := newInstanceAndModel(t, turnOfSteps(project, counter.URL+"/once")...)
	defer model.Close()
	in.variables[commandsVariable], in.variables[loopbackVariable] = "1", "1"
	in.write(t, "notes/e.org", "before\n")
	in.variables[stepVariable] = strconv.Itoa(step)
	p := in.spawn(t)
	e := in.editor(t, rpctest.Config{File: in.mainFile()})
	if err := p.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	dead := make(chan struct{})
	go func() { // ends with the kernel
		_ = p.Wait()
		close(dead)
	}()
	_, _ = e.Send(within(t), "q1", "go") // it may be killed before it says so
	in.goThrough(t, e, dead)
	if step == 0 {
		in.isDone(t, project, e, &fetched)
	}
	select {
	case <-dead:
	default: // the turn has ended; what comes behind it may have steps too
		in.stopKernel(t, e)
		<-dead
	}
	e.Kill()
	told := stepsTold.FindStringSubmatch(p.complaint.String())
	if told == nil {
		t.Fatalf("step %d: it did not tell its steps: %s", step, p.complaint.String())
	}
	steps, _ = strconv.Atoi(told[1])
	if step == 0 {
		return steps
	}
	delete(in.variables, stepVariable)
	again := in.spawn(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	if loaded, _ := e.Loaded(); len(loaded.NeverReceived) > 0 {
		if _, err := e.Send(within(t), "q1", "go"); err != nil {
			t.Errorf("step %d: %v", step, err)
		}
	}
	in.goThrough(t, e, make(chan struct{}))
	if got := ask(t, e, "q2", "on"); got.state != "answered" {
		t.Errorf("step %d: it does not go on: %+v", step, got)
	}
	in.isTrue(t, step, project, e, fetched.Load())
	in.stopKernel(t, e)
	_ = again.Wait()
	return steps
}

// goThrough allows whatever is asked until the turn has ended, or the kernel.
func (in *instance) goThrough(t *testing.T, e *rpctest.Editor, dead chan struct{}) {
	t.Helper()
	decided := map[string]bool{}
	j := in.journal(t) // opened once: the journal is asked a hundred times a second
	defer j.Close()
	until(t, "the end of the turn or the kernel", func() bool {
		select {
		case <-dead:
			return true
		default:
		}
		for _, a := range e.Approvals() {
			if !decided[a.ID] {
				err := e.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: a.ID, Decision: protocol.AllowOnce}, nil)
				decided[a.ID] = err == nil || protocol.ErrorCode(err) != 0
			}
		}
		rows := turnRows(t, j)
		return len(rows) > 0 && (rows[len(rows)-1] == protocol.TurnAnswered || rows[len(rows)-1] == protocol.TurnInterrupted || rows[len(rows)-1] == protocol.TurnFailed)
	})
}

// turnRows are the states that the turn of the question has had.
func turnRows(t *testing.T, j *journal.Journal) (states []protocol.TurnState) {
	t.Helper()
	rows, err := j.Records.Entries(t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindTurn}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var turn struct{ State protocol.TurnState }
		if err := json.Unmarshal(row.Data, &turn); err != nil {
			t.Fatal(err)
		}
		states = append(states, turn.State)
	}
	return states
}

func (in *instance) stopKernel(t *testing.T, e *rpctest.Editor) {
	t.Helper()
	if err := e.Call(within(t), protocol.MethodShutdown, protocol.Empty{}, nil); err != nil {
		t.Log("shutdown:", err) // it may be gone before it can say so
	}
}

// done is what was done: how often each thing was.
func (in *instance) done(t *testing.T, project string, fetched int64) map[string]int {
	t.Helper()
	count, _ := os.ReadFile(filepath.Join(project, "count"))
	return map[string]int{
		"write": strings.Count(in.read(t, "notes/w.org"), "written once"), "exec": strings.Count(string(count), "once\n"),
		"edit": strings.Count(in.read(t, "notes/e.org"), "after after"), "web_fetch": int(fetched), "memory_save": strings.Count(in.read(t, "MEMORY.org"), "* The samovar is kept once"),
	}
}

// isDone: nobody killed it.
func (in *instance) isDone(t *testing.T, project string, e *rpctest.Editor, fetched *atomic.Int64) {
	t.Helper()
	for what, times := range in.done(t, project, fetched.Load()) {
		if times != 1 {
			t.Fatalf("unkilled, %s was done %d times:\n%s", what, times, e.Text())
		}
	}
}

// unexpected reports whether a problem is one: the editor of tests does not follow what is kept.
func unexpected(problem string) bool { return problem != "no handler for memory/changed" }

// isTrue checks what is left of a turn whose kernel was killed.
func (in *instance) isTrue(t *testing.T, step int, project string, e *rpctest.Editor, fetched int64) {
	t.Helper()
	acts, rounds := "", ""
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindAct, journal.KindToolStep}, Limit: 1000}) {
		if row.Kind == journal.KindAct {
			acts += string(row.Data) + "\n"
		} else {
			rounds += string(row.Data) + "\n"
		}
	}
	j := in.journal(t)
	states := turnRows(t, j)
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	text := e.Text()
	for what, times := range in.done(t, project, fetched) {
		if times > 1 {
			t.Errorf("step %d: %s was done %d times:\n%s", step, what, times, text)
		}
		named := `\"` + what + `\"`
		if times == 1 && !strings.Contains(acts, named) {
			t.Errorf("step %d: %s was done, and the journal does not know of it", step, what)
		}
		answered := strings.Contains(text, "** All is done")
		if times == 0 && answered && !strings.Contains(rounds, named) {
			t.Errorf("step %d: %s was not done, and nobody is told", step, what)
		}
		if times == 0 && strings.Contains(rounds, named) && !strings.Contains(rounds, "not known whether it happened") && answered {
			t.Errorf("step %d: %s is said to be done and was not:\n%s", step, what, rounds)
		}
	}
	if strings.Count(text, "* go\n") > 1 || strings.Count(text, "** All is done") > 1 || strings.Count(bare(text), "* on\n") != 1 || slices.ContainsFunc(e.Problems(), unexpected) {
		t.Errorf("step %d: the conversation is\n%s\n%q", step, text, e.Problems())
	}
	if last := states[len(states)-1]; last != protocol.TurnAnswered {
		t.Errorf("step %d: the last turn is %s", step, last)
	}
	if waiting := len(e.Approvals()); waiting > 0 {
		t.Errorf("step %d: %d approvals wait for nobody", step, waiting)
	}
}
