package route

import (
	"cmp"
	"context"

	"org-agent/kernel/llm"
)

func (r *routes) window(ctx context.Context, name string, ask bool) llm.Window {
	if name != "" {
		endpoint, model, err := r.find(name)
		if err != nil {
			return llm.Window{}
		}
		return r.windowOf(ctx, endpoint, model, ask)
	}
	var least llm.Window
	for _, e := range r.endpoints {
		if !e.standard {
			continue
		}
		if w := r.windowOf(ctx, e, "", ask); least.Tokens == 0 || w.Tokens > 0 && w.Tokens < least.Tokens {
			least = w
		}
	}
	return least
}

// servedWindow returns the window that the server of the model with this name says, asked afresh; for "" the smallest
// of the standard models. It is 0 if no server tells.
func (r *routes) servedWindow(ctx context.Context, name string) int {
	if name != "" {
		endpoint, model, err := r.find(name)
		if err != nil {
			return 0
		}
		return r.servedWindowOf(ctx, endpoint, model)
	}
	least := 0
	for _, e := range r.endpoints {
		if !e.standard {
			continue
		}
		if tokens := r.servedWindowOf(ctx, e, ""); least == 0 || tokens > 0 && tokens < least {
			least = tokens
		}
	}
	return least
}

func (r *routes) servedWindowOf(ctx context.Context, e endpoint, model string) int {
	if e.server == nil || !r.mayAsk(e.server) {
		return 0
	}
	model = cmp.Or(model, e.server.choice.Model.Model)
	e.server.windows.forget(model)
	return e.server.saidWindow(ctx, model, true)
}

func (r *routes) windowOf(ctx context.Context, e endpoint, model string, ask bool) llm.Window {
	if e.server == nil {
		return llm.Window{Tokens: llm.AssumedWindow, Source: "the built-in guide", NoModel: true}
	}
	return e.server.window(ctx, model, ask && r.mayAsk(e.server))
}

// windowTeller is a provider whose server reports the context windows of its models, in tokens.
type windowTeller interface {
	Window(ctx context.Context, model string) (int, error)
}

// window returns the context window of a model. It is that of config.org: of the model's heading, or else
// of the person's table. Otherwise it is that of the server, if the server may be asked, or else that of
// models with its name.
func (s *Server) window(ctx context.Context, model string, ask bool) llm.Window {
	set := s.choice.Model.Model
	w := llm.Window{Reply: s.choice.MaxTokens}
	if s.choice.Window > 0 && (model == "" || model == set) {
		w.Tokens, w.Source = s.choice.Window, "the settings"
		return w
	}
	if model == "" {
		model = set
	}
	if own, _ := s.known.own.Find(model); own.Window > 0 {
		w.Tokens, w.Source = own.Window, "the table of known models"
		return w
	}
	w.Tokens, w.Source = s.saidWindow(ctx, model, ask), "its server"
	if w.Tokens == 0 {
		w.Tokens, w.Source = cmp.Or(s.known.of(model).Window, llm.NamedWindow(model)), "its name"
	}
	if w.Tokens == 0 {
		w.Source = ""
	}
	return w
}

// saidWindow returns what the server has said, 0 if nothing. If ask is set and that does not count any more, the
// server is asked.
func (s *Server) saidWindow(ctx context.Context, model string, ask bool) int {
	if !ask {
		tokens, _ := s.windows.of(model)
		return tokens
	}
	return s.windows.ask(ctx, s, model, func(ctx context.Context, provider llm.Provider) (int, error) {
		teller, err := llm.As[windowTeller](provider, "tell how much its models can be shown")
		if err != nil {
			return 0, err
		}
		return teller.Window(ctx, model)
	})
}
