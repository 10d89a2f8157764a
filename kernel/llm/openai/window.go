package openai

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// listing is a model as servers list it. The standard has only the id. Each server has its own name
// for the context window.
type listing struct {
	ID                  string `json:"id"`
	OwnedBy             string `json:"owned_by"`              // llama.cpp and vLLM give their own names, Ollama see isOllama
	ContextLength       count  `json:"context_length"`        // routers
	LoadedContextLength count  `json:"loaded_context_length"` // LM Studio, as the model was loaded
	ContextWindow       count  `json:"context_window"`        // Groq
	MaxContextLength    count  `json:"max_context_length"`    // Mistral
	MaxModelLen         count  `json:"max_model_len"`         // vLLM
	Meta                meta   `json:"meta"`                  // llama.cpp
}

type meta struct {
	Context      count `json:"n_ctx"`       // as the server was started
	TrainContext count `json:"n_ctx_train"` // as the model was trained
}

// UnmarshalJSON accepts any value, and uses only the numbers of tokens in it.
func (m *meta) UnmarshalJSON(data []byte) error {
	type plain meta
	if json.Unmarshal(data, (*plain)(m)) != nil {
		*m = meta{}
	}
	return nil
}

// count is a number of tokens. Any other value is 0.
type count int

// mostTokens is more than the window of any model.
const mostTokens = 1 << 30

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(data []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(data), `"`))
	if err != nil || n < 0 || n > mostTokens {
		n = 0
	}
	*c = count(n)
	return nil
}

// window returns the context window that the server reports, or 0. The window with which the model
// runs takes precedence over the largest possible one.
func (l listing) window() int {
	for _, size := range []count{
		l.LoadedContextLength, l.Meta.Context, l.MaxModelLen, l.ContextWindow, l.ContextLength, l.MaxContextLength, l.Meta.TrainContext,
	} {
		if size > 0 {
			return int(size)
		}
	}
	return 0
}

// Window asks the server for the context window of a model, in tokens. It returns 0 if the server
// reports none. An empty name means the configured model. If the server is Ollama, which lists no windows, it is
// asked further; then the error has [llm.ClassLoading] for a model whose window is known only once it is loaded.
func (p *Provider) Window(ctx context.Context, model string) (int, error) {
	list, err := p.list(ctx)
	if err != nil {
		return 0, err
	}
	if model == "" {
		model = p.config.Model
	}
	i := slices.IndexFunc(list, func(l listing) bool { return l.ID == model })
	if i < 0 {
		i = slices.IndexFunc(list, func(l listing) bool { return l.isOllama() && strings.EqualFold(l.ID, withTag(model)) })
	}
	if i < 0 && model == "" && len(list) == 1 {
		i = 0
	}
	if i < 0 {
		return 0, nil
	}
	if window := list[i].window(); window > 0 || !list[i].isOllama() {
		return window, nil
	}
	return p.windowOfOllama(ctx, list[i].ID)
}
