package daemon

import (
	"context"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
)

// windowPatience is how long a turn waits for a server to say how much its model can be
// shown; windowAgain is how long what it said counts, or that it said nothing.
const (
	windowPatience = time.Second
	windowAgain    = 10 * time.Minute
)

// window is what the model of this name can be shown, "" for the standard one. Of several
// that may answer it is the smallest. Only if it may ask are servers asked that have not said
// it yet.
func (d *daemon) window(ctx context.Context, name string, ask bool) llm.Window {
	if name != "" {
		place, model, err := d.models.find(name)
		if err != nil {
			return llm.Window{}
		}
		return d.windowOf(ctx, place, model, ask)
	}
	var least llm.Window
	for _, p := range d.models.places {
		if !p.standard {
			continue
		}
		if w := d.windowOf(ctx, p, "", ask); least.Tokens == 0 || w.Tokens > 0 && w.Tokens < least.Tokens {
			least = w
		}
	}
	return least
}

func (d *daemon) windowOf(ctx context.Context, p place, model string, ask bool) llm.Window {
	if p.server == nil {
		return llm.Window{Tokens: llm.AssumedWindow, Source: "the built-in responder", Silent: true}
	}
	return p.server.window(ctx, model, ask && (!p.server.choice.Found || d.consent.needed() == ""))
}

// told is what a server said of a model's window, and when.
type told struct {
	tokens int
	until  time.Time
}

// window is what the model can be shown: as config.org says, or else the server, if it may be
// asked, or else as models of its name can.
func (s *server) window(ctx context.Context, model string, ask bool) llm.Window {
	set := s.choice.Model.Model
	w := llm.Window{Reply: s.choice.MaxTokens}
	if s.choice.Window > 0 && (model == "" || model == set) {
		w.Tokens, w.Source = s.choice.Window, "the settings"
		return w
	}
	if model == "" {
		model = set
	}
	w.Tokens, w.Source = s.askWindow(ctx, model, ask), "its server"
	if w.Tokens == 0 {
		w.Tokens, w.Source = llm.NamedWindow(model), "its name"
	}
	if w.Tokens == 0 {
		w.Source = ""
	}
	return w
}

// askWindow asks the server, once in a while, or else only says what it has said.
func (s *server) askWindow(ctx context.Context, model string, ask bool) int {
	s.windowMu.Lock()
	defer s.windowMu.Unlock()
	if known, ok := s.windows[model]; ok && time.Now().Before(known.until) {
		return known.tokens
	}
	tokens := s.windows[model].tokens
	if !ask {
		return tokens
	}
	var said int
	err := s.let(ctx, func(provider *openai.Provider) (err error) { // with its key, which the turn needs anyway
		ctx, cancel := context.WithTimeout(ctx, windowPatience)
		defer cancel()
		said, err = provider.Window(ctx, model)
		return err
	})
	if err == nil {
		tokens = said
	}
	if s.windows == nil {
		s.windows = map[string]told{}
	}
	s.windows[model] = told{tokens, time.Now().Add(windowAgain)}
	return tokens
}
