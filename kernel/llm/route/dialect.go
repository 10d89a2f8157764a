package route

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// The names of dialects that mean more than themselves here.
const (
	dialectAuto        = "auto"
	dialectNative      = "native"
	dialectPlist       = "plist" // where it is set, no grammar is sent
	dialectConstrained = "constrained"
)

// auto is the dialect of a server for which none is set. A server that takes a grammar, and one on this
// machine, is asked for text: a grammar holds small models to what can be read. Any other is asked with
// functions until it has refused them once.
type auto struct {
	text, native llm.Dialect
	local        bool
	grammars     *grammars
	refused      refusals // the models that take no functions
}

// dialectOf returns the dialect of a server.
func (r *routes) dialectOf(choice config.Choice, driver llm.Driver, takes *grammars) (llm.Dialect, error) {
	switch name := choice.Dialect; {
	case takesSchema(choice, driver):
		named, err := r.config.Dialects.Named(dialectConstrained)
		other, ok := named.(schemaDialect)
		if err != nil || !ok {
			return named, err
		}
		otherwise, err := r.auto(choice, takes)
		return &held{schema: other.UnderSchema(), otherwise: otherwise, refused: r.config.learnt.refusals(choice, refusedSchema)}, err
	case name == dialectConstrained && choice.Grammar == "":
		return nil, errors.New("the dialect constrained needs :GRAMMAR:, the field in which the server takes a grammar: grammar for llama.cpp, structured_outputs for vLLM, json_schema for a server that takes a JSON schema")
	case name != "" && name != dialectAuto:
		named, err := r.config.Dialects.Named(name)
		if err != nil {
			return nil, fmt.Errorf("%w, and auto", err)
		}
		return named, nil
	}
	if choice.Grammar != "" {
		return r.config.Dialects.Named("")
	}
	return r.auto(choice, takes)
}

// auto returns the dialect of a server for which none is set. Without functions among the dialects it is text.
func (r *routes) auto(choice config.Choice, takes *grammars) (*auto, error) {
	text, err := r.config.Dialects.Named("")
	if err != nil {
		return nil, err
	}
	native, err := r.config.Dialects.Named(dialectNative)
	if err != nil {
		native = text
	}
	return &auto{text: text, native: native, local: local(choice.BaseURL), grammars: takes, refused: r.config.learnt.refusals(choice, refusedFunctions)}, nil
}

// local reports whether an address is on this machine.
func local(baseURL string) bool {
	u, err := url.Parse(baseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return transport.Loopback(host) || strings.HasSuffix(host, ".localhost")
}

// of returns the dialect for a model, "" for that of the settings.
func (a *auto) of(model string) llm.Dialect {
	if a.local {
		return a.text
	}
	if _, refused := a.refused.of(model); refused {
		return a.text
	}
	if field, _ := a.grammars.field(model); field != "" {
		return a.text
	}
	return a.native
}

// Name implements [llm.Dialect].
func (*auto) Name() string { return dialectAuto }

// Text implements [llm.Dialect].
func (a *auto) Text(m llm.Message) string { return a.of("").Text(m) }

// Render implements [llm.Dialect]. A note that teaches the model to write calls as text is followed.
func (a *auto) Render(request llm.Request) llm.Request {
	if request.TextCalls {
		return a.text.Render(request)
	}
	return a.of(request.Model).Render(request)
}

// learner is a dialect that learns what a server does not take. learn reports whether a request that the server has
// refused is to be sent once more, because the dialect now leaves out what was refused.
type learner interface {
	learn(err error, request llm.Request) bool
}

// rendered asks a server in its dialect. A server that refuses functions, a grammar or a schema is asked without
// them at once, and from then on.
type rendered struct {
	next    llm.Provider
	dialect llm.Dialect
}

// Stream implements [llm.Provider].
func (p rendered) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	once := llm.Rendered{Next: p.next, Dialect: p.dialect}
	learning, ok := p.dialect.(learner)
	if !ok {
		return once.Stream(ctx, request)
	}
	return func(yield func(llm.Delta, error) bool) {
		for {
			begun, again := false, false
			for delta, err := range once.Stream(ctx, request) {
				if again = !begun && err != nil && learning.learn(err, request); again {
					break
				}
				begun = true
				if !yield(delta, err) {
					return
				}
			}
			if !again {
				return
			}
		}
	}
}

