package route

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/catalog"
	"org-agent/kernel/llm/toolcall"
)

// The names of the choices that are not servers.
const (
	nameBuiltin = "builtin"
	nameNone    = "none"
)

// load returns the models that the settings and the environment choose.
func load(ctx context.Context, c Config) (*routes, error) {
	r := &routes{config: c, consent: consent{path: c.Consent}, known: known{c.Settings.Known, catalog.Builtin()}}
	choices, err := config.Choices(c.Settings, c.Env)
	if err != nil {
		return nil, err
	}
	if r.standard, err = r.cascade(ctx, choices); err != nil {
		return nil, err
	}
	for _, choice := range config.Configured(c.Settings) { // also models that are asked only by name
		provider, server, err := r.connect(choice)
		if err != nil {
			return nil, err
		}
		r.add(endpoint{name: choice.Name, heading: true, provider: provider, server: server})
	}
	return r, nil
}

// add adds an endpoint. If several have the same name, the first one counts.
func (r *routes) add(e endpoint) {
	if !slices.ContainsFunc(r.endpoints, func(known endpoint) bool { return known.name == e.name }) {
		r.endpoints = append(r.endpoints, e)
	}
}

// cascade returns the provider for requests that name no model. It tries the choices in their order.
func (r *routes) cascade(ctx context.Context, choices []config.Choice) (llm.Provider, error) {
	cascade := llm.Cascade{Logger: r.config.Logger}
	for _, choice := range choices {
		provider, err := r.choose(ctx, choice)
		if err != nil {
			return nil, err
		}
		if provider == nil {
			continue
		}
		cascade.Steps = append(cascade.Steps, llm.Step{Name: choice.Name, Provider: provider})
		if choice.Kind == config.ChoiceDiscover {
			break // a found server answers alone
		}
	}
	if len(cascade.Steps) == 1 {
		// There is no breaker: the person repairs the server and asks again at once.
		return r.health.watch(cascade.Steps[0].Name, cascade.Steps[0].Provider), nil
	}
	for i, step := range cascade.Steps {
		cascade.Steps[i].Provider = r.health.watch(step.Name, &llm.Breaker{Next: step.Provider, Name: step.Name})
	}
	return cascade, nil
}

// choose returns the provider of one choice, or nil if there is nothing to ask.
func (r *routes) choose(ctx context.Context, choice config.Choice) (llm.Provider, error) {
	switch choice.Kind {
	case config.ChoiceBuiltin:
		r.setNotice(nameBuiltin, "")
		guide := r.withImages(r.config.Builtin, "the built-in guide", llm.ImagesOmitted)
		r.add(endpoint{name: nameBuiltin, standard: true, provider: guide})
		return guide, nil
	case config.ChoiceNone:
		r.setNotice(nameNone, "")
		return noModel{}, nil
	case config.ChoiceDiscover:
		found, drivers := r.config.Drivers.Discover(ctx)
		if len(found) == 0 {
			return nil, nil
		}
		choice.Name, choice.BaseURL, choice.Driver = found[0].Name, found[0].BaseURL, drivers[0]
		if choice.Model.Model == "" && len(found[0].Models) == 1 {
			choice.Model.Model = found[0].Models[0]
		}
	}
	return r.server(choice)
}

// server returns the provider of a server that is asked for requests that name no model.
func (r *routes) server(choice config.Choice) (llm.Provider, error) {
	provider, server, err := r.connect(choice)
	if err != nil {
		return nil, err
	}
	notice := ""
	if choice.Found {
		how := "which " + choice.Source + " names"
		if choice.Kind == config.ChoiceDiscover {
			how = "found on this machine"
		}
		notice = fmt.Sprintf("answers come from %s, %s; config.org chooses another model", Host(choice.BaseURL), how)
		if err := r.consent.require(Host(choice.BaseURL)); err != nil {
			return nil, err
		}
	}
	r.setNotice(modelName(choice), notice)
	heading := strings.HasPrefix(choice.Source, "config.org:")
	r.add(endpoint{name: choice.Name, heading: heading, standard: true, provider: provider, server: server})
	return provider, nil
}

