package route

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// Router has every model that can be asked for. A request that names a model goes to its endpoint,
// any other to the standard models in turn.
type Router struct {
	config  Config
	current atomic.Pointer[routes]

	mu       sync.Mutex      // held while settings are loaded
	settings config.Settings // of current
}

// New returns the router of the models that the settings and the environment choose. Its errors
// name the line or the variable at fault. If nothing is chosen, it looks for servers on this
// machine.
func New(ctx context.Context, c Config) (*Router, error) {
	c.learnt = &learnt{path: c.Learnt, version: c.Version, logger: c.Logger}
	r := &Router{config: c}
	if err := r.Reload(ctx, c.Settings); err != nil {
		return nil, err
	}
	return r, nil
}

// Reload makes other settings count from the next request on. A request that runs keeps its model.
// Keys are read anew. If the settings have the same models as before, Reload does nothing. If they
// cannot be used, it returns an error as [New] does, and the models stay as they were.
func (r *Router) Reload(ctx context.Context, settings config.Settings) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.current.Load()
	if before != nil && settings.SameModels(r.settings) {
		return nil
	}
	c := r.config
	c.Settings = settings
	loaded, err := load(ctx, c)
	if err != nil {
		return err
	}
	r.current.Store(loaded)
	r.settings = settings
	if before != nil && r.config.Logger != nil {
		r.config.Logger.Info("models changed", "model", loaded.model)
	}
	return nil
}

// Model returns the name of the first standard model. It is "builtin" for the built-in guide,
// and "none" if no model may be asked.
func (r *Router) Model() string { return r.current.Load().model }

// Notice tells a person where their words go, if the server was found rather than configured.
// Otherwise it is "".
func (r *Router) Notice() string { return r.current.Load().notice }

// IsModel reports whether the first standard model is a language model.
func (r *Router) IsModel() bool {
	model := r.Model()
	return model != "" && model != nameBuiltin && model != nameNone
}

// Dialect returns the dialect in which the model of each request is asked, as it is at that moment. The
// text of a message is that of the first standard model. For the built-in guide, which is asked in none,
// it is the first dialect.
func (r *Router) Dialect() llm.Dialect { return dialects{r} }

// Images returns a request as the first standard model gets it, by its rule about images.
func (r *Router) Images(request llm.Request) (llm.Request, error) {
	if change := r.current.Load().images; change != nil {
		return change(request)
	}
	return request, nil
}

// ConsentNeeded returns the host that a person still has to agree to, or "".
func (r *Router) ConsentNeeded() string { return r.current.Load().consent.needed() }

// CheckConsent fails with [protocol.CodeConsent] while no person has agreed that words go to the
// host that was found. agreed is the host that this person agrees to, or "". The agreement is
// stored in the file Config.Consent.
func (r *Router) CheckConsent(agreed string) error { return r.current.Load().consent.check(agreed) }

// Statuses returns the standard models in the order in which they are tried, with their states.
func (r *Router) Statuses() []protocol.ModelStatus { return r.current.Load().health.statuses() }

// Stream implements [llm.Provider].
func (r *Router) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	routes := r.current.Load()
	if request.Model == "" {
		return routes.standard.Stream(ctx, request)
	}
	endpoint, model, err := routes.find(request.Model)
	if err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	request.Model = model
	return endpoint.provider.Stream(ctx, request)
}

// Find fails with [protocol.CodeNotFound] if no server can be asked for a model with this name. The
// error names the model that was probably meant. Find asks no server.
func (r *Router) Find(name string) error {
	_, _, err := r.current.Load().find(name)
	return err
}

// Check fails as [Router.Find] does. It also fails if the server of the model lists its models and
// this one is not among them. The server is asked at most once a minute, and waited for two
// seconds.
func (r *Router) Check(ctx context.Context, name string) error {
	return r.current.Load().check(ctx, name)
}

// List returns the models of all servers. It asks the servers at once, for five seconds at most,
// and lists up to a thousand models of each. A server that was found is asked only after a person
// agreed to it. Silent are the names of the servers that did not answer. The model named chosen is
// marked as chosen.
func (r *Router) List(ctx context.Context, chosen string) protocol.ModelListResult {
	return r.current.Load().list(ctx, chosen)
}

// Window returns the context window of the model with this name. For "" it is the smallest window
// of the standard models. Servers that have not reported it yet are asked only if ask is set. Each
// takes a second at most.
func (r *Router) Window(ctx context.Context, name string, ask bool) llm.Window {
	return r.current.Load().window(ctx, name, ask)
}

// ServedWindow returns the window that the server of the model with this name says, in tokens, whatever the settings
// say of it. The server is asked afresh, and waited for a second at most. For "" it is the smallest window of the
// standard models. It is 0 if no server tells.
func (r *Router) ServedWindow(ctx context.Context, name string) int {
	return r.current.Load().servedWindow(ctx, name)
}