// learn implements [learner].
func (a *auto) learn(err error, request llm.Request) bool {
	rendering := a.Render(request)
	field, _ := a.grammars.field(request.Model)
	switch {
	case len(rendering.Tools) > 0 && refusesFunctions(err):
		a.refused.add(request.Model, err)
	case len(rendering.Tools) == 0 && request.Grammar != "" && field != "" && refusesGrammar(err):
		a.grammars.refused.Store(true)
	default:
		return false
	}
	return true
}

// badRequest returns the error of a server that does not take a request.
func badRequest(err error) (*llm.Error, bool) {
	failure, ok := errors.AsType[*llm.Error](err)
	return failure, ok && (failure.Class == llm.ClassBadRequest || failure.Class == llm.ClassServer)
}

// refusesFunctions reports whether a server says that it takes no functions. Servers have no code for it.
func refusesFunctions(err error) bool {
	failure, is := badRequest(err)
	if !is {
		return false
	}
	message := strings.ToLower(failure.Message)
	return strings.Contains(message, "tool") || strings.Contains(message, "function")
}

// dialects is the dialect of each request: that of the model which it is for.
type dialects struct{ router *Router }

// of returns the dialect of a model, and the model's name on its server.
func (d dialects) of(model string) (llm.Dialect, string) {
	routes := d.router.current.Load()
	if model != "" {
		if e, name, err := routes.find(model); err == nil && e.server != nil {
			return e.server.dialect, name
		}
	}
	for _, e := range routes.endpoints {
		if e.standard && e.server != nil {
			return e.server.dialect, ""
		}
	}
	return d.router.config.Dialects[0], ""
}

// Name implements [llm.Dialect].
func (d dialects) Name() string {
	dialect, _ := d.of("")
	return dialect.Name()
}

// Text implements [llm.Dialect].
func (d dialects) Text(m llm.Message) string {
	dialect, _ := d.of("")
	return dialect.Text(m)
}

// Render implements [llm.Dialect].
func (d dialects) Render(request llm.Request) llm.Request {
	dialect, model := d.of(request.Model)
	asked := request.Model
	request.Model = model
	request = dialect.Render(request)
	request.Model = asked
	return request
}

// The reasons for text.
const (
	onThisMachine   = "the server is on this machine"
	takesGrammar    = "the server takes a grammar"
	takesJSONSchema = "the server takes a JSON schema"
)

// dialectNote is in which dialect a model of a server is asked, and why.
func (s *Server) dialectNote(model string) (name, why string) {
	automatic, ok := s.dialect.(*auto)
	schema, isHeld := s.dialect.(*held)
	switch set := s.choice.Dialect; {
	case s.dialect == nil:
		return "", ""
	case ok:
		if refused, is := automatic.refused.of(model); is {
			return automatic.text.Name(), fmt.Sprintf("it refused functions on %s: %s", refused.At.Format(time.DateOnly), refused.Why)
		}
		if automatic.local {
			return automatic.text.Name(), onThisMachine
		}
		if field, _ := automatic.grammars.field(model); field != "" {
			return automatic.text.Name(), takesGrammar
		}
		return automatic.of(model).Name(), "servers elsewhere take functions until they refuse them"
	case isHeld:
		if refused, is := schema.refused.of(model); is {
			return schema.otherwise.of(model).Name(), fmt.Sprintf("it refused a schema on %s: %s", refused.At.Format(time.DateOnly), refused.Why)
		}
		return s.dialect.Name(), takesJSONSchema
	case set != "" && set != dialectAuto:
		return s.dialect.Name(), "config.org says so"
	case s.choice.Grammar != "":
		return s.dialect.Name(), takesGrammar
	case local(s.choice.BaseURL):
		return s.dialect.Name(), onThisMachine
	}
	return s.dialect.Name(), ""
}
