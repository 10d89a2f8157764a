package service_test

import (
	"context"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// fakeCompleter completes a text and returns the requested model. For the text "slowly" it blocks until it
// is cancelled.
type fakeCompleter struct {
	started chan struct{}
	agreed  string
}

func (p *fakeCompleter) Complete(ctx context.Context, params protocol.CompleteParams) (protocol.CompleteResult, error) {
	if params.Before == "slowly" {
		p.started <- struct{}{}
		<-ctx.Done()
		return protocol.CompleteResult{}, ctx.Err()
	}
	return protocol.CompleteResult{Text: "more", Model: params.Model}, nil
}

func (p *fakeCompleter) Find(name string) error {
	if name == "nobody" {
		return protocol.Errorf(protocol.CodeNotFound, "there is no model nobody")
	}
	return nil
}

func (p *fakeCompleter) CheckConsent(agreed string) error {
	if agreed != p.agreed {
		return protocol.Errorf(protocol.CodeConsent, "agree to %s", p.agreed)
	}
	return nil
}

func TestCompletions(t *testing.T) {
	p := &fakeCompleter{started: make(chan struct{})}
	dial := serve(t, service.NewCompletions(service.CompletionsConfig{
		Completer: p, Models: p, Consent: p, Model: func() string { return "standard" }, Guide: "guide", Home: "~/home",
	}).Methods())
	first, second := dial("first"), dial("second")
	slowResult := make(chan error)
	startSlow := func() {
		go func() {
			slowResult <- first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Before: "slowly"}, nil)
		}()
		<-p.started
	}
	startSlow()
	var result protocol.CompleteResult
	if err := second.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{}, &result); err != nil || result.Model != "standard" {
		t.Errorf("another client's is %+v, %v", result, err)
	}
	select {
	case err := <-slowResult:
		t.Errorf("another client's ended it: %v", err)
	default:
	}
	// The next completion of the same client cancels it.
	if err := first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Model: "quick"}, &result); err != nil || result.Model != "quick" {
		t.Errorf("the next is %+v, %v", result, err)
	}
	wantError(t, "the one before", <-slowResult, protocol.CodeCancelled, "another completion was requested")

	wantError(t, "the guide", first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Model: "guide"}, nil), protocol.CodeModel, "config.org in ~/home")
	wantError(t, "a model that is none", first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Model: "nobody"}, nil), protocol.CodeNotFound, "nobody")
	p.agreed = "far.example"
	wantError(t, "a host that nobody agreed to", first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{}, nil), protocol.CodeConsent, "far.example")
	if err := first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Consent: "far.example"}, nil); err != nil {
		t.Error(err)
	}
}
