package route

import (
	"context"
	"iter"
	"sync"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/secret"
)

// Server asks one server with the settings of its heading in config.org. Its key is fetched
// when it is first needed: that may run a command, or ask a person. A Server is safe for use by
// several goroutines.
type Server struct {
	choice config.Choice
	driver llm.Driver
	env    func(string) string

	mu   sync.Mutex
	with llm.Provider // with the key; nil before

	spare []*Server // the same with its further keys

	windowMu sync.Mutex
	windows  map[string]windowAnswer // of its models, by their names
	listed   listed
}

// NewServer returns the server of a model that is no endpoint of a [Router]: one that hears,
// speaks or makes vectors.
func NewServer(driver llm.Driver, model config.Model, env func(string) string) *Server {
	return &Server{choice: config.Choice{Model: model, Kind: config.ChoiceServer}, driver: driver, env: env}
}

// open makes the provider.
func (s *Server) open(key secret.Text) (llm.Provider, error) {
	return s.driver.Open(llm.ServerConfig{
		Name: s.choice.Name, BaseURL: s.choice.BaseURL, Key: key,
		Model: s.choice.Model.Model, GrammarField: s.choice.Grammar, Effort: s.choice.Effort,
	})
}

// Provider returns the provider with its key. A key that could not be got is tried again next
// time.
func (s *Server) Provider(ctx context.Context) (llm.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.with != nil {
		return s.with, nil
	}
	key, err := s.choice.Key.Resolve(ctx, s.env)
	if err != nil {
		return nil, &llm.Error{Class: llm.ClassAuth, Provider: s.choice.Name, Err: err}
	}
	s.with, err = s.open(key)
	return s.with, err
}

// Ask asks the server something with the first of its keys that is let in, or else returns
// what was said of the last.
func (s *Server) Ask(ctx context.Context, ask func(llm.Provider) error) (err error) {
	for _, with := range append([]*Server{s}, s.spare...) {
		var provider llm.Provider
		if provider, err = with.Provider(ctx); err == nil {
			err = ask(provider)
		}
		switch llm.ClassOf(err) {
		case llm.ClassAuth, llm.ClassQuota, llm.ClassRateLimit: // another key may be let in
		default:
			return err
		}
	}
	return err
}

// Stream implements [llm.Provider].
func (s *Server) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if request.Temperature == nil {
		request.Temperature = s.choice.Temperature
	}
	if request.MaxTokens == 0 {
		request.MaxTokens = s.choice.MaxTokens
	}
	return func(yield func(llm.Delta, error) bool) {
		provider, err := s.Provider(ctx)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for delta, err := range provider.Stream(ctx, request) {
			delta.Usage = s.priced(delta.Usage, request.Model)
			if !yield(delta, err) {
				return
			}
		}
	}
}

// priced is the usage with its cost, if the server did not tell it and config.org has the
// price of the model.
func (s *Server) priced(usage *llm.Usage, model string) *llm.Usage {
	price := s.choice.Price
	if usage == nil || usage.Cost != nil || price == nil || model != "" && model != s.choice.Model.Model {
		return usage
	}
	priced := *usage
	cost := price.Of(usage.Input, usage.Output)
	priced.Cost = &cost
	return &priced
}

// windowPatience is how long a turn waits for a server to say how much its model can be
// shown; windowAgain is how long what it said counts, or that it said nothing.
const (
	windowPatience = time.Second
	windowAgain    = 10 * time.Minute
)

// windowTeller is a provider whose server says how many tokens its models can be shown.
type windowTeller interface {
	Window(ctx context.Context, model string) (int, error)
}

// windowAnswer is what a server said of a model's window, and until when that counts.
type windowAnswer struct {
	tokens int
	until  time.Time
}

// window is what the model can be shown: as config.org says, or else the server, if it may be
// asked, or else as models of its name can.
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
func (s *Server) askWindow(ctx context.Context, model string, ask bool) int {
	s.windowMu.Lock()
	defer s.windowMu.Unlock()
	if known, ok := s.windows[model]; ok && time.Now().Before(known.until) {
		return known.tokens
	}
	tokens := s.windows[model].tokens
	if !ask {
		return tokens
	}
	var answer int
	err := s.Ask(ctx, func(provider llm.Provider) error { // with its key, which the turn needs anyway
		ctx, cancel := context.WithTimeout(ctx, windowPatience)
		defer cancel()
		teller, err := llm.As[windowTeller](provider, "tell how much its models can be shown")
		if err == nil {
			answer, err = teller.Window(ctx, model)
		}
		return err
	})
	if err == nil {
		tokens = answer
	}
	if s.windows == nil {
		s.windows = map[string]windowAnswer{}
	}
	s.windows[model] = windowAnswer{tokens, time.Now().Add(windowAgain)}
	return tokens
}
