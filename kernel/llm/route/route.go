// Package route finds which model answers a request and what that model can take.
//
// A [Router] is made from the settings and the environment: the models that are asked in turn
// where none is chosen, and every other that can be asked for by its name. It is itself an
// [llm.Provider]; around each server stand its time limits, retries, further keys, the rule
// about images and the person's consent. What a server can do beyond answering is asked for
// with [llm.As]; which protocols there are is the list of drivers that the Router is given.
//
// A Router is safe for use by several goroutines. It asks no server before it is asked itself,
// but for looking once which servers listen on this machine where nothing is set.
package route

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Config is what a [Router] is made of. All of it is required, but for Logger.
type Config struct {
	Drivers  llm.Drivers
	Settings config.Settings
	Env      func(string) string
	// Consent is the file that keeps which hosts a person agreed to.
	Consent string
	// Builtin answers where there is no model.
	Builtin llm.Provider
	Logger  *slog.Logger
}

// Router is every model that can be asked for. A request that names a model goes where that
// is, any other to those that are asked where none is chosen.
type Router struct {
	config    Config
	standard  llm.Provider
	endpoints []endpoint // filled by New, and not changed any more
	model     string
	notice    string
	images    func(llm.Request) (llm.Request, error)
	consent   consent
	health    health
}

// endpoint is a server, or the built-in responder, by the name it has in config.org or another
// one.
type endpoint struct {
	name     string
	heading  bool // the name is that of a heading in config.org
	standard bool // it is asked where nothing is chosen
	provider llm.Provider
	server   *Server // nil for the built-in responder
}

// Model is the name of the model that is asked first where none is chosen: also "builtin", or
// "none".
func (r *Router) Model() string { return r.model }

// Notice tells a person where the words go when that was found rather than chosen; else "".
func (r *Router) Notice() string { return r.notice }

// IsModel reports whether there is a language model to ask where none is chosen.
func (r *Router) IsModel() bool {
	return r.model != "" && r.model != nameBuiltin && r.model != nameNone
}

// Images returns a request as the model that is asked first gets it, by its rule about images.
func (r *Router) Images(request llm.Request) (llm.Request, error) {
	if r.images == nil {
		return request, nil
	}
	return r.images(request)
}

// ConsentNeeded is the host that a person still has to agree to, or "".
func (r *Router) ConsentNeeded() string { return r.consent.needed() }

// CheckConsent fails with [protocol.CodeConsent] while a person has not agreed that words go
// to the host that was found. agreed is the host that this person agrees to, or ""; agreement
// is kept.
func (r *Router) CheckConsent(agreed string) error { return r.consent.check(agreed) }

// Statuses are the models that are asked where none is chosen, in order, and how they fared.
func (r *Router) Statuses() []protocol.ModelStatus { return r.health.statuses() }

// Stream implements [llm.Provider].
func (r *Router) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if request.Model == "" {
		return r.standard.Stream(ctx, request)
	}
	endpoint, model, err := r.find(request.Model)
	if err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	request.Model = model
	return endpoint.provider.Stream(ctx, request)
}

// Find fails with [protocol.CodeNotFound] where no server can be asked for a model of this
// name, and names the one that was probably meant. It asks nobody.
func (r *Router) Find(name string) error {
	_, _, err := r.find(name)
	return err
}

// find is the endpoint that has the model of this name, and what the model is called there:
// the name of an endpoint is the model that is set there, NAME:MODEL another one of it, and any
// other name is a model of the first server.
func (r *Router) find(name string) (endpoint, string, error) {
	for _, e := range r.endpoints {
		if e.name == name {
			return e, "", nil
		}
		if model, ok := strings.CutPrefix(name, e.name+":"); ok && model != "" && e.server != nil {
			return e, model, nil
		}
	}
	heading, _, _ := strings.Cut(name, ":")
	for _, off := range []string{name, heading} {
		if line := r.config.Settings.Off[off]; line > 0 {
			return endpoint{}, "", protocol.Errorf(protocol.CodeNotFound,
				"the model %q is switched off: take the word COMMENT away in line %d of config.org and restart the kernel; no other is asked in its place", off, line)
		}
	}
	for _, e := range r.endpoints {
		if e.server != nil && e.standard {
			return e, name, nil
		}
	}
	names := r.names()
	if near := suggest.Of(name, names); near != "" {
		return endpoint{}, "", protocol.Errorf(protocol.CodeNotFound, "there is no model %q: did you mean %q?", name, near)
	}
	return endpoint{}, "", protocol.Errorf(protocol.CodeNotFound, "there is no model %q: there is %s", name, strings.Join(names, ", "))
}

// names are those of the endpoints: of the models that are set there.
func (r *Router) names() []string {
	var names []string
	for _, e := range r.endpoints {
		names = append(names, e.name)
	}
	return names
}

// TakesGrammar reports whether the model of that name, "" for what answers where none is
// chosen, can be held to a grammar.
func (r *Router) TakesGrammar(name string) bool {
	if name == "" {
		return slices.ContainsFunc(r.endpoints, func(e endpoint) bool { return e.standard && e.takesGrammar() })
	}
	found, _, err := r.find(name)
	return err == nil && found.takesGrammar()
}

func (e endpoint) takesGrammar() bool { return e.server != nil && e.server.choice.Grammar != "" }

// mayAsk reports whether a server may be asked what it has: one that was found, only after a
// person agreed to it.
func (r *Router) mayAsk(s *Server) bool { return !s.choice.Found || r.consent.needed() == "" }
