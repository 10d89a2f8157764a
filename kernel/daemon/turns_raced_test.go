//go:build race

package daemon_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// What a person says to a turn while it runs, the model is shown with its next
// request, and the answer has it; a later turn is shown it with the question.
func TestSteer(t *testing.T) {
	slow := calling("use_skill", `:name "garden"`)
	slow.Delay, slow.Chunk = llmtest.Duration(30e6), 4
	in, model := newInstanceAndModel(t, slow, llmtest.Exchange{Reply: insertion("* Roses"), Times: -1})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "Water.\n"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	steer := func(id, text string) error {
		return e.Call(within(t), protocol.MethodTurnSteer, protocol.TurnSteerParams{ID: id, Text: text}, nil)
	}
	if err := steer("s0", "early"); protocol.ErrorCode(err) != protocol.CodeConflict {
		t.Errorf("with nothing running: %v", err)
	}
	sent, err := e.Send(within(t), "q1", "What about it?")
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the first request", func() bool { return len(model.Requests()) == 1 })
	for range 2 { // the same again says nothing new
		if err := steer("s1", "in one\n* word"); err != nil {
			t.Fatal(err)
		}
	}
	if err := steer("s2", "  "); err == nil {
		t.Error("nothing was said, and taken")
	}
	if _, err := e.WaitTurn(within(t), sent.Turn); err != nil {
		t.Fatal(err)
	}
	_, lasts := systems(model)
	if !strings.HasSuffix(lasts[1], "\n\nThe user says meanwhile:\nin one\n* word") {
		t.Errorf("the model was shown %q", lasts[1])
	}
	wantBare(t, e, "* What about it?\n** Roses\n- You, meanwhile :: in one * word\n* ")
	converged(t, in, e)
	ask(t, e, "q2", "And?")
	if said := model.Requests()[2].Messages(); said[len(said)-3].Content != lasts[1] {
		t.Errorf("later the model was shown %q", said)
	}
}

// What is said in different rounds of a turn is shown with the request behind each, once, also
// where a request had nothing new to show; what comes during the last reply is a message.
func TestSteerAgainAndAgain(t *testing.T) {
	gates := t.TempDir()
	round := func(n int, reply string) llmtest.Exchange {
		return llmtest.Exchange{Reply: reply, Fault: llmtest.Fault{HangAfter: -1, Until: filepath.Join(gates, fmt.Sprint(n))}}
	}
	call := calling("list_skills", "").Reply
	in, model := newInstanceAndModel(t, round(0, call), round(1, call), round(2, call), round(3, insertion("* Done")), llmtest.Exchange{Reply: insertion("* Late"), Times: -1})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "Water.\n"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if _, err := e.Send(within(t), "q1", "What about it?"); err != nil {
		t.Fatal(err)
	}
	for n, says := range []string{"first", "", "third", "last"} {
		until(t, fmt.Sprint("request ", n), func() bool { return len(model.Requests()) == n+1 })
		if says != "" {
			if err := e.Call(within(t), protocol.MethodTurnSteer, protocol.TurnSteerParams{ID: "s" + says, Text: says}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(gates, fmt.Sprint(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	see(t, e, "the answer to what came too late", func() bool { return strings.Contains(e.Text(), "** Late") })
	_, lasts := systems(model)
	for n, says := range []string{"", "first", "", "third", "last"} {
		if got := strings.HasSuffix(lasts[n], says); !got || strings.Contains(lasts[n], "meanwhile") != (says == "first" || says == "third") {
			t.Errorf("request %d ends in %q, not in %q", n, lasts[n], says)
		}
	}
	converged(t, in, e)
}

// The models of config.org and of the servers are listed, one is asked for by its
// name, and what it takes has its price; a model whose price nobody knows has none.
func TestModels(t *testing.T) {
	other := llmtest.Start(t, llmtest.Exchange{Reply: insertion("* Other"), Ending: llmtest.Ending{Usage: json.RawMessage(`{"prompt_tokens":1000000,"completion_tokens":500000}`)}, Times: -1})
	in, _ := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* First"), Ending: llmtest.Ending{Usage: json.RawMessage(`{"prompt_tokens":10,"completion_tokens":1}`)}, Times: -1})
	in.write(t, "config.org", "* Models\n** first\n:PROPERTIES:\n:BASE_URL: "+in.variables["ORG_AGENT_LLM_BASE_URL"]+"\n:MODEL: m1\n:END:\n"+
		"** cheap\n:PROPERTIES:\n:BASE_URL: "+other.URL()+"\n:MODEL: m2\n:PRICE: 2 10\n:END:\n"+
		"** gone\n:PROPERTIES:\n:BASE_URL: http://127.0.0.1:1/v1\n:MODEL: m3\n:END:\n"+
		"* Settings\n:PROPERTIES:\n:LLM: first\n:END:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var list protocol.ModelListResult
	if err := e.Call(within(t), protocol.MethodModelList, protocol.ModelListParams{Session: "main"}, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list.Models {
		names = append(names, m.Name)
		if m.Default != (m.Name == "first") {
			t.Errorf("%+v", m)
		}
	}
	if got := strings.Join(names, " "); got != "first first:test-model cheap cheap:test-model gone" || strings.Join(list.Silent, " ") != "gone" {
		t.Errorf("models %s, silent %v", got, list.Silent)
	}
	ask(t, e, "q1", "hi")
	retry := func(name string) error {
		var again protocol.EventResult
		if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Event: "q1", Model: name}, &again); err != nil {
			return err
		}
		see(t, e, "another answer", func() bool { return !e.Previewing() })
		_, err := e.WaitTurn(within(t), again.Turn)
		return err
	}
	if err := retry("cheap"); err != nil {
		t.Fatal(err)
	}
	until(t, "both answers", func() bool { return strings.Count(e.Text(), ":MODEL:") == 2 })
	if text := e.Text(); strings.Count(text, ":COST:     $7\n") != 1 || strings.Count(text, ":TOKENS:") != 2 {
		t.Errorf("the buffer is\n%s", text)
	}
	wantBare(t, e, "* hi\n** First\n** Other\n* ")
	converged(t, in, e)
	var usage protocol.UsageGetResult
	if err := e.Call(within(t), protocol.MethodUsageGet, protocol.UsageGetParams{By: protocol.UsageTotal}, &usage); err != nil {
		t.Fatal(err)
	}
	if u := usage.Rows[0]; u.Replies != 2 || u.Unpriced != 1 || u.Cost == nil || *u.Cost != 7 || u.Input != 1000010 {
		t.Errorf("usage %+v", u)
	}
	if err := e.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: "cheap"}, nil); err != nil {
		t.Fatal(err)
	}
	ask(t, e, "q2", "again")
	if text := e.Text(); !strings.HasSuffix(bare(text), "* again\n** Other\n* ") {
		t.Errorf("the chosen model did not answer:\n%s", text)
	}
	if _, model := e.Chosen(); model != "cheap" {
		t.Errorf("clients were told %q", model)
	}
	for _, bad := range []protocol.UsageGetParams{{By: "x"}, {Since: "yesterday"}, {East: 1e6}, {Session: "../x"}} {
		if err := e.Call(within(t), protocol.MethodUsageGet, bad, nil); err == nil {
			t.Errorf("%+v was answered", bad)
		}
	}
}
