package route

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/catalog"
	"org-agent/kernel/secret"
)

// Server asks one server with the settings of its heading in config.org. Its key is read when it is
// first needed, which may run a command or ask a person. When the server refuses a key that was read
// for an earlier request, the key is read anew, and another one is tried at once. A Server is safe for
// use by several goroutines.
type Server struct {
	choice config.Choice
	driver llm.Driver
	// dialect renders requests. A Server that answers none has no dialect.
	dialect llm.Dialect
	// grammars is what the server has said of grammars, with whatever key it was asked.
	grammars *grammars
	logger   *slog.Logger
	env      func(string) string
	// keys are the keys of all servers, which no answer shows.
	keys *secret.Set
	// known is what is known of models by their names.
	known known

	mu       sync.Mutex
	provider llm.Provider // with the key; nil until the key was read
	headers  map[string]secret.Text
	key      secret.Text // of provider, or of the last one

	spare []*Server // the same server with its further keys

	windows answers[int] // the context windows of its models
	listed  modelList
}

// NewServer returns the server of a model that is not an endpoint of a [Router]: one for speech or
// for vectors of texts.
func NewServer(driver llm.Driver, model config.Model, env func(string) string) *Server {
	return &Server{choice: config.Choice{Model: model, Kind: config.ChoiceServer}, driver: driver, env: env, keys: &secret.Set{}, grammars: &grammars{}}
}

// withKey returns the server with another key. They share what is known of the server.
func (s *Server) withKey(key config.KeySource) *Server {
	with := &Server{choice: s.choice, driver: s.driver, dialect: s.dialect, grammars: s.grammars, logger: s.logger, env: s.env, keys: s.keys, known: s.known}
	with.choice.Key = key
	return with
}

// open returns the driver's provider for a key.
func (s *Server) open(key secret.Text) (llm.Provider, error) {
	return s.driver.Open(llm.ServerConfig{
		Name: s.choice.Name, BaseURL: s.choice.BaseURL, Key: key,
		Model: s.choice.Model.Model, GrammarField: s.choice.Grammar, Effort: s.choice.Effort,
		Headers: s.headers, Query: s.choice.Extras.Query, Body: s.choice.Extras.Body, Logger: s.logger,
	})
}

// Provider returns the provider with its key. If reading the key fails, the next call tries it
// again.
func (s *Server) Provider(ctx context.Context) (llm.Provider, error) {
	provider, _, err := s.keyed(ctx)
	return provider, err
}

// keyed returns the provider with its key. read is true if the key was read for this call.
func (s *Server) keyed(ctx context.Context) (provider llm.Provider, read bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.provider != nil {
		return s.provider, false, nil
	}
	key, err := s.choice.Key.Resolve(ctx, s.env)
	if err != nil {
		return nil, true, &llm.Error{Class: llm.ClassAuth, Provider: s.choice.Name, Err: err}
	}
	headers := map[string]secret.Text{}
	for _, h := range s.choice.Extras.Headers {
		value := secret.Text(h.Text)
		if h.Source != (config.KeySource{}) {
			if value, err = h.Source.Resolve(ctx, s.env); err != nil {
				return nil, true, &llm.Error{Class: llm.ClassAuth, Provider: s.choice.Name, Err: fmt.Errorf("the header %s: %w", h.Name, err)}
			}
			s.keys.Add(value)
		}
		headers[h.Name] = value
	}
	s.keys.Add(key)
	s.key, s.headers = key, headers
	s.provider, err = s.open(key)
	return s.provider, true, err
}

