package daemon_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// worker is a model that does one thing after the other: it writes elsewhere, asks, keeps
// something, looks around and answers. Hangs is a request that it does not answer the first time.
func worker(hangs string) (exchanges []llmtest.Exchange) {
	if hangs != "" {
		exchanges = append(exchanges, llmtest.Exchange{Match: hangs, Fault: llmtest.Fault{HangAfter: -1}})
	}
	step := func(match, reply string) {
		exchanges = append(exchanges, llmtest.Exchange{Match: match, Reply: reply, Times: -1})
	}
	step(`result of memory_search`, insertion("Done"))
	step(`result of memory_save`, calling("memory_search", `:query "zebra"`).Reply)
	exchanges = append(exchanges, llmtest.Exchange{Match: `result of ask_user`, Times: -1, Reply: "I keep that.",
		Calls: []llmtest.Call{{ID: "c1", Name: "memory_save", Arguments: `{"text":"The samovar is in the attic"}`}}})
	step(`result of emacs`, calling("ask_user", `:questions ((:question "Tea?" :kind :yes-no :name "tea"))`).Reply)
	step(`^work`, elsewhere)
	return exchanges
}

// madeUp are the ids that differ each time, and the marks around texts with such ids.
var madeUp = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|--- [0-9a-f]{8}`)

// worked is what the model is sent in a turn whose kernel is killed at the steps in killed.
func worked(t *testing.T, killed ...string) (requests []string, conversation string) {
	at, hangs := map[string]bool{}, ""
	for _, step := range killed {
		at[step] = true
	}
	if at["request"] {
		hangs = `result of memory_save`
	}
	in, model := newInstanceAndModel(t, worker(hangs)...)
	in.variables[clockVariable] = "2026-11-22T10:00:00Z"
	in.write(t, "policy.org", "")
	file := filepath.Join(in.paths.Sessions, "main.org")
	p := in.spawn(t)
	e := in.editor(t, rpctest.Config{File: file})
	point := func(step string) {
		if !at[step] {
			return
		}
		p.kill()
		e.Kill()
		p = in.spawn(t)
		e = in.editor(t, rpctest.Config{File: file})
	}
	sent, err := e.Send(within(t), "q1", "work on the samovar in the attic")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
	steer := protocol.TurnSteerParams{ID: "s1", Text: "and (:result \"of what I said\")"}
	if err := e.Call(within(t), protocol.MethodTurnSteer, steer, nil); err != nil {
		t.Fatal(err)
	}
	point("approval")
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
	if err := decide(t, e, protocol.AskDecideParams{ID: e.Approvals()[0].ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the question", func() bool { return len(e.Questions()) == 1 })
	point("question")
	see(t, e, "the question", func() bool { return len(e.Questions()) == 1 })
	if err := answer(t, e, e.Questions()[0].ID, "tea", "yes"); err != nil {
		t.Fatal(err)
	}
	if at["request"] {
		until(t, "the request", func() bool {
			_, lasts := systems(model)
			return strings.Contains(lasts[len(lasts)-1], "memory_save")
		})
		point("request")
		see(t, e, "the end", func() bool { return strings.Contains(e.Text(), "** Interrupted") })
		idle(t, e)
		if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: sent.Turn}, nil); err != nil {
			t.Fatal(err)
		}
	}
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "** Done") })
	idle(t, e)
	for _, request := range model.Requests() {
		messages := request.Messages()
		if at["request"] { // it is answered again, by what the files say then
			messages = messages[1:]
		}
		text, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		plain := madeUp.ReplaceAllString(strings.ReplaceAll(string(text), in.variables["HOME"], "HOME"), "ID")
		if len(requests) == 0 || requests[len(requests)-1] != plain {
			requests = append(requests, plain)
		}
	}
	var rounds []string
	for _, row := range in.rows(t, journal.Query{Turn: sent.Turn, Kinds: []journal.Kind{journal.KindToolStep}}) {
		rounds = append(rounds, row.ID)
	}
	if len(rounds) != 5 || strings.Count(strings.Join(rounds, " "), rounds[0]) != 5 || !strings.Contains(e.Text(), rounds[0]) {
		t.Errorf("the rounds of the turn are kept for %q", rounds)
	}
	return requests, e.Text()
}

// A turn whose kernel is killed goes on as if it had not been: the model is sent the same, byte
// for byte, whether the turn waited for a person or was asking the model and is answered again;
// and later turns are shown all that led to the answer.
func TestKilledBetweenRounds(t *testing.T) {
	want, text := worked(t)
	if len(want) != 5 || !strings.Contains(want[4], "The user says meanwhile") {
		t.Fatalf("the model was sent %q", want)
	}
	_, calls, _ := strings.Cut(text, ":CALLS:")
	for _, killed := range [][]string{{"approval"}, {"question"}, {"request"}, {"approval", "question", "request"}} {
		t.Run(strings.Join(killed, " "), func(t *testing.T) {
			t.Parallel()
			got, text := worked(t, killed...)
			if len(got) != len(want) {
				t.Fatalf("the model was sent %d requests, not %d: %s", len(got), len(want), difference(got[4], got[3]))
			}
			for i := range want {
				if want := want[i]; got[i] != want && !(slices.Contains(killed, "request") && strings.HasSuffix(want, got[i][1:])) {
					t.Errorf("request %d: %s", i, difference(got[i], want))
				}
			}
			if _, shown, _ := strings.Cut(text, ":CALLS:"); strings.Count(shown, "performed in") != strings.Count(calls, "performed in") {
				t.Errorf("the answer shows\n%s\nnot\n%s", shown, calls)
			}
			if strings.Count(text, ":COMMENTARY:\n: I keep that.\n:END:") != 1 {
				t.Errorf("what was said beside a call is not in\n%s", text)
			}
		})
	}
}

// difference is where one text goes on otherwise than another.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-100)
	return fmt.Sprintf("%.400q, not %.400q", got[from:], want[from:])
}
