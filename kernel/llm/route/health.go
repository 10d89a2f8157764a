package route

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// health holds the outcome of the last request to each model, for the status. The zero value is
// ready.
type health struct {
	mu     sync.Mutex
	models []protocol.ModelStatus
}

// watch returns the provider with its outcomes recorded under the name.
func (h *health) watch(name string, provider llm.Provider) llm.Provider {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.models = append(h.models, protocol.ModelStatus{Name: name, State: "unasked"})
	return monitored{provider, h, len(h.models) - 1}
}

// statuses returns the models in the order of the calls of watch.
func (h *health) statuses() []protocol.ModelStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.models)
}

// note records the outcome of a request. A request that was given up says nothing about the model.
func (h *health) note(i int, err error) {
	class := llm.ClassOf(err)
	if class == llm.ClassCanceled || errors.Is(err, context.Canceled) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &h.models[i]
	m.At = time.Now().UTC().Format(time.RFC3339)
	m.State, m.Fault = "well", ""
	switch {
	case class == llm.ClassPaused:
		m.State, m.Fault = "paused", err.Error()
	case err != nil:
		m.State, m.Fault = "failing", err.Error()
	}
}

// monitored is a provider whose outcomes are recorded.
type monitored struct {
	llm.Provider
	health *health
	index  int
}

// Stream implements [llm.Provider].
func (w monitored) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for delta, err := range w.Provider.Stream(ctx, request) {
			if err != nil || delta.Finish != "" {
				w.health.note(w.index, err)
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}
