package daemon

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/nearest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// models is every model that can be asked for. It is a provider: a request that
// names a model goes where that is, any other to the standard one. It is filled
// before the first request and not changed any more.
type models struct {
	standard llm.Provider
	places   []place
	off      map[string]int // those that are switched off in config.org, and the lines
}

// place is a server, or the built-in responder, by the name it has in config.org
// or another one.
type place struct {
	name     string
	heading  bool // the name is that of a heading in config.org
	standard bool // it is asked where nothing is chosen
	provider llm.Provider
	server   *server // nil for the built-in responder
}

// Stream implements [llm.Provider].
func (m *models) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	if request.Model == "" {
		return m.standard.Stream(ctx, request)
	}
	place, model, err := m.find(request.Model)
	if err != nil {
		return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
	}
	request.Model = model
	return place.provider.Stream(ctx, request)
}

// find is the place that has the model of this name, and what the model is called
// there: the name of a place is the model that is set there, NAME:MODEL another
// one of it, and any other name is a model of the first server.
func (m *models) find(name string) (place, string, error) {
	for _, p := range m.places {
		if p.name == name {
			return p, "", nil
		}
		if model, ok := strings.CutPrefix(name, p.name+":"); ok && model != "" && p.server != nil {
			return p, model, nil
		}
	}
	heading, _, _ := strings.Cut(name, ":")
	for _, off := range []string{name, heading} {
		if line := m.off[off]; line > 0 {
			return place{}, "", protocol.Errorf(protocol.CodeNotFound,
				"the model %q is switched off: take the word COMMENT away in line %d of config.org and restart the kernel; no other is asked in its place", off, line)
		}
	}
	for _, p := range m.places {
		if p.server != nil && p.standard {
			return p, name, nil
		}
	}
	names := m.names()
	failure := protocol.Errorf(protocol.CodeNotFound, "there is no model %q: there is %s", name, strings.Join(names, ", "))
	if near := nearest.Of(name, names); near != "" {
		failure = protocol.Errorf(protocol.CodeNotFound, "there is no model %q: did you mean %q?", name, near)
	}
	return place{}, "", failure
}

// takesGrammar reports whether the model of that name, "" for what answers where none is
// chosen, can be held to a grammar.
func (m *models) takesGrammar(name string) bool {
	if name == "" {
		return slices.ContainsFunc(m.places, func(p place) bool { return p.standard && p.server != nil && p.server.choice.Grammar != "" })
	}
	found, _, err := m.find(name)
	return err == nil && found.server != nil && found.server.choice.Grammar != ""
}

// listPatience is how long a server has to say which models it has; listLimit is
// how many of one server are listed.
const (
	listPatience = 5 * time.Second
	listLimit    = 1000
)

// list asks every server which models it has, all at once. One that was found is
// asked when a person has agreed to it.
func (m *models) list(ctx context.Context, chosen string, agreed bool) protocol.ModelListResult {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	found := make([][]string, len(m.places))
	silent := make([]bool, len(m.places))
	var work sync.WaitGroup
	for i, p := range m.places {
		if p.server != nil && (agreed || !p.server.choice.Found) {
			work.Go(func() {
				names, err := p.server.models(ctx)
				found[i], silent[i] = names[:min(len(names), listLimit)], err != nil
			})
		}
	}
	work.Wait()
	var result protocol.ModelListResult
	standard := slices.IndexFunc(m.places, func(p place) bool { return p.standard })
	for i, p := range m.places {
		own := p.name
		if p.server != nil && !p.heading && p.server.choice.Model.Model != "" {
			own = p.server.choice.Model.Model
		}
		if p.heading || p.server == nil || p.server.choice.Model.Model != "" {
			result.Models = append(result.Models, protocol.ModelInfo{Name: own, Provider: p.name, Default: i == standard})
		}
		for _, model := range found[i] {
			if model == p.server.choice.Model.Model {
				continue
			}
			if p.heading {
				model = p.name + ":" + model
			}
			result.Models = append(result.Models, protocol.ModelInfo{Name: model, Provider: p.name})
		}
		if silent[i] {
			result.Silent = append(result.Silent, p.name)
		}
	}
	for i := range result.Models {
		result.Models[i].Chosen = result.Models[i].Name == chosen
	}
	return result
}

// add makes a place known, once.
func (m *models) add(p place) {
	if !slices.ContainsFunc(m.places, func(known place) bool { return known.name == p.name }) {
		m.places = append(m.places, p)
	}
}

// models asks the server for its models.
func (s *server) models(ctx context.Context) (names []string, err error) {
	err = s.let(ctx, func(p *openai.Provider) (err error) { names, err = p.Models(ctx); return err })
	return names, err
}

// let asks the server something with the first of its keys that is let in, or else returns
// what was said of the last.
func (s *server) let(ctx context.Context, ask func(*openai.Provider) error) (err error) {
	for _, with := range append([]*server{s}, s.spare...) {
		var provider *openai.Provider
		if provider, err = with.provider(ctx); err == nil {
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

// priced is the usage with its cost, if the server did not tell it and
// config.org has the price of the model.
func (s *server) priced(usage *llm.Usage, model string) *llm.Usage {
	price := s.choice.Price
	if usage == nil || usage.Cost != nil || price == nil || model != "" && model != s.choice.Model.Model {
		return usage
	}
	told := *usage
	cost := price.Of(usage.Input, usage.Output)
	told.Cost = &cost
	return &told
}

// others makes the models of config.org known that are asked only by name.
func (d *daemon) others(settings config.Settings) error {
	for _, choice := range config.Configured(settings) {
		provider, server, err := d.connect(settings, choice)
		if err != nil {
			return err
		}
		d.models.add(place{name: choice.Name, heading: true, provider: provider, server: server})
	}
	return nil
}

// listModels answers model/list.
func (d *daemon) listModels(ctx context.Context, _ *rpc.Client, p *protocol.ModelListParams) (protocol.ModelListResult, error) {
	chosen := ""
	if p.Session != "" {
		var err error
		if chosen, err = d.journal.SessionModel(ctx, p.Session); err != nil {
			return protocol.ModelListResult{}, err
		}
	}
	return d.models.list(ctx, chosen, d.consent.needed() == ""), nil
}

// chooseModel answers session/model.
func (d *daemon) chooseModel(ctx context.Context, _ *rpc.Client, p *protocol.SessionModelParams) (protocol.SessionModelParams, error) {
	if p.Model != "" {
		if _, _, err := d.models.find(p.Model); err != nil {
			return *p, err
		}
	}
	return *p, d.sessions.Choose(ctx, *p)
}

// retry answers turn/retry.
func (d *daemon) retry(ctx context.Context, _ *rpc.Client, p *protocol.TurnRetryParams) (protocol.EventResult, error) {
	if p.Model != "" {
		if _, _, err := d.models.find(p.Model); err != nil {
			return protocol.EventResult{}, err
		}
	}
	record, err := d.sessions.Turn(ctx, protocol.TurnParams{Turn: p.Turn, Event: p.Event})
	if err != nil {
		return protocol.EventResult{}, err
	}
	settings, err := d.settleAgain(ctx, record, p.Above)
	if err != nil {
		return protocol.EventResult{}, err
	}
	return d.sessions.Retry(ctx, *p, settings)
}