// forget makes the key be read anew if the server has refused it, because a person may have given it
// another one.
func (s *Server) forget(refused llm.Provider, err error) {
	if err == nil || llm.ClassOf(err) != llm.ClassAuth {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.provider == refused {
		s.provider = nil
	}
}

// renewed forgets a key that was refused, reads it anew, and returns a provider if it is another key
// now. Otherwise it returns nil.
func (s *Server) renewed(ctx context.Context, refused llm.Provider, err error) llm.Provider {
	if err == nil || llm.ClassOf(err) != llm.ClassAuth || ctx.Err() != nil {
		return nil
	}
	s.mu.Lock()
	before := s.key
	s.mu.Unlock()
	s.forget(refused, err)
	provider, _, readErr := s.keyed(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if readErr != nil || s.key == before {
		return nil
	}
	return provider
}

// Ask calls ask with a provider for each of the server's keys until a key is accepted. If none is,
// it returns the error for the last.
func (s *Server) Ask(ctx context.Context, ask func(llm.Provider) error) (err error) {
	for _, with := range append([]*Server{s}, s.spare...) {
		var provider llm.Provider
		var read bool
		if provider, read, err = with.keyed(ctx); err == nil {
			err = ask(provider)
			if !read {
				if other := with.renewed(ctx, provider, err); other != nil {
					provider = other
					err = ask(provider)
				}
			}
			with.forget(provider, err)
		}
		switch llm.ClassOf(err) {
		case llm.ClassAuth, llm.ClassQuota, llm.ClassRateLimit: // another key may be accepted
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
	if request.Grammar != "" {
		request.GrammarField = s.grammarField(ctx, request.Model, false)
	}
	return func(yield func(llm.Delta, error) bool) {
		provider, read, err := s.keyed(ctx)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		for provider != nil {
			var next llm.Provider // that has another key
			answered := ""
			request.Asking(Host(s.choice.BaseURL))
			for delta, err := range withoutKeys(provider.Stream(ctx, request), s.keys) {
				if !read {
					if next = s.renewed(ctx, provider, err); next != nil {
						break
					}
				}
				answered = cmp.Or(delta.Model, answered)
				delta.Usage = s.priced(delta.Usage, request.Model, answered)
				s.forget(provider, err)
				if !yield(delta, err) {
					return
				}
			}
			provider, read = next, true
		}
	}
}

// withoutKeys returns a stream in which no text shows one of the keys. A server may quote the key that it was
// sent, and a model one that it has read.
func withoutKeys(stream iter.Seq2[llm.Delta, error], keys *secret.Set) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		text, reasoning := keys.Stream(), keys.Stream()
		for delta, err := range stream {
			delta.Text, delta.Reasoning = text.Write(delta.Text), reasoning.Write(delta.Reasoning)
			delta.Original = delta.Original.Without(func(data string) string {
				all := keys.Stream()
				return all.Write(data) + all.Flush()
			})
			for i := range delta.Calls {
				arguments := keys.Stream()
				delta.Calls[i].Arguments = arguments.Write(delta.Calls[i].Arguments) + arguments.Flush()
			}
			switch {
			case err != nil:
				rest := llm.Delta{Text: text.Flush(), Reasoning: reasoning.Flush()}
				if !rest.Empty() && !yield(rest, nil) {
					return
				}
			case delta.Finish != "":
				delta.Text += text.Flush()
				delta.Reasoning += reasoning.Flush()
			case delta.Empty(): // all of it is held back
				continue
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// priced returns the usage with its cost. What the server reports counts, or else the model's price in
// config.org, or else that of models with its name. asked is the name in the request, "" for the model of
// the settings; answered is the server's own name for the model.
func (s *Server) priced(usage *llm.Usage, asked, answered string) *llm.Usage {
	if usage == nil || usage.Cost != nil {
		return usage
	}
	price := s.price(asked, answered)
	if price == nil {
		return usage
	}
	priced := *usage
	cost := price.Of(*usage)
	priced.Cost = &cost
	return &priced
}

// price returns the price of a model, nil if it is not known.
func (s *Server) price(asked, answered string) *llm.Price {
	set := s.choice.Model.Model
	if s.choice.Price != nil && (asked == "" || asked == set) {
		return s.choice.Price
	}
	name := cmp.Or(asked, set)
	if price := s.known.of(name).Price; price != nil || name != "" {
		return price
	}
	return s.known.of(answered).Price
}

// known is what tables say about models: the person's in config.org, and below it that of the program.
type known struct{ own, builtin catalog.Table }

// of returns what is known of a model by its name on servers.
func (k known) of(name string) catalog.Model { return k.own.Over(k.builtin, name) }
