// Package openai asks every server that speaks OpenAI's chat completions: OpenAI, OpenRouter,
// Ollama, llama.cpp, vLLM, Groq, and the compatible endpoints of Anthropic and Gemini.
//
// go-openai makes the requests. This package decodes the replies, because servers differ where that
// library is strict: hundreds of keep-alives, two names for reasoning, errors in the middle of a
// stream, characters cut in half between two deltas, streams without an end.
//
// Ordering and blocking are those of llm.Provider. A Provider owns the idle connections of its HTTP
// client until Close. The connection of a complete stream is used again. Any other connection is
// closed when its stream ends. Memory is bounded: a line of the stream by transport.LineLimit, the body of an
// error by 64 KiB. What is kept of a reply for its end, such as its text, is bounded by llm.Bounds.
package openai

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// DefaultBaseURL is the server of a Config that names none.
const DefaultBaseURL = "https://api.openai.com/v1"

// afterFinish is how long a stream may stay open after its finish reason, for the usage.
const afterFinish = 2 * time.Second

// Provider asks one server. Use New to make one.
type Provider struct {
	config llm.ServerConfig
	base   *url.URL
	client *http.Client
	only   transport.OnlyModel

	plain      transport.Learnt[bool]     // models whose server takes no earlier thinking
	systemless transport.Learnt[bool]     // models whose template has no system prompt
	refused    transport.Learnt[[]string] // the fields that models do not take
}

// String returns the configuration without its secrets. So does GoString, for %#v.
func (p *Provider) String() string   { return p.config.String() }
func (p *Provider) GoString() string { return p.config.String() }

// New returns a provider for the configured server. It sends nothing to the server. Its only error
// is an invalid base URL.
func New(config llm.ServerConfig) (*Provider, error) {
	return NewWith(config, transport.NewClient())
}

// NewWith is New with the client that makes the requests. It must follow no redirect, because a redirect would
// send the key elsewhere.
func NewWith(config llm.ServerConfig, client *http.Client) (*Provider, error) {
	config.BaseURL = cmp.Or(config.BaseURL, DefaultBaseURL)
	base, err := transport.Base(config.Name, config.BaseURL, "/v1")
	if err != nil {
		return nil, err
	}
	if config.Query != "" {
		base.RawQuery = config.Query
	}
	config.Name = cmp.Or(config.Name, base.Host)
	return &Provider{config: config, base: base, client: client}, nil
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
		failure := p.requestFailure(ctx, err)
		if p.adapt(failure, request, model, answer) {
			return p.stream(ctx, request, yield)
		}
		return failure
	}
	defer func() {
		if answer.events.Done() {
			time.AfterFunc(transport.AfterDone, cancel)
			answer.events.End()
		}
		chunks.Close()
	}()

	reply := decoder{provider: p.config.Name, model: model, asked: model}
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
			failure := p.complete(err)
			if !reply.begun && p.adapt(failure, request, model, answer) { // some agree to answer before they render the request
				return p.stream(ctx, request, yield)
			}
			return failure
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
	if reply.finish == "" && answer.events.Done() && reply.begun {
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
	writer := llm.Writer(p.config.Name, model)
	if p.plain.Of(model) {
		writer = ""
	}
	if p.systemless.Of(model) {
		request = withoutSystem(request)
	}
	conversation, back, err := messages(request, writer)
	if err != nil {
		return nil, err
	}
	answer.back = back
	client := goopenai.DefaultConfig(p.config.Key.Reveal())
	base := *p.base
	base.RawQuery, base.Fragment = "", ""
	client.BaseURL = base.String()
	client.HTTPClient = &doer{provider: p, messages: conversation, fields: p.extra(request, model), answer: answer}
	client.EmptyMessagesLimit = math.MaxUint
	sent := goopenai.ChatCompletionRequest{Model: model}
	if !slices.Contains(p.refused.Of(model), fieldStreamOptions) {
		sent.StreamOptions = &goopenai.StreamOptions{IncludeUsage: true}
	}
	return goopenai.NewClientWithConfig(client).CreateChatCompletionStream(ctx, sent)
}

// extra returns the fields of a request that the library would drop or refuse.
func (p *Provider) extra(request llm.Request, model string) map[string]any {
	fields := map[string]any{}
	reasoning := IsReasoningModel(model)
	if request.Temperature != nil && !reasoning {
		fields[fieldTemperature] = *request.Temperature
	}
	if request.MaxTokens > 0 {
		if reasoning {
			fields["max_completion_tokens"] = request.MaxTokens
		} else {
			fields[fieldMaxTokens] = request.MaxTokens
		}
	}
	if len(request.Stop) > 0 {
		fields[fieldStop] = request.Stop
	}
	if functions := tools(request); len(functions) > 0 {
		fields["tools"] = functions
	} else { // servers refuse both together
		maps.Copy(fields, request.GrammarFields(p.config.GrammarField))
	}
	if p.config.Effort != "" {
		fields[fieldEffort] = p.config.Effort
	}
	for _, name := range p.refused.Of(model) {
		if most, set := fields[name]; set && name == fieldMaxTokens {
			fields["max_completion_tokens"] = most
		}
		delete(fields, name)
	}
	maps.Copy(fields, p.config.Body)
	return fields
}

// IsReasoningModel reports whether a model is one of OpenAI's reasoning models, which refuse a
// temperature and the old name of the token limit.
func IsReasoningModel(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
