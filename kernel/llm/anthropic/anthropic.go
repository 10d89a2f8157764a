// Package anthropic asks servers that speak Anthropic's Messages API: Anthropic itself, and the endpoints
// of that name of llama.cpp, Ollama, vLLM and LM Studio.
//
// The maker's library sends the requests and lists the models. This package writes the requests and reads
// the events, because a conversation is sent again with each request and must
// be the same to the byte as far as it was sent before: servers cache such beginnings, and refuse thoughts
// whose beginning has changed.
//
// Ordering and blocking are those of llm.Provider. A Provider owns the idle connections of its HTTP client
// until Close. Memory is bounded: a line of the stream by transport.LineLimit, a reply by llm.ReplyLimit, the body of
// an error by transport.ErrorBodyLimit.
package anthropic

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/transport"
)

// DefaultBaseURL is the server of a Config that names none.
const DefaultBaseURL = "https://api.anthropic.com"

// afterStop is how long a stream may stay open after its stop reason, for its last event.
const afterStop = 2 * time.Second

// quietLimit is how long a stream may have only signs of life before one of them is passed on, so that
// nobody takes the stream for dead. A server sends them while the model thinks and does not show what.
const quietLimit = 15 * time.Second

// Provider asks one server. Use New to make one.
type Provider struct {
	config  llm.ServerConfig
	base    *url.URL
	client  *http.Client
	server  *openai.Provider // says more of models, where the server has OpenAI's protocol as well
	quiet   time.Duration
	only    transport.OnlyModel
	ignored transport.Ignored

	longest transport.Learnt[int] // the longest replies of models, in tokens, as the server said
}

// String returns the configuration without its secrets. So does GoString, for %#v.
func (p *Provider) String() string   { return p.config.String() }
func (p *Provider) GoString() string { return p.config.String() }

// New returns a provider for the configured server. It sends nothing to the server. Its only error is an
// invalid base URL.
func New(config llm.ServerConfig) (*Provider, error) {
	config.BaseURL = cmp.Or(config.BaseURL, DefaultBaseURL)
	base, err := transport.Base(config.Name, config.BaseURL, "")
	if err != nil {
		return nil, err
	}
	config.Name = cmp.Or(config.Name, base.Host)
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/v1") + "/"
	base.RawQuery, base.Fragment = config.Query, ""
	client, both := transport.NewClient(), config
	both.BaseURL = base.JoinPath("v1").String()
	server, err := openai.NewWith(both, client)
	if err != nil {
		return nil, err
	}
	return &Provider{config: config, base: base, client: client, server: server, quiet: quietLimit,
		ignored: transport.Ignored{Logger: config.Logger, Provider: config.Name}}, nil
}

// Name returns the provider's name.
func (p *Provider) Name() string { return p.config.Name }

// Close closes idle connections. The provider can still be used.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// options returns what the library needs for a request. It is asked once, because llm.Retry asks again, and
// takes nothing from the environment, because the settings say which server gets which key.
func (p *Provider) options(limit int64) []option.RequestOption {
	base := *p.base
	base.RawQuery = ""
	return []option.RequestOption{option.WithBaseURL(base.String()), option.WithMaxRetries(0), option.WithHTTPClient(&doer{p, limit})}
}

// Stream implements [llm.Provider].
func (p *Provider) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if err := p.stream(ctx, request, yield); err != nil {
			yield(llm.Delta{}, err)
		}
	}
}

// pausesLimit is how often a reply may pause. The server expects it back each time and goes on.
const pausesLimit = 8

// stream yields the deltas of one request. It returns the error that ended them, or nil if they are
// complete or the consumer broke out of its loop.
func (p *Provider) stream(ctx context.Context, request llm.Request, yield func(llm.Delta, error) bool) error {
	model, err := p.modelFor(ctx, request.Model)
	if err != nil {
		return err
	}
	asked, err := p.compose(request, model)
	if err != nil {
		return p.complete(err)
	}
	reply := decoder{provider: p.config.Name, model: model, writer: asked.writer, thinks: asked.thoughts, ignored: &p.ignored}
	for pauses := 0; ; {
		going, err := p.receive(ctx, asked, &reply, yield)
		switch {
		case err != nil && !reply.begun && p.amend(asked, err):
		case err != nil || !going:
			return err
		case reply.stop == sdk.StopReasonPauseTurn && pauses < pausesLimit:
			pauses++
			asked.resume(reply.pause())
		default:
			yield(reply.last(), nil)
			return nil
		}
	}
}

// receive sends a request and yields the deltas of its reply, but for the last. going is false if the
// consumer broke out of its loop.
func (p *Provider) receive(ctx context.Context, asked *body, reply *decoder, yield func(llm.Delta, error) bool) (going bool, err error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	encoded, err := asked.encode()
	if err != nil {
		return false, p.complete(err)
	}
	var response *http.Response
	client := sdk.Client{Options: p.options(0)}
	if err := client.Post(reading, "v1/messages", encoded, &response, option.WithHeader("Accept", "text/event-stream")); err != nil {
		return false, p.requestFailure(ctx, err)
	}
	stream := transport.NewEventReader(response.Body)
	defer func() {
		if reply.done {
			time.AfterFunc(transport.AfterDone, cancel)
			stream.End()
		}
		stream.Close()
	}()
	var grace *time.Timer
	defer func() {
		if grace != nil {
			grace.Stop()
		}
	}()
	events, spoke := bufio.NewReader(stream), time.Now()
	for !reply.done {
		line, err := events.ReadBytes('\n')
		if err != nil {
			return p.finish(ctx, reply, err)
		}
		if ctx.Err() != nil {
			return false, llm.ContextError(ctx, p.config.Name)
		}
		delta, err := reply.decode(bytes.TrimPrefix(line, []byte("data:")))
		if err != nil {
			return false, p.complete(err)
		}
		if delta.Empty() && reply.begun && time.Since(spoke) > p.quiet {
			delta.Provider, delta.Model = p.config.Name, reply.model
		}
		if !delta.Empty() {
			spoke = time.Now()
			if !yield(delta, nil) {
				return false, nil
			}
		}
		if reply.stop != "" && grace == nil {
			grace = time.AfterFunc(afterStop, cancel)
		}
	}
	return true, nil
}

// finish returns what follows from the end of a stream without its last event. complete is true if nothing
// of the reply is missing.
func (p *Provider) finish(ctx context.Context, reply *decoder, err error) (complete bool, failure error) {
	switch {
	case ctx.Err() != nil:
		return false, llm.ContextError(ctx, p.config.Name)
	case reply.stop != "":
		return true, nil
	}
	return false, p.readFailure(err)
}
