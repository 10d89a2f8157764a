// Package route finds which model answers a request and what that model can take.
//
// A [Router] is made from the settings and the environment. It has the models that are tried in
// turn for a request that names none, and all others by their names. It is itself an
// [llm.Provider], and adds to each server its time limits, retries, further keys, the rule about
// images and the person's consent. [llm.As] tells what a server can do beyond answering. The
// protocols are the list of drivers that the Router is given.
//
// A Router is safe for use by several goroutines. It asks no server before it is asked itself,
// except that [New] looks once for servers on this machine if nothing is set.
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

// Config configures a [Router]. All fields but Logger are required.
type Config struct {
	Drivers  llm.Drivers
	Dialects llm.Dialects
	Settings config.Settings
	Env      func(string) string
	// Consent is the file of the hosts that a person agreed to.
	Consent string
	// Builtin answers where there is no model.
	Builtin llm.Provider
	Logger  *slog.Logger
}

// Router has every model that can be asked for. A request that names a model goes to its endpoint,
// any other to the standard models in turn.
type Router struct {
	config    Config
	standard  llm.Provider
	endpoints []endpoint // filled by New, and constant afterwards
	model     string
	notice    string
	images    func(llm.Request) (llm.Request, error)
	consent   consent
	health    health
}

// endpoint is a server, or the built-in responder, under a name.
type endpoint struct {
	name     string
	heading  bool // the name is a heading in config.org
	standard bool // it is asked for requests that name no model
	provider llm.Provider
	server   *Server // nil for the built-in responder
}

// Model returns the name of the first standard model. It is "builtin" for the built-in responder,
// and "none" if no model may be asked.
func (r *Router) Model() string { return r.model }

// Notice tells a person where their words go, if the server was found rather than configured.
// Otherwise it is "".
func (r *Router) Notice() string { return r.notice }

// IsModel reports whether the first standard model is a language model.
func (r *Router) IsModel() bool {
	return r.model != "" && r.model != nameBuiltin && r.model != nameNone
}

// Dialect returns the dialect in which the first standard model is asked. For the built-in
// responder, which is asked in none, it returns the first dialect.
func (r *Router) Dialect() llm.Dialect {
	for _, e := range r.endpoints {
		if e.standard && e.server != nil {
			return e.server.dialect
		}
	}
	return r.config.Dialects[0]
}

// Images returns a request as the first standard model gets it, by its rule about images.
func (r *Router) Images(request llm.Request) (llm.Request, error) {
	if r.images == nil {
		return request, nil
	}
	return r.images(request)
}

// ConsentNeeded returns the host that a person still has to agree to, or "".
func (r *Router) ConsentNeeded() string { return r.consent.needed() }

// CheckConsent fails with [protocol.CodeConsent] while no person has agreed that words go to the
// host that was found. agreed is the host that this person agrees to, or "". The agreement is
// stored in the file Config.Consent.
func (r *Router) CheckConsent(agreed string) error { return r.consent.check(agreed) }

// Statuses returns the standard models in the order in which they are tried, with their states.
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

// Find fails with [protocol.CodeNotFound] if no server can be asked for a model with this name. The
// error names the model that was probably meant. Find asks no server.
func (r *Router) Find(name string) error {
	_, _, err := r.find(name)
	return err
}

// find returns the endpoint of the model with this name, and the model's name there. The name of an
// endpoint stands for the model of its settings, whose name there is "". ENDPOINT:MODEL is another
// model of it. Any other name is a model of the first standard server.
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

// names returns the names of the endpoints.
func (r *Router) names() []string {
	var names []string
	for _, e := range r.endpoints {
		names = append(names, e.name)
	}
	return names
}

// TakesGrammar reports whether the model with that name can be restricted to a grammar. The name ""
// stands for the standard models, of which one suffices.
func (r *Router) TakesGrammar(name string) bool {
	if name == "" {
		return slices.ContainsFunc(r.endpoints, func(e endpoint) bool { return e.standard && e.takesGrammar() })
	}
	found, _, err := r.find(name)
	return err == nil && found.takesGrammar()
}

func (e endpoint) takesGrammar() bool { return e.server != nil && e.server.choice.Grammar != "" }

// mayAsk reports whether a server may be asked for its models. A server that was found may be asked
// only after a person agreed to it.
func (r *Router) mayAsk(s *Server) bool { return !s.choice.Found || r.consent.needed() == "" }
