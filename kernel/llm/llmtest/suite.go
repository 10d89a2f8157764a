package llmtest

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"org-agent/kernel/llm"
)

// Hello returns a request for a reply.
func Hello() llm.Request {
	return llm.Request{Model: "test-model", Sections: llm.System("Answer."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}
}

// Ask asks a provider and returns the whole reply.
func Ask(t *testing.T, provider llm.Provider, request llm.Request) (llm.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return llm.Collect(provider.Stream(ctx, request))
}

// Open returns a provider for the server, unless its configuration names another one. The test closes it.
func Open[P interface {
	llm.Provider
	Close()
}](t *testing.T, server *Server, open func(llm.ServerConfig) (P, error), config llm.ServerConfig) P {
	t.Helper()
	config.Name = cmp.Or(config.Name, "test")
	if config.BaseURL == "" {
		config.BaseURL = server.URL()
	}
	made, err := open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// Suite tests a provider against the contract of [llm.Provider]. The provider must answer the
// request ask with at least two deltas of text. Suite asks it about ten times.
func Suite(t *testing.T, provider llm.Provider, ask llm.Request) {
	t.Helper()
	t.Run("whole reply", func(t *testing.T) { suiteWhole(t, provider, ask) })
	t.Run("consumer breaks out", func(t *testing.T) { suiteBreak(t, provider, ask) })
	t.Run("context ended before", func(t *testing.T) { suiteCanceledBefore(t, provider, ask) })
	t.Run("context ended amid", func(t *testing.T) { suiteCanceledAmid(t, provider, ask) })
	t.Run("several at once", func(t *testing.T) { suiteConcurrent(t, provider, ask) })
}

// suiteWhole checks the order and the shape of a complete stream.
func suiteWhole(t *testing.T, provider llm.Provider, ask llm.Request) {
	deltas, text := 0, ""
	var last llm.Delta
	for delta, err := range provider.Stream(t.Context(), ask) {
		if err != nil {
			t.Fatalf("delta %d: %v", deltas, err)
		}
		if delta.Empty() {
			t.Errorf("delta %d is empty", deltas)
		}
		if last.Finish != "" {
			t.Errorf("delta %d comes behind the finish", deltas)
		}
		if deltas == 0 && delta.Provider == "" {
			t.Error("the first delta does not say who answers")
		}
		if !utf8.ValidString(delta.Text) || !utf8.ValidString(delta.Reasoning) {
			t.Errorf("delta %d is not UTF-8: %+v", deltas, delta)
		}
		text += delta.Text
		last = delta
		deltas++
	}
	if last.Finish == "" {
		t.Error("the stream ended without an error and without a finish")
	}
	if deltas < 2 || strings.TrimSpace(text) == "" {
		t.Errorf("%d deltas with the text %q are too little to be a stream", deltas, text)
	}
}

// suiteBreak checks that a consumer may break out of its loop.
func suiteBreak(t *testing.T, provider llm.Provider, ask llm.Request) {
	for delta, err := range provider.Stream(t.Context(), ask) {
		if err != nil {
			t.Fatal(err)
		}
		if delta.Text != "" {
			break
		}
	}
}

// suiteCanceledBefore checks that a canceled request is not made.
func suiteCanceledBefore(t *testing.T, provider llm.Provider, ask llm.Request) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkCanceled(ctx, t, provider, ask, func(llm.Delta) {})
}

// suiteCanceledAmid checks that a running request can be canceled.
func suiteCanceledAmid(t *testing.T, provider llm.Provider, ask llm.Request) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	checkCanceled(ctx, t, provider, ask, func(delta llm.Delta) {
		if delta.Finish != "" {
			t.Error("the stream went on to its finish")
		}
		cancel()
	})
}

// checkCanceled checks that a stream ends with one error that says canceled.
func checkCanceled(ctx context.Context, t *testing.T, provider llm.Provider, ask llm.Request, see func(llm.Delta)) {
	t.Helper()
	var failures []error
	for delta, err := range provider.Stream(ctx, ask) {
		if err == nil {
			see(delta)
			continue
		}
		failures = append(failures, err)
		if !delta.Empty() {
			t.Errorf("the error comes with a delta: %+v", delta)
		}
	}
	if len(failures) != 1 {
		t.Fatalf("the stream ended with %d errors: %v", len(failures), failures)
	}
	if err := failures[0]; llm.ClassOf(err) != llm.ClassCanceled || !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, of class %q", err, llm.ClassOf(err))
	}
}

// suiteConcurrent checks that streams do not disturb one another.
func suiteConcurrent(t *testing.T, provider llm.Provider, ask llm.Request) {
	replies := make([]llm.Reply, 4)
	failures := make([]error, len(replies))
	var asking sync.WaitGroup
	for i := range replies {
		asking.Go(func() { replies[i], failures[i] = llm.Collect(provider.Stream(t.Context(), ask)) })
	}
	asking.Wait()
	for i := range replies {
		if failures[i] != nil {
			t.Errorf("stream %d: %v", i, failures[i])
		}
		if replies[i].Text != replies[0].Text {
			t.Errorf("stream %d says %q, the first %q", i, replies[i].Text, replies[0].Text)
		}
	}
}
