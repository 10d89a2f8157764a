// Package responses asks servers by OpenAI's Responses API. Models that think before they call functions
// are asked so: OpenAI's newest refuse functions elsewhere, and what they think stays with them from one
// call to the next.
//
// The requests are stateless. The server stores nothing, and sends the thinking encrypted; the
// conversation goes back whole, with the thinking before the calls that came of it, in the bytes in which
// it came.
//
// OpenAI's library makes the requests. This package encodes the conversation and decodes the events,
// because a long conversation and a thousand small events would take longer in the library's types than
// all the rest, and because servers that follow the protocol differ from it. A text that ends a reply has
// no place in the protocol, and is left out.
//
// Ordering and blocking are those of llm.Provider. A Provider owns the idle connections of its HTTP
// client until Close. Memory is bounded: a line of the stream by transport.LineLimit, the calls and the
// thinking of a reply by llm.ReplyLimit.
package responses

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	library "github.com/openai/openai-go/v3/responses"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/transport"
)

// Driver returns the driver of the protocol. Its providers also list their models and tell their context
// windows.
func Driver() llm.Driver {
	return llm.Driver{
		Name:        "responses",
		TakesSchema: true,
		Open: func(c llm.ServerConfig) (llm.Provider, error) {
			provider, err := New(c)
			if err != nil {
				return nil, err
			}
			return provider, nil
		},
	}
}

// Provider asks one server. Use New to make one.
type Provider struct {
	config  llm.ServerConfig
	base    *url.URL
	client  *http.Client
	server  *openai.Provider // lists the models, which is the same in both protocols
	ignored transport.Ignored

	plain   transport.Learnt[bool]     // models that send no encrypted thinking
	refused transport.Learnt[[]string] // the fields that models do not take
}

// New returns a provider for the configured server. It sends nothing to the server. Its only error is an
// invalid base URL.
func New(config llm.ServerConfig) (*Provider, error) {
	client := transport.NewClient()
	server, err := openai.NewWith(config, client)
	if err != nil {
		return nil, err
	}
	base, err := transport.Base(config.Name, cmp.Or(config.BaseURL, openai.DefaultBaseURL), "/v1")
	if err != nil {
		return nil, err
	}
	base.RawQuery, base.Fragment = config.Query, ""
	config.Name = server.Name()
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	return &Provider{config: config, base: base, client: client, server: server,
		ignored: transport.Ignored{Logger: config.Logger, Provider: config.Name}}, nil
}

// String returns the configuration without its secrets. So does GoString, for %#v.
func (p *Provider) String() string   { return p.server.String() }
func (p *Provider) GoString() string { return p.server.String() }

// Name returns the provider's name.
func (p *Provider) Name() string { return p.config.Name }

// Models returns the names of the models that the server lists, sorted.
func (p *Provider) Models(ctx context.Context) ([]string, error) { return p.server.Models(ctx) }

// Window asks the server for the context window of a model, in tokens. It returns 0 if the server reports
// none.
func (p *Provider) Window(ctx context.Context, model string) (int, error) {
	return p.server.Window(ctx, model)
}

// Close closes idle connections. The provider can still be used.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// Stream implements [llm.Provider].
func (p *Provider) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := p.stream(ctx, request, yield); err != nil {
			yield(llm.Delta{}, err)
		}
	}
}

// stream yields the deltas of one request. It returns the error that ended them, or nil if they are
// complete or the consumer broke out of its loop.
func (p *Provider) stream(ctx context.Context, request llm.Request, yield func(llm.Delta, error) bool) error {
	model := request.Model
	if model == "" {
		var err error
		if model, err = p.server.Model(ctx); err != nil {
			return err
		}
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := p.ask(reading, request, model)
	if err != nil {
		return p.requestFailure(ctx, err)
	}
	reply := &decoder{provider: p.config.Name, model: model, writer: llm.Writer(p.config.Name, model), ignored: &p.ignored}
	defer func() {
		if reply.finish != "" {
			time.AfterFunc(transport.AfterDone, cancel)
			events.End()
		}
		events.Close()
	}()
	for line := range events.lines() {
		if ctx.Err() != nil {
			return llm.ContextError(ctx, p.config.Name)
		}
		delta, err := reply.decode(line)
		if err != nil {
			return p.complete(err)
		}
		if reply.finish != "" {
			yield(delta, nil)
			return nil
		}
		if !delta.Empty() && !yield(delta, nil) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return llm.ContextError(ctx, p.config.Name)
	}
	return p.readFailure(events.err)
}

// ask sends the request and returns the events of the answer, once the server has agreed to answer. A
// server that refuses the encrypted thinking of the conversation, or to send any, is asked once more
// without it: a conversation may outlive the key with which its thinking was encrypted.
func (p *Provider) ask(ctx context.Context, request llm.Request, model string) (*stream, error) {
	sent := sending{model: model, originals: true, encrypted: !p.plain.Of(model)}
	for {
		events, err := p.open(ctx, request, &sent)
		failure, ok := errors.AsType[*llm.Error](err)
		if !ok || failure.Class != llm.ClassBadRequest {
			return events, err
		}
		message := strings.ToLower(failure.Message)
		switch {
		case sent.encrypted && strings.Contains(message, "encrypted") && strings.Contains(message, "not supported"):
			p.plain.Set(model, true)
			sent.encrypted = false
		case sent.originals && sent.hasOriginals && (strings.Contains(message, "encrypted") || strings.Contains(message, "reasoning")):
			p.config.Logger.Warn("the server refuses the model's earlier thinking, asking without it", "provider", p.config.Name, "err", failure.Message)
			sent.originals = false
		default:
			name, refused := transport.RefusedField(failure, fieldTemperature, fieldEffort, fieldCacheKey), p.refused.Of(model)
			if name == "" || slices.Contains(refused, name) {
				return events, err
			}
			p.refused.Set(model, append(slices.Clone(refused), name))
		}
	}
}

// The fields that a request has only while the model takes them. The effort stands in "reasoning".
const (
	fieldTemperature = "temperature"
	fieldEffort      = "effort"
	fieldCacheKey    = "prompt_cache_key"
)

// open sends the request once.
func (p *Provider) open(ctx context.Context, request llm.Request, sent *sending) (*stream, error) {
	body, err := p.body(request, sent)
	if err != nil {
		return nil, err
	}
	base := *p.base
	base.RawQuery = ""
	var response *http.Response
	options := []option.RequestOption{
		option.WithBaseURL(base.String()), option.WithMaxRetries(0), option.WithHTTPClient(&doer{provider: p, body: body}), option.WithResponseInto(&response),
	}
	if p.config.Key != "" {
		options = append(options, option.WithAPIKey(p.config.Key.Reveal()))
	}
	service := library.NewResponseService(options...)
	if err := service.NewStreaming(ctx, p.parameters(request, sent)).Err(); err != nil {
		return nil, err
	}
	return newStream(response.Body), nil
}

// requestFailure returns the error of a request that opened no stream.
func (p *Provider) requestFailure(ctx context.Context, err error) *llm.Error {
	failure := transport.RequestFailure(ctx, p.config, p.base, err)
	if failure.Class == llm.ClassModel {
		p.server.ForgetModel()
	}
	return failure
}

// readFailure returns the error of a stream that ended before its reply.
func (p *Provider) readFailure(err error) *llm.Error { return transport.ReadFailure(p.config, err) }

// complete adds the provider's name and removes its secrets.
func (p *Provider) complete(err error) *llm.Error {
	return transport.Complete(p.config, err)
}
