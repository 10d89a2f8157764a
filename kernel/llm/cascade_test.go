package llm_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

func TestCascade(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, next llmtest.Turn
		class       llm.Class
		text        string
		requests    int // of the next
	}{
		{"the first answers", llmtest.Say("a"), llmtest.Say("b"), "", "a", 0},
		{"the next answers", fails(llm.ClassServer), llmtest.Say("b"), "", "b", 1},
		{"after a wrong key too", fails(llm.ClassAuth), llmtest.Say("b"), "", "b", 1},
		{"after a pause too", fails(llm.ClassPaused), llmtest.Say("b"), "", "b", 1},
		{"not after text", llmtest.Turn{llmtest.Text("a"), llmtest.FailAs(llm.ClassTruncated)}, llmtest.Say("b"), llm.ClassTruncated, "a", 0},
		{"not after reasoning", llmtest.Turn{llmtest.Reasoning("a"), llmtest.FailAs(llm.ClassTruncated)}, llmtest.Say("b"), llm.ClassTruncated, "", 0},
		{"not what was given up", fails(llm.ClassCanceled), llmtest.Say("b"), llm.ClassCanceled, "", 0},
		{"both fail", fails(llm.ClassServer), fails(llm.ClassAuth), llm.ClassServer, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, next := script(c.first), script(c.next)
			cascade := llm.Cascade{Steps: []llm.Step{{Name: "first", Provider: first}, {Name: "next", Provider: next}}}
			reply, err := llm.Collect(cascade.Stream(t.Context(), hello))
			if llm.ClassOf(err) != c.class || reply.Text != c.text || len(next.Requests()) != c.requests {
				t.Errorf("text %q, error %v, next asked %d times", reply.Text, err, len(next.Requests()))
			}
		})
	}
}

// TestCascadeFirstOnly checks that a request for the first provider only goes no further, whatever
// that provider answers.
func TestCascadeFirstOnly(t *testing.T) {
	first, next := script(fails(llm.ClassServer)), script(llmtest.Say("b"))
	request := hello
	request.FirstOnly = true
	_, err := llm.Collect(llm.Cascade{Steps: []llm.Step{{Name: "first", Provider: first}, {Name: "next", Provider: next}}}.Stream(t.Context(), request))
	if llm.ClassOf(err) != llm.ClassServer || len(first.Requests()) != 1 || len(next.Requests()) != 0 {
		t.Errorf("error %v, the first was asked %d times, the next %d", err, len(first.Requests()), len(next.Requests()))
	}
	if _, err := llm.Collect(llm.Cascade{}.Stream(t.Context(), request)); llm.ClassOf(err) != llm.ClassModel {
		t.Errorf("of nobody: %v", err)
	}
}

func TestCascadeError(t *testing.T) {
	cascade := llm.Cascade{Steps: []llm.Step{
		{Name: "local", Provider: script(llmtest.Turn{llmtest.Fail(&llm.Error{Class: llm.ClassUnreachable, Provider: "local", Advice: "start it"})})},
		{Name: "remote", Provider: script(fails(llm.ClassAuth))},
	}}
	var log bytes.Buffer
	cascade.Logger = slog.New(slog.NewTextHandler(&log, nil))
	_, err := llm.Collect(cascade.Stream(t.Context(), hello))
	if want := "no model answered: local: the server cannot be reached; remote: the key was not accepted"; err.Error() != want {
		t.Errorf("the error is %q", err)
	}
	if want := "local: start it; remote: give it a valid key (API_KEY in config.org, ORG_AGENT_LLM_API_KEY or OPENAI_API_KEY), or use another provider"; llm.HintOf(err) != want {
		t.Errorf("the hint is %q", llm.HintOf(err))
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "provider=local next=remote") {
		t.Errorf("logged %q", log.String())
	}
}

// TestCascadeJoinsEqualErrors checks that an error of several providers stands once, and its hint
// too.
func TestCascadeJoinsEqualErrors(t *testing.T) {
	refused := func(name string, advice string) llm.StepError {
		return llm.StepError{Name: name, Err: &llm.Error{Class: llm.ClassServer, Provider: name, Status: 500, Advice: advice}}
	}
	for _, c := range []struct {
		errors     []llm.StepError
		text, hint string
	}{
		{[]llm.StepError{refused("a", "wait"), refused("b", "wait")},
			"no model answered: a, b: the server has a problem (HTTP 500)", "wait"},
		{[]llm.StepError{refused("a", "wait"), {Name: "b", Err: &llm.Error{Class: llm.ClassIdle, Advice: "run"}}, refused("c", "wait")},
			"no model answered: a, c: the server has a problem (HTTP 500); b: the model went silent", "a, c: wait; b: run"},
	} {
		err := &llm.CascadeError{Steps: c.errors}
		if err.Error() != c.text || err.Hint() != c.hint {
			t.Errorf("got %q, %q", err.Error(), err.Hint())
		}
	}
}

// TestCascadeOfOne checks that the error of a cascade of one provider is the provider's own.
func TestCascadeOfOne(t *testing.T) {
	cascade := llm.Cascade{Steps: []llm.Step{{Name: "only", Provider: script(fails(llm.ClassAuth))}}}
	_, err := llm.Collect(cascade.Stream(t.Context(), hello))
	if _, listed := errors.AsType[*llm.CascadeError](err); listed || llm.ClassOf(err) != llm.ClassAuth {
		t.Errorf("the error is %v", err)
	}
}

func TestCascadeOfNone(t *testing.T) {
	_, err := llm.Collect(llm.Cascade{}.Stream(t.Context(), hello))
	if llm.ClassOf(err) != llm.ClassModel || !strings.Contains(llm.HintOf(err), "ORG_AGENT_LLM_BASE_URL") {
		t.Errorf("the error is %v", err)
	}
}

// TestCascadeModels checks that a step asks for its own model, or else for the request's.
func TestCascadeModels(t *testing.T) {
	first, next := script(fails(llm.ClassServer)), script(fails(llm.ClassServer))
	cascade := llm.Cascade{Steps: []llm.Step{{Provider: first}, {Provider: next, Model: "small"}}}
	request := hello
	request.Model = "large"
	if _, err := llm.Collect(cascade.Stream(t.Context(), request)); err == nil {
		t.Error("no error")
	}
	if a, b := first.Requests()[0].Model, next.Requests()[0].Model; a != "large" || b != "small" {
		t.Errorf("asked for %q and %q", a, b)
	}
}

// TestCascadeEndsWithItsContext checks that no further provider is asked after the request was
// given up.
func TestCascadeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reached := make(chan struct{})
	next := script(llmtest.Say("b"))
	cascade := llm.Cascade{Steps: []llm.Step{
		{Provider: script(llmtest.Turn{llmtest.Signal(reached), llmtest.Hang()})}, {Provider: next}}}
	go func() { <-reached; cancel() }()
	_, err := llm.Collect(cascade.Stream(ctx, hello))
	if llm.ClassOf(err) != llm.ClassCanceled || len(next.Requests()) != 0 {
		t.Errorf("the error is %v", err)
	}
}
