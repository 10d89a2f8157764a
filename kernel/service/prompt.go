package service

import (
	"context"
	"errors"
	"slices"
	"sync"

	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Prompts shows what a model would be sent.
type Prompts struct {
	Reader   EventReader
	Settings EventResolver
	Composer Composer
}

// Composer says what a model would be sent for an event, without asking it.
type Composer interface {
	Prompt(ctx context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult
}

// Methods lists what is answered.
func (s Prompts) Methods() []Method {
	return []Method{{protocol.MethodPromptGet, ForClient(s.get)}}
}

// get shows what a model would be sent for an event. Its parameters are those of the event;
// without a text a stand-in is shown for it.
func (s Prompts) get(ctx context.Context, client *rpc.Client, params protocol.Object) (protocol.PromptResult, error) {
	mode, kind := prompt.Mode(params.Take(protocol.PromptMode)), prompt.Kind(params.Take(protocol.PromptKind))
	if mode != "" && !slices.Contains(prompt.Modes(), mode) {
		return protocol.PromptResult{}, protocol.Errorf(protocol.CodeInvalidParams, "there is no mode %q of a prompt; there are full, minimal and none", mode)
	}
	if kind != "" && !slices.Contains(prompt.Kinds(), kind) {
		return protocol.PromptResult{}, protocol.Errorf(protocol.CodeInvalidParams, "there is no kind %q of a prompt; there are chat, task, heartbeat and subagent", kind)
	}
	event, err := s.Reader.ReadDraft(client, params)
	if err == nil {
		err = s.Settings.Resolve(ctx, &event)
	}
	if err != nil {
		return protocol.PromptResult{}, err
	}
	return s.Composer.Prompt(ctx, event, mode, kind), ctx.Err()
}

// errSuperseded is why a completion ends that its client does not wait for any more.
var errSuperseded = errors.New("another completion was asked for")

// Completions has a model go on with a text, one for each client at a time. It is made by
// [NewCompletions].
type Completions struct {
	c CompletionsConfig

	mu      sync.Mutex
	running map[string]*completion // by the client's id
}

// CompletionsConfig is what [Completions] works with.
type CompletionsConfig struct {
	Completer Completer
	Models    ModelFinder
	Consent   Consent
	// Model is the model that config.org names for it, "" for the conversation's.
	Model func() string
	// Guide is the name of what answers without being a model, which completes nothing; Home
	// is where config.org says how to add one.
	Guide, Home string
}

// Completer goes on with a text.
type Completer interface {
	Complete(ctx context.Context, p protocol.CompleteParams) (protocol.CompleteResult, error)
}

// NewCompletions returns the service of completions.
func NewCompletions(c CompletionsConfig) *Completions {
	return &Completions{c: c, running: map[string]*completion{}}
}

// Methods lists what is answered.
func (s *Completions) Methods() []Method {
	return []Method{{protocol.MethodComplete, Concurrent(ForClient(func(ctx context.Context, client *rpc.Client, p protocol.CompleteParams) (protocol.CompleteResult, error) {
		return s.complete(ctx, client.ID(), p)
	}))}}
}

type completion struct{ cancel context.CancelCauseFunc }

// begin gives up what the client had asked for before. Done is to be called at the end.
func (s *Completions) begin(ctx context.Context, client string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	this := &completion{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if former := s.running[client]; former != nil {
		former.cancel(errSuperseded)
	}
	s.running[client] = this
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[client] == this {
			delete(s.running, client)
		}
	}
}

func (s *Completions) complete(ctx context.Context, client string, p protocol.CompleteParams) (protocol.CompleteResult, error) {
	if p.Model == "" {
		p.Model = s.c.Model()
	}
	if p.Model != "" {
		if err := s.c.Models.Find(p.Model); err != nil {
			return protocol.CompleteResult{}, err
		}
	}
	if err := s.c.Consent.CheckConsent(p.Consent); err != nil {
		return protocol.CompleteResult{}, err
	}
	ctx, done := s.begin(ctx, client)
	defer done()
	result, err := s.c.Completer.Complete(ctx, p)
	switch {
	case context.Cause(ctx) == errSuperseded:
		return protocol.CompleteResult{}, protocol.Errorf(protocol.CodeCancelled, "%w", errSuperseded)
	case err == nil && result.Model == s.c.Guide:
		return protocol.CompleteResult{}, protocol.Errorf(protocol.CodeModel,
			"the built-in guide completes nothing; config.org in %s says how to add a model", s.c.Home)
	}
	return result, err
}
