package llmtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// TestScript plays each kind of step once.
func TestScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, reached := make(chan struct{}), make(chan struct{})
		script := &llmtest.Script{Name: "s", Turns: []llmtest.Turn{
			{llmtest.Signal(reached), llmtest.Gate(gate), llmtest.Reasoning("r"), llmtest.Echo(), llmtest.Pause(time.Second), llmtest.Runes("äöü", 2, time.Second), llmtest.Finish(llm.FinishStop)},
			{llmtest.Text("no end")},
		}, Reply: func(request llm.Request) llmtest.Turn {
			return llmtest.Say(strings.ToUpper(request.Messages[0].Text))
		}}
		ask := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi "}}}
		begin := time.Now()
		go func() {
			<-reached
			time.Sleep(time.Minute)
			close(gate)
		}()
		reply, err := llm.Collect(script.Stream(t.Context(), ask))
		if err != nil || reply.Text != "hi äöü" || reply.Reasoning != "r" || reply.Provider != "s" || time.Since(begin) != time.Minute+3*time.Second {
			t.Errorf("after %s: %+v, %v", time.Since(begin), reply, err)
		}
		if _, err := llm.Collect(script.Stream(t.Context(), ask)); llm.ClassOf(err) != llm.ClassTruncated {
			t.Errorf("a turn without an end: %v", err)
		}
		if reply, err := llm.Collect(script.Stream(t.Context(), ask)); err != nil || reply.Text != "HI " {
			t.Errorf("beyond the turns: %+v, %v", reply, err)
		}
		if n := len(script.Requests()); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestScriptWithoutTurns(t *testing.T) {
	_, err := llm.Collect((&llmtest.Script{}).Stream(t.Context(), llm.Request{}))
	if llm.ClassOf(err) != llm.ClassBadRequest {
		t.Errorf("the error is %v", err)
	}
}

func TestScriptHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begin := time.Now()
		_, err := llm.Collect((&llmtest.Script{Turns: []llmtest.Turn{{llmtest.Hang()}}}).Stream(ctx, llm.Request{}))
		if llm.ClassOf(err) != llm.ClassTimeout || time.Since(begin) != time.Hour {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}
