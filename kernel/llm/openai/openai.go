// Package openai asks every server that speaks OpenAI's chat completions: OpenAI, OpenRouter,
// Ollama, llama.cpp, vLLM, Groq, and the compatible endpoints of Anthropic and Gemini.
//
// go-openai makes the requests. This package decodes the replies, because servers differ where that
// library is strict: hundreds of keep-alives, two names for reasoning, errors in the middle of a
// stream, characters cut in half between two deltas, streams without an end.
//
// Ordering and blocking are those of llm.Provider. A Provider owns the idle connections of its HTTP
// client until Close. The connection of a complete stream is used again. Any other connection is
// closed when its stream ends. Memory is bounded: a line of the stream by LineLimit, the body of an
// error by 64 KiB. Text is passed on and not stored.
package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
	"org-agent/kernel/secret"
)

// DefaultBaseURL is the server of a Config that names none.
const DefaultBaseURL = "https://api.openai.com/v1"

// afterFinish is how long a stream may stay open after its finish reason, for the usage.
const afterFinish = 2 * time.Second

// afterDone is how long the body may take to end after the last event. Only then can the connection
// be used again, and a new connection may take longer than all of the kernel's own work for a
// request.
const afterDone = 50 * time.Millisecond

// Config is the address of a server and how to ask it. The zero value is OpenAI without a key.
type Config struct {
	// Name is the provider's name in errors and in deltas; by default the host.
	Name string
	// BaseURL is the address before "/chat/completions"; most end in /v1.
	BaseURL string
	// APIKey is sent as a bearer token; empty sends none.
	APIKey secret.Text
	// Model is the model for requests that name none. "" means the only one that the server lists.
	Model string
	// Headers are sent with every request. They replace others of the same name.
	Headers map[string]secret.Text
	// GrammarField is the field of the request for a GBNF grammar: "grammar" for llama.cpp,
	// "guided_grammar" for vLLM, "" for a server that takes none.
	GrammarField string
	// Extra is merged into the body of every completion request.
	Extra map[string]any
	// HTTPClient makes the requests. nil means a client with timeouts for connections that follows
	// no redirect, because a redirect would send the key elsewhere.
	HTTPClient *http.Client
}

// String returns the configuration without secrets.
func (c Config) String() string {
	return fmt.Sprintf("{Name:%s BaseURL:%s Model:%s APIKey:%s}", c.Name, llm.RedactURL(c.BaseURL), c.Model, c.APIKey)
}

// GoString returns the same as String, for %#v.
func (c Config) GoString() string { return c.String() }

// Provider asks one server. Use New to make one.
type Provider struct {
	config    Config
	base      *url.URL
	client    *http.Client
	modelMu   sync.Mutex
	onlyModel string // the only model of the server; set when the server was asked
}

// New returns a provider for the configured server. It sends nothing to the server. Its only error
// is an invalid base URL.
func New(config Config) (*Provider, error) {
	if config.BaseURL == "" {
		config.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(strings.TrimSpace(config.BaseURL))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, &llm.Error{Class: llm.ClassBadRequest, Provider: config.Name,
			Message: fmt.Sprintf("%q is not the address of a server", llm.RedactURL(config.BaseURL)),
			Advice:  "write the base URL as http://HOST:PORT/v1 or https://HOST/v1"}
	}
	if config.Name == "" {
		config.Name = base.Host
	}
	client := config.HTTPClient
	if client == nil {
		client = newClient()
	}
	return &Provider{config: config, base: base, client: client}, nil
}

// newClient returns the HTTP client of a provider whose Config has none. It does not limit the time
// of an answer: llm.Timeouts does.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Name returns the provider's name.
func (p *Provider) Name() string { return p.config.Name }

// BaseURL returns the server's address without secrets.
func (p *Provider) BaseURL() string { return llm.RedactURL(p.base.String()) }

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
	model, err := p.modelFor(ctx, request.Model)
	if err != nil {
		return err
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := &answer{}
	chunks, err := p.open(reading, request, model, answer)
	if err != nil {
		failure := p.requestFailure(ctx, err, answer)
		if failure.Class == llm.ClassModel {
			p.forgetModel()
		}
		return failure
	}
	defer func() {
		if answer.done {
			time.AfterFunc(afterDone, cancel)
			answer.events.end()
		}
		chunks.Close()
	}()

	reply := decoder{provider: p.config.Name, model: model}
	var grace *time.Timer
	defer func() {
		if grace != nil {
			grace.Stop()
		}
	}()
	for {
		line, err := chunks.RecvRaw()
		if err != nil {
			return p.finish(ctx, &reply, answer, err, yield)
		}
		if ctx.Err() != nil {
			return llm.ContextError(ctx, p.config.Name)
		}
		delta, err := reply.decode(line)
		if err != nil {
			return p.complete(err)
		}
		if !delta.Empty() && !yield(delta, nil) {
			return nil
		}
		if reply.finish != "" && grace == nil {
			grace = time.AfterFunc(afterFinish, cancel)
		}
	}
}

// finish ends the stream after its last line. A fault of the connection after the finish reason is
// no error of the reply.
func (p *Provider) finish(ctx context.Context, reply *decoder, answer *answer, err error, yield func(llm.Delta, error) bool) error {
	if ctx.Err() != nil {
		return llm.ContextError(ctx, p.config.Name)
	}
	if reply.finish == "" && answer.done && reply.begun {
		reply.finish = llm.FinishStop
	}
	if reply.finish != "" {
		yield(reply.last(), nil)
		return nil
	}
	return p.readFailure(err)
}

// open sends the request and returns its stream once the server has agreed to answer.
func (p *Provider) open(ctx context.Context, request llm.Request, model string, answer *answer) (*goopenai.ChatCompletionStream, error) {
	conversation, err := messages(request)
	if err != nil {
		return nil, err
	}
	client := goopenai.DefaultConfig(p.config.APIKey.Reveal())
	base := *p.base
	base.RawQuery, base.Fragment = "", ""
	client.BaseURL = base.String()
	client.HTTPClient = &doer{provider: p, messages: conversation, fields: p.extra(request, model), answer: answer}
	client.EmptyMessagesLimit = math.MaxUint
	return goopenai.NewClientWithConfig(client).CreateChatCompletionStream(ctx, goopenai.ChatCompletionRequest{
		Model:         model,
		StreamOptions: &goopenai.StreamOptions{IncludeUsage: true},
	})
}

// extra returns the fields of a request that the library would drop or refuse.
func (p *Provider) extra(request llm.Request, model string) map[string]any {
	fields := map[string]any{}
	for key, value := range p.config.Extra {
		fields[key] = value
	}
	reasoning := isReasoningModel(model)
	if request.Temperature != nil && !reasoning {
		fields["temperature"] = *request.Temperature
	}
	if request.MaxTokens > 0 {
		if reasoning {
			fields["max_completion_tokens"] = request.MaxTokens
		} else {
			fields["max_tokens"] = request.MaxTokens
		}
	}
	if len(request.Stop) > 0 {
		fields["stop"] = request.Stop
	}
	if request.Grammar != "" && p.config.GrammarField != "" {
		fields[p.config.GrammarField] = request.Grammar
	}
	return fields
}

// isReasoningModel reports whether a model is one of OpenAI's reasoning models, which refuse a
// temperature and the old name of the token limit.
func isReasoningModel(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isEnd reports whether reading stopped at the end rather than at a fault.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
