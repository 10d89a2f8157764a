package route

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"org-agent/kernel/llm"
)

// grammarTeller is a provider whose server says in which field of a request it takes a grammar.
type grammarTeller interface {
	GrammarField(ctx context.Context, model string) (string, error)
}

// grammars is what a server has said of grammars: for each model the field of requests, "" for none. The zero value
// is ready. It is safe for use by several goroutines.
type grammars struct {
	fields answers[string]
	// refused reports that the server has refused a grammar, and gets none any more.
	refused atomic.Bool
}

// field returns the field for a model as far as it is known, and whether that is still an answer.
func (g *grammars) field(model string) (field string, known bool) {
	if g.refused.Load() {
		return "", true
	}
	return g.fields.of(model)
}

// grammarField returns the field in which the server takes a grammar for a model, "" for none, as in the dialect plist.
// It is that of the settings, or else, if no other dialect is set, the one that the server says. If ask is set and there is
// no answer yet, the server is asked.
func (s *Server) grammarField(ctx context.Context, model string, ask bool) string {
	switch {
	case s.choice.Dialect == dialectPlist, s.choice.Grammar == llm.GrammarFieldSchema:
		return ""
	case s.choice.Grammar != "":
		return s.choice.Grammar
	case s.choice.Dialect != "" && s.choice.Dialect != dialectAuto:
		return ""
	}
	if field, known := s.grammars.field(model); known || !ask {
		return field
	}
	return s.grammars.fields.ask(ctx, s, model, func(ctx context.Context, provider llm.Provider) (string, error) {
		teller, err := llm.As[grammarTeller](provider, "tell whether it takes grammars")
		if err != nil {
			return "", err
		}
		return teller.GrammarField(ctx, model)
	})
}

// takesGrammar reports whether a reply of a model of the endpoint can be held to a grammar.
func (r *routes) takesGrammar(ctx context.Context, e endpoint, model string) bool {
	return e.server != nil && e.server.grammarField(ctx, model, r.mayAsk(e.server)) != ""
}

// TakesGrammar reports whether the model with that name can be restricted to a grammar. The name ""
// stands for the standard models, of which one suffices. A server that has not said it yet is asked, and
// waited for a second at most.
func (r *Router) TakesGrammar(ctx context.Context, name string) bool {
	routes := r.current.Load()
	if name == "" {
		return slices.ContainsFunc(routes.endpoints, func(e endpoint) bool { return e.standard && routes.takesGrammar(ctx, e, "") })
	}
	found, model, err := routes.find(name)
	return err == nil && routes.takesGrammar(ctx, found, model)
}

// Constrains reports whether replies of one of the standard models can be held to a form in the dialect constrained: to
// a grammar, or to a JSON Schema.
func (r *Router) Constrains(ctx context.Context) bool {
	return r.TakesGrammar(ctx, "") || slices.ContainsFunc(r.current.Load().endpoints, func(e endpoint) bool {
		if !e.standard || e.server == nil || e.server.choice.Dialect == dialectPlist {
			return false
		}
		choice := e.server.choice
		choice.Dialect = dialectConstrained
		return takesSchema(choice, e.server.driver)
	})
}

// refusesGrammar reports whether a server says that it does not take a grammar, or cannot read it. Servers
// have no code for it.
func refusesGrammar(err error) bool {
	failure, is := badRequest(err)
	return is && strings.Contains(strings.ToLower(failure.Message), "grammar")
}
