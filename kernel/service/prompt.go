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

// Prompts shows the prompt of a model.
type Prompts struct {
	Reader   EventReader
	Settings EventResolver
	Composer Composer
}

// Composer composes the prompt for an event without asking the model.
type Composer interface {
	Prompt(ctx context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult
}

// Methods returns the methods of this service.
func (s Prompts) Methods() []Method {
	return []Method{{protocol.MethodPromptGet, ForClient(s.get)}}
}

// get returns the prompt for an event. Its parameters are those of the event. An event without a
// text gets a stand-in.
func (s Prompts) get(ctx context.Context, client *rpc.Client, params protocol.Object) (protocol.PromptResult, error) {
	mode, kind := prompt.Mode(params.Remove(protocol.PromptMode)), prompt.Kind(params.Remove(protocol.PromptKind))
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

// errSuperseded ends a completion for which its client no longer waits.
var errSuperseded = errors.New("another completion was requested")

// Completions asks a model to continue a text, one for each client at a time. [NewCompletions]
// makes it.
type Completions struct {
	c CompletionsConfig

	mu      sync.Mutex
	running map[string]*completion // by the client's id
}

// CompletionsConfig configures [Completions].
type CompletionsConfig struct {
	Completer Completer
	Models    ModelFinder
	Consent   Consent
	// Model returns the model that config.org names for completions, or "" for the conversation's
	// model.
	Model func() string
	// Guide is the name of the built-in guide, which is not a model and completes nothing. Home is
	// the directory whose config.org says how to add a model.
	Guide, Home string
}

// Completer continues a text.
type Completer interface {
	Complete(ctx context.Context, p protocol.CompleteParams) (protocol.CompleteResult, error)
}

// NewCompletions returns the service of completions.
func NewCompletions(c CompletionsConfig) *Completions {
	return &Completions{c: c, running: map[string]*completion{}}
}

// Methods returns the methods of this service.
func (s *Completions) Methods() []Method {
	return []Method{{protocol.MethodComplete, Concurrent(ForClient(func(ctx context.Context, client *rpc.Client, p protocol.CompleteParams) (protocol.CompleteResult, error) {
		return s.complete(ctx, client.ID(), p)
	}))}}
}

type completion struct{ cancel context.CancelCauseFunc }

// begin cancels the client's earlier completion. The caller must call done at the end.
func (s *Completions) begin(ctx context.Context, client string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	started := &completion{cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	if earlier := s.running[client]; earlier != nil {
		earlier.cancel(errSuperseded)
	}
	s.running[client] = started
	return ctx, func() {
		cancel(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[client] == started {
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
