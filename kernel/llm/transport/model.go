package transport

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"org-agent/kernel/llm"
)

// shownModels is the maximum number of models that an error lists.
const shownModels = 12

// OnlyModel is the model for requests to a server that name none. The zero value is ready.
type OnlyModel struct {
	mu   sync.Mutex
	name string // "" until the server was asked
}

// Of returns the first of the names that is not empty, or else the only model that the server lists. The
// server is asked once. The error for a server with several models lists them.
func (m *OnlyModel) Of(ctx context.Context, provider string, list func(context.Context) ([]string, error), named ...string) (string, error) {
	m.mu.Lock()
	known := m.name
	m.mu.Unlock()
	for _, name := range append(named, known) {
		if name != "" {
			return name, nil
		}
	}
	names, err := list(ctx)
	if err != nil {
		return "", err
	}
	if len(names) != 1 {
		return "", noSingleModel(provider, names)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name = names[0]
	return names[0], nil
}

// Forget makes the next request ask for the model again. It is called when the server has no model with
// that name.
func (m *OnlyModel) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.name = ""
}

// noSingleModel returns the error for a server that lists no model or several.
func noSingleModel(provider string, names []string) *llm.Error {
	failure := &llm.Error{Class: llm.ClassModel, Provider: provider}
	if len(names) == 0 {
		failure.Message = "no model is set and the server lists none"
		failure.Advice = "install a model on the server (for example: ollama pull NAME), or set ORG_AGENT_LLM_MODEL"
		return failure
	}
	shown := strings.Join(names[:min(len(names), shownModels)], ", ")
	if more := len(names) - shownModels; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	failure.Message = "no model is set and the server has several: " + shown
	return failure
}