// modelName returns the name of a choice as people see it.
func modelName(choice config.Choice) string {
	if choice.Model.Model == "" {
		return choice.Name
	}
	return choice.Model.Model
}

// setNotice stores the model's name and the notice that people see. Only the first call counts.
func (r *routes) setNotice(model, notice string) {
	if r.model == "" {
		r.model, r.notice = model, notice
	}
}

// connect returns the provider of a server with its dialect, retries, time limits, keys, consent and
// rule about images.
func (r *routes) connect(choice config.Choice) (llm.Provider, *Server, error) {
	driver, err := r.config.Drivers.Named(choice.Driver)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", choice.Source, err)
	}
	takes := &grammars{}
	dialect, err := r.dialectOf(choice, driver, takes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", choice.Source, err)
	}
	server := &Server{choice: choice, driver: driver, dialect: dialect, grammars: takes, logger: r.config.Logger, env: r.config.Env, keys: &r.keys, known: r.known}
	if _, err := server.open(""); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", choice.Source, err)
	}
	retried := llm.Retry{Next: r.withKeys(server), Logger: r.config.Logger}
	return r.withImages(consenting{retried, &r.consent}, modelName(choice), llm.ImageRule(choice.Images)), server, nil
}

// withKeys returns the provider of a server, with the rotation of its keys if it has several.
func (r *routes) withKeys(server *Server) llm.Provider {
	if len(server.choice.MoreKeys) == 0 {
		return r.bounded(server)
	}
	rotation := &llm.Rotation{Logger: r.config.Logger}
	for i, key := range server.choice.Keys() {
		with := server
		if i > 0 {
			with = server.withKey(key)
			server.spare = append(server.spare, with)
		}
		rotation.Keys = append(rotation.Keys, llm.Key{Name: fmt.Sprintf("%s, key %d (%s)", server.choice.Name, i+1, key), Provider: r.bounded(with)})
	}
	return rotation
}

// bounded returns the provider of a server for one key. Each line is around the one before: requests are rendered, and
// of replies the pictures are kept, the calls read, and the length and the time bounded.
func (r *routes) bounded(s *Server) llm.Provider {
	var p llm.Provider = llm.Literal{Next: s}
	p = rendered{p, s.dialect}
	p = llm.Pictures{Next: p, Keep: r.config.KeepPicture}
	p = toolcall.Reader{Next: p}
	p = llm.Bounds{Next: p, Name: s.choice.Name}
	return llm.Timeouts{Next: p, Name: s.choice.Name, Idle: r.config.Settings.IdleTimeout, Total: r.config.Settings.TurnTimeout}
}

// withImages adds the rule about images. The rule of the first provider is that of [Router.Images].
func (r *routes) withImages(provider llm.Provider, model string, rule llm.ImageRule) llm.Provider {
	images := llm.Images{Next: provider, Model: model, Rule: rule}
	if r.images == nil {
		r.images = images.Apply
	}
	return images
}

// consenting is a provider that is asked only after the person has agreed to its host. This also
// holds for turns that no person began: of an event, of a retry, or of the kernel's start.
type consenting struct {
	llm.Provider
	consent *consent
}

// Stream implements [llm.Provider].
func (a consenting) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if err := a.consent.check(""); err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	return a.Provider.Stream(ctx, request)
}

// noModel is the provider of ORG_AGENT_LLM=none: only skills that need no model answer.
type noModel struct{}

// Stream implements [llm.Provider].
func (noModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		yield(llm.Delta{}, fmt.Errorf("no model is to be asked (ORG_AGENT_LLM or the setting LLM is none)"))
	}
}

// Host returns the part of an address that shows people where their words go.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return llm.RedactURL(address)
	}
	return u.Host
}
