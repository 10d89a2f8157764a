package openai

import (
	"context"
	"errors"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// requestFailure returns the error of a request that opened no stream.
func (p *Provider) requestFailure(ctx context.Context, err error, answer *answer) *llm.Error {
	if ctx.Err() != nil {
		return llm.ContextError(ctx, p.config.Name)
	}
	failure := transport.RequestFailure(p.base, err)
	if other, ok := errors.AsType[*goopenai.RequestError](err); ok {
		// This case is first, because the error may wrap an empty APIError.
		failure = transport.StatusFailure(other.HTTPStatusCode, "", "", transport.BodyMessage(other.Body))
	} else if api, ok := errors.AsType[*goopenai.APIError](err); ok {
		failure = transport.StatusFailure(api.HTTPStatusCode, fmt.Sprint(api.Code), api.Type, api.Message)
	}
	failure.RetryAfter = answer.retryAfter
	return p.complete(failure)
}

// readFailure returns the error of a stream that ended before its finish reason.
func (p *Provider) readFailure(err error) *llm.Error { return p.complete(transport.ReadFailure(err)) }

// complete adds the provider's name and removes its secrets.
func (p *Provider) complete(err error) *llm.Error {
	return transport.Complete(err, p.config.Name, p.config.Key, p.config.Headers)
}
