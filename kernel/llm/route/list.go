package route

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

const (
	// listTimeout is how long a server may take to list its models for a person. listLimit is how
	// many models of one server are listed.
	listTimeout = 5 * time.Second
	listLimit   = 1000
	// checkTimeout is how long a message waits for a server's list of models. checkTime is how
	// long that list is used.
	checkTimeout = 2 * time.Second
	checkTime    = time.Minute
)

// lister is a provider whose server lists its models.
type lister interface {
	Models(ctx context.Context) ([]string, error)
}

// Models asks the server for its models.
func (s *Server) Models(ctx context.Context) (names []string, err error) {
	err = s.Ask(ctx, func(provider llm.Provider) error {
		server, err := llm.As[lister](provider, "list its models")
		if err == nil {
			names, err = server.Models(ctx)
		}
		return err
	})
	return names, err
}

func (r *routes) list(ctx context.Context, chosen string) protocol.ModelListResult {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	found := make([][]string, len(r.endpoints))
	silent := make([]bool, len(r.endpoints))
	var work sync.WaitGroup
	for i, e := range r.endpoints {
		if e.server != nil && r.mayAsk(e.server) {
			work.Go(func() {
				names, err := e.server.Models(ctx)
				found[i], silent[i] = names[:min(len(names), listLimit)], err != nil
			})
		}
	}
	work.Wait()
	var result protocol.ModelListResult
	standard := slices.IndexFunc(r.endpoints, func(e endpoint) bool { return e.standard })
	for i, e := range r.endpoints {
		result.Models = append(result.Models, e.infos(found[i], i == standard)...)
		if silent[i] {
			result.Silent = append(result.Silent, e.name)
		}
	}
	for i := range result.Models {
		result.Models[i].Chosen = result.Models[i].Name == chosen
	}
	return result
}

// infos returns the models of an endpoint by the names with which they can be chosen. The model of
// the settings comes first, then the others of its server.
func (e endpoint) infos(found []string, standard bool) (all []protocol.ModelInfo) {
	set := ""
	if e.server != nil {
		set = e.server.choice.Model.Model
	}
	if e.heading || e.server == nil || set != "" {
		name := e.name
		if !e.heading && set != "" {
			name = set
		}
		all = append(all, e.info(name, "", standard))
	}
	for _, model := range found {
		if model == set {
			continue
		}
		name := model
		if e.heading {
			name = e.name + ":" + model
		}
		all = append(all, e.info(name, model, false))
	}
	return all
}

// info returns what is told of a model of the endpoint, "" for that of the settings.
func (e endpoint) info(name, model string, standard bool) protocol.ModelInfo {
	info := protocol.ModelInfo{Name: name, Provider: e.name, Default: standard}
	if e.server == nil {
		return info
	}
	info.Dialect, info.Why = e.server.dialectNote(model)
	if price := e.server.price(model, ""); price != nil {
		info.Price = fmt.Sprintf("%g %g", price.Input, price.Output)
	}
	info.Window = e.server.window(context.Background(), model, false).Tokens
	return info
}

// modelList is a server's list of models, and when the server was asked for it.
type modelList struct {
	mu    sync.Mutex
	names []string
	at    time.Time
}

// knownModels returns the names of the server's models, or none if it does not list them.
func (s *Server) knownModels(ctx context.Context) []string {
	s.listed.mu.Lock()
	defer s.listed.mu.Unlock()
	if s.listed.at.IsZero() || time.Since(s.listed.at) > checkTime {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		s.listed.names, _ = s.Models(ctx) // a server without a list is asked by the message itself
		s.listed.at = time.Now()
	}
	return s.listed.names
}

func (r *routes) check(ctx context.Context, name string) error {
	endpoint, model, err := r.find(name)
	if err != nil || model == "" || endpoint.server == nil {
		return err
	}
	if !r.mayAsk(endpoint.server) || model == endpoint.server.choice.Model.Model {
		return nil
	}
	has := endpoint.server.knownModels(ctx)
	base, _, _ := strings.Cut(model, ":") // a variant of a listed model
	if len(has) == 0 || slices.ContainsFunc(has, func(h string) bool { return h == model || h == model+":latest" || h == base }) {
		return nil
	}
	names := r.names()
	for _, h := range has {
		if model != name { // it was asked for with the endpoint's name
			h = endpoint.name + ":" + h
		}
		names = append(names, h)
	}
	if near := suggest.Of(name, names); near != "" {
		return protocol.Errorf(protocol.CodeNotFound, "there is no model %q: did you mean %q?", name, near)
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no model %q: M-x org-agent-model lists those that there are", name)
}
