package llm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// TestRotationRests checks that a refused key is paused longer each time, and that the others are
// asked meanwhile with the same request.
func TestRotationRests(t *testing.T) {
	for _, c := range []struct {
		class llm.Class
		after time.Duration // the pause that the server demands
		rests []time.Duration
	}{
		{llm.ClassRateLimit, 0, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour, time.Hour}},
		{llm.ClassAuth, 0, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour}},
		{llm.ClassIdle, 0, []time.Duration{time.Minute, 5 * time.Minute}},
		{llm.ClassTimeout, 0, []time.Duration{time.Minute, 5 * time.Minute}},
		{llm.ClassQuota, 0, []time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour, 24 * time.Hour}},
		{llm.ClassRateLimit, 90 * time.Second, []time.Duration{90 * time.Second, 5 * time.Minute}},
	} {
		synctest.Test(t, func(t *testing.T) {
			first := &llmtest.Script{Reply: func(llm.Request) llmtest.Turn {
				return llmtest.Turn{llmtest.Fail(&llm.Error{Class: c.class, RetryAfter: c.after})}
			}}
			second := &llmtest.Script{Reply: func(llm.Request) llmtest.Turn { return llmtest.Say("from the second") }}
			rotation := &llm.Rotation{Keys: []llm.Key{{Name: "first", Provider: first}, {Name: "second", Provider: second}}}
			ask := func() {
				t.Helper()
				reply, err := llm.Collect(rotation.Stream(t.Context(), hello))
				if err != nil || reply.Text != "from the second" {
					t.Fatalf("%s: %q, %v", c.class, reply.Text, err)
				}
			}
			for i, pause := range c.rests {
				ask()
				time.Sleep(pause - time.Second)
				ask()
				if got := len(first.Requests()); got != i+1 {
					t.Errorf("%s: the first key was asked %d times before its %dth rest ended", c.class, got, i+1)
				}
				time.Sleep(time.Second)
			}
			for _, request := range append(first.Requests(), second.Requests()...) {
				if got, want := fmt.Sprint(request), fmt.Sprint(hello); got != want {
					t.Errorf("%s: asked %s, want %s", c.class, got, want)
				}
			}
		})
	}
}

// TestRotationForgets checks that a success, or a day, ends the effect of earlier failures.
func TestRotationForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := fails(llm.ClassRateLimit)
		first := script(limited, limited, llmtest.Say("x"), limited, llmtest.Say("x"), limited, limited, limited)
		second := &llmtest.Script{Reply: func(llm.Request) llmtest.Turn { return llmtest.Say("y") }}
		rotation := &llm.Rotation{Keys: []llm.Key{{Name: "first", Provider: first}, {Name: "second", Provider: second}}}
		for i, pause := range []time.Duration{time.Minute, 5 * time.Minute, 0, time.Minute, 0, time.Minute, 25 * time.Hour, time.Minute} {
			asks(t, rotation)
			if got := len(first.Requests()); got != i+1 {
				t.Fatalf("before request %d the first key was asked %d times", i+1, got)
			}
			time.Sleep(pause)
		}
	})
}

// TestRotationLeavesAlone checks that an error that is not the key's, or that comes after the first
// delta, is not followed by another key, and that a request that is given up pauses no key.
func TestRotationLeavesAlone(t *testing.T) {
	for _, class := range []llm.Class{llm.ClassServer, llm.ClassBadRequest, llm.ClassTooLong, llm.ClassModel, llm.ClassCanceled, llm.ClassTruncated, llm.ClassUnreachable} {
		second := script(llmtest.Say("y"))
		rotation := &llm.Rotation{Keys: []llm.Key{{Name: "first", Provider: script(fails(class))}, {Name: "second", Provider: second}}}
		if got := asks(t, rotation); got != class || len(second.Requests()) > 0 {
			t.Errorf("after %s: %q, and the second key was asked %d times", class, got, len(second.Requests()))
		}
	}
	second := script(llmtest.Say("y"), llmtest.Say("y"))
	rotation := &llm.Rotation{Keys: []llm.Key{
		{Name: "first", Provider: script(llmtest.Turn{llmtest.Text("the begin"), llmtest.FailAs(llm.ClassRateLimit)})}, {Name: "second", Provider: second}}}
	reply, err := llm.Collect(rotation.Stream(t.Context(), hello))
	if reply.Text != "the begin" || llm.ClassOf(err) != llm.ClassRateLimit || len(second.Requests()) > 0 {
		t.Errorf("a stream that had begun: %q, %v", reply.Text, err)
	}
	if asks(t, rotation); len(second.Requests()) != 1 {
		t.Error("the key that was refused behind its first words does not rest")
	}
	var giveUp context.CancelFunc
	hanging := &llmtest.Script{Reply: func(llm.Request) llmtest.Turn {
		giveUp()
		return llmtest.Turn{llmtest.Hang()}
	}}
	rotation = &llm.Rotation{Keys: []llm.Key{{Name: "first", Provider: hanging}, {Name: "second", Provider: second}}}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		giveUp = cancel
		llm.Collect(rotation.Stream(ctx, hello))
		cancel()
	}
	if len(hanging.Requests()) != 2 || len(second.Requests()) != 1 {
		t.Error("a request that was given up had its key rest")
	}
}

// TestRotationExhausted checks that the error has the failure of every key if all are refused, and
// that a person who repairs a key need not wait.
func TestRotationExhausted(t *testing.T) {
	first, second := script(fails(llm.ClassAuth), llmtest.Say("mended")), script(fails(llm.ClassQuota))
	rotation := &llm.Rotation{Keys: []llm.Key{{Name: "first", Provider: first}, {Name: "second", Provider: second}}}
	_, err := llm.Collect(rotation.Stream(t.Context(), hello))
	if err == nil || !strings.Contains(err.Error(), "first: the key was not accepted") || !strings.Contains(err.Error(), "second: the account has no credit left") {
		t.Errorf("the error is %v", err)
	}
	if reply, err := llm.Collect(rotation.Stream(t.Context(), hello)); err != nil || reply.Text != "mended" {
		t.Errorf("%q, %v", reply.Text, err)
	}
	if err := asks(t, &llm.Rotation{}); err != llm.ClassModel {
		t.Errorf("without a key: %q", err)
	}
}
