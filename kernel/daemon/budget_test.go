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

// searcher is a model that looks something else up each time, until it is told to answer.
func searcher(times int) []llmtest.Exchange {
	exchanges := []llmtest.Exchange{
		{Match: "nothing more is done", Reply: insertion("* What I found\\nThe rest is left."), Times: -1},
	}
	for i := range times {
		search := calling("memory_search", fmt.Sprintf(`:query "zebra %d"`, i))
		search.Usage = []byte(`{"prompt_tokens": 900, "completion_tokens": 100, "cost": 0.02}`)
		exchanges = append(exchanges, search)
	}
	return append(exchanges, llmtest.Exchange{Reply: insertion("* All of it"), Times: -1})
}

// A turn that has used up what it may take answers with what it has found and says what it was;
// a message goes on from there.
func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		name, settings string
		requests       int // of the first turn
		stopped        string
	}{
		{"rounds", ":BUDGET_ROUNDS: 3", 4, "3 of 3 rounds (BUDGET_ROUNDS)"},
		{"one round", ":BUDGET_ROUNDS: 1", 2, "1 of 1 rounds (BUDGET_ROUNDS)"},
		{"tokens", ":BUDGET_TOKENS: 1", 1 + 1, " of 1 tokens (BUDGET_TOKENS)"},
		{"more tokens", ":BUDGET_TOKENS: 4k", 4, "3k of 4k tokens (BUDGET_TOKENS)"},
		{"money", ":BUDGET_COST: $0.09", 4, "$0.06 of $0.09 (BUDGET_COST)"},
		{"none of them", ":BUDGET_TOKENS: off\n:BUDGET_TIME: off\n:BUDGET_COST: off", 7, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, searcher(6)...)
			in.write(t, "config.org", "* Settings\n:PROPERTIES:\n"+c.settings+"\n:END:\n")
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			got := ask(t, e, "q1", "What is known of zebras?")
			if got.state != "answered" || strings.Contains(got.notice, c.stopped) != (c.stopped != "") && c.stopped != "" {
				t.Errorf("the turn ended %+v", got)
			}
			if n := len(model.Requests()); n != c.requests {
				t.Errorf("the model was asked %d times, not %d", n, c.requests)
			}
			_, lasts := systems(model)
			last := lasts[len(lasts)-1]
			if c.stopped == "" {
				if strings.Contains(e.Text(), "Stopped") || got.notice != "" {
					t.Errorf("it was stopped: %q\n%s", got.notice, e.Text())
				}
				return
			}
			if !strings.Contains(last, c.stopped+". In this turn nothing more is done: answer the user now") {
				t.Errorf("the model was told %q", last)
			}
			if text := e.Text(); !strings.Contains(text, "- Stopped :: What this may take is used up: ") || !strings.Contains(text, c.stopped) || !strings.Contains(text, `say "continue" to have it go on.`) {
				t.Errorf("the answer is\n%s", text)
			}
			before := len(lasts)
			if again := ask(t, e, "q2", "continue"); again.state != "answered" {
				t.Errorf("going on ended %+v", again)
			}
			request := string(model.Requests()[before].Body)
			if !strings.Contains(request, "zebra 0") || !strings.Contains(request, "What I found") {
				t.Errorf("the model goes on with %s", request)
			}
		})
	}
}

// A model that goes on when it is told to answer is not listened to: nothing more is done, and
// what was done is kept for when it is answered again.
func TestBudgetThatAModelIgnores(t *testing.T) {
	var exchanges []llmtest.Exchange
	for i := range 9 {
		exchanges = append(exchanges, calling("memory_save", fmt.Sprintf(`:text "zebra %d"`, i)))
	}
	in, model := newInstanceAndModel(t, exchanges...)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	e.Edit(func(string) string { return "#+PROPERTY: BUDGET_ROUNDS 2\n* " })
	got := ask(t, e, "q1", "Keep five zebras.")
	if got.state != "interrupted" || !strings.Contains(got.notice, "2 of 2 rounds (BUDGET_ROUNDS), before there was an answer") {
		t.Fatalf("the turn ended %+v\n%s", got, e.Text())
	}
	kept := func() (done int) {
		for _, row := range in.rows(t, journal.Query{Turn: got.turn, Kinds: []journal.Kind{journal.KindToolStep}}) {
			done += strings.Count(string(row.Data), `"verdict":"performed"`)
		}
		return done
	}
	if kept() != 2 || len(model.Requests()) != 3 {
		t.Fatalf("%d actions were performed in %d requests", kept(), len(model.Requests()))
	}
	if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: got.turn}, nil); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the end", func() bool { return strings.Count(e.Text(), "** Interrupted") == 2 })
	request := string(model.Requests()[3].Body)
	if kept() != 4 || !strings.Contains(request, "zebra 0") || !strings.Contains(request, "The user wants you to go on") {
		t.Errorf("%d actions were performed, and the model was asked %s", kept(), request)
	}
}

// What a turn took is told while it runs, also to who comes meanwhile, and by the status.
func TestProgressIsTold(t *testing.T) {
	in, _ := newInstanceAndModel(t, calling("memory_search", `:query "zebra"`), calling("memory_search", `:query "gnu"`),
		llmtest.Exchange{After: "gnu", Fault: llmtest.Fault{HangAfter: -1}, Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if _, err := e.Send(within(t), "q1", "What is known of zebras?"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the third round", func() bool { p := e.Progress(); return len(p) > 0 && p[len(p)-1].Round == 3 })
	told := e.Progress()
	now := told[len(told)-1]
	if now.OfRounds != 20 || now.OfTokens != 1_000_000 || now.OfSeconds != 3600 || now.Tokens < 100 || now.Session != "main" || now.Event != "q1" || now.Cost != nil || now.Last {
		t.Errorf("it was told %+v", now)
	}
	for i := 1; i < len(told); i++ {
		if told[i].Round < told[i-1].Round || told[i].Tokens < told[i-1].Tokens || told[i].Seconds < told[i-1].Seconds {
			t.Errorf("it was told %+v behind %+v", told[i], told[i-1])
		}
	}
	other := in.editor(t, rpctest.Config{})
	see(t, other, "how far it is", func() bool { p := other.Progress(); return len(p) > 0 && p[0].Round == 3 })
	var status protocol.StatusResult
	if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
		t.Fatal(err)
	}
	if c := status.Conversations; len(c) != 1 || c[0].Progress == nil || c[0].Progress.Round != 3 {
		t.Errorf("the status is %+v", c)
	}
}

// A note that asks its model again whatever becomes of that is ended, also where the server counts nothing.
func TestNoteThatAsksForEver(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Times: -1, Reply: "no", Ending: llmtest.Ending{NoUsage: true}})
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:BUDGET_ROUNDS: 2\n:END:\n")
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (loop (handler-case (ask-neuro (words c)) (error () nil))))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "go on")
	if got.state != "interrupted" || !strings.Contains(got.notice, "20 requests to models, 10 for each of 2 rounds (BUDGET_ROUNDS)") {
		t.Errorf("the turn ended %+v\n%s", got, e.Text())
	}
	if n := len(model.Requests()); n != 20 {
		t.Errorf("the model was asked %d times", n)
	}
}
