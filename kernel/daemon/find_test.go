package daemon_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// What was said is found by any of its ids and in every form, also when a person
// has taken it out of the file.
func TestFindTurn(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: "```python\n* a\n```\n\nThat is **all**."}, llmtest.Exchange{Status: 400})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "Write * a\nplease")
	act := e.Acts()[0]
	find := func(id string, form protocol.Form) protocol.TurnFindResult {
		t.Helper()
		var found protocol.TurnFindResult
		if err := e.Call(within(t), protocol.MethodTurnFind, protocol.TurnFindParams{ID: id, Form: form}, &found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := os.Remove(in.paths.Home + "/sessions/main.org"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"q1", act.ID, act.Turn} {
		got := find(id, "")
		if got.Session != "main" || got.Event != "q1" || got.Turn != act.Turn || got.State != "answered" || got.AnswerID != act.ID || got.Notice ||
			!strings.HasPrefix(got.Question, "* Write * a ") || got.Answer != act.Payload.Text("text") {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if got := find("q1", protocol.FormRaw); got.Answer != "```python\n* a\n```\n\nThat is **all**." || got.Question != "Write * a\nplease" {
		t.Errorf("raw: %+v", got)
	}
	if got := find("q1", protocol.FormPlain); got.Answer != "#+begin_src python\n,* a\n#+end_src\n\nThat is *all*.\n" {
		t.Errorf("plain: %q", got.Answer)
	}
	ask(t, e, "q2", "And now?")
	if got := find("q2", protocol.FormRaw); got.State != "failed" || !got.Notice || !strings.HasPrefix(got.Answer, "No answer: ") {
		t.Errorf("without an answer: %+v", got)
	}
	for id, want := range map[string]protocol.Code{"nobody": protocol.CodeNotFound, "": protocol.CodeNotFound} {
		err := e.Call(within(t), protocol.MethodTurnFind, protocol.TurnFindParams{ID: id}, nil)
		if protocol.ErrorCode(err) != want {
			t.Errorf("%q: %v", id, err)
		}
	}
	err := e.Call(within(t), protocol.MethodTurnFind, protocol.TurnFindParams{ID: "q1", Form: "html"}, nil)
	if protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Errorf("an unknown form: %v", err)
	}
}

// Who asks about a turn that has not ended hears of its end without showing its
// conversation, once, and of no other turn's.
func TestFindTellsOfTheEnd(t *testing.T) {
	found, isFound := held(t)
	in := newInstance(t, llmtest.Exchange{Reply: strings.Repeat("word ", 200), Fault: llmtest.Fault{HangAfter: 3, Until: found}},
		llmtest.Exchange{Reply: "second"})
	in.start(t)
	asks, finds := in.editor(t, rpctest.Config{}), in.editor(t, rpctest.Config{Session: "other"})
	if _, err := asks.Send(within(t), "q1", "Well?"); err != nil {
		t.Fatal(err)
	}
	var asked protocol.TurnFindResult
	for range 2 {
		if err := finds.Call(within(t), protocol.MethodTurnFind, protocol.TurnFindParams{ID: "q1"}, &asked); err != nil {
			t.Fatal(err)
		}
		if asked.State.Final() {
			t.Fatalf("the turn is over too early: %+v", asked)
		}
	}
	isFound()
	finished, err := finds.WaitTurn(within(t), asked.Turn)
	if err != nil || finished.State != protocol.TurnAnswered || finished.Session != "main" {
		t.Fatalf("%+v, %v", finished, err)
	}
	other := ask(t, asks, "q2", "And?")
	ask(t, finds, "q3", "Here?")
	short, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := finds.WaitTurn(short, other.turn); err == nil {
		t.Error("a turn was told of that nobody asked about")
	}
}
