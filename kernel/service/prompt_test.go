package service_test

import (
	"context"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// typist goes on with texts: with the model's name, or, before "slowly", not at all.
type typist struct {
	begun  chan struct{}
	agreed string
}

func (p *typist) Complete(ctx context.Context, params protocol.CompleteParams) (protocol.CompleteResult, error) {
	if params.Before == "slowly" {
		p.begun <- struct{}{}
		<-ctx.Done()
		return protocol.CompleteResult{}, ctx.Err()
	}
	return protocol.CompleteResult{Text: "more", Model: params.Model}, nil
}

func (p *typist) Find(name string) error {
	if name == "nobody" {
		return protocol.Errorf(protocol.CodeNotFound, "there is no model nobody")
	}
	return nil
}

func (p *typist) CheckConsent(agreed string) error {
	if agreed != p.agreed {
		return protocol.Errorf(protocol.CodeConsent, "agree to %s", p.agreed)
	}
	return nil
}

func TestCompletions(t *testing.T) {
	p := &typist{begun: make(chan struct{})}
	dial := served(t, service.NewCompletions(service.CompletionsConfig{
		Completer: p, Models: p, Consent: p, Model: func() string { return "standard" }, Guide: "guide", Home: "~/home",
	}).Methods())
	first, second := dial("first"), dial("second")
	slowly := make(chan error)
	begin := func() {
		go func() {
			slowly <- first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Before: "slowly"}, nil)
		}()
		<-p.begun
	}
	begin()
	var result protocol.CompleteResult
	if err := second.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{}, &result); err != nil || result.Model != "standard" {
		t.Errorf("another client's is %+v, %v", result, err)
	}
	select {
	case err := <-slowly:
		t.Errorf("another client's ended it: %v", err)
	default:
	}
	// The client's own next one does.
	if err := first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Model: "quick"}, &result); err != nil || result.Model != "quick" {
		t.Errorf("the next is %+v, %v", result, err)
	}
	refused(t, "the one before", <-slowly, protocol.CodeCancelled, "another completion was requested")

	refused(t, "the guide", first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Model: "guide"}, nil), protocol.CodeModel, "config.org in ~/home")
	refused(t, "a model that is none", first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Model: "nobody"}, nil), protocol.CodeNotFound, "nobody")
	p.agreed = "far.example"
	refused(t, "a host that nobody agreed to", first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{}, nil), protocol.CodeConsent, "far.example")
	if err := first.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Consent: "far.example"}, nil); err != nil {
		t.Error(err)
	}
}
