package openai

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// requestFailure returns the error of a request that opened no stream.
func (p *Provider) requestFailure(ctx context.Context, err error, answer *answer) *llm.Error {
	if ctx.Err() != nil {
		return llm.ContextError(ctx, p.config.Name)
	}
	failure := &llm.Error{}
	if ours, ok := errors.AsType[*llm.Error](err); ok {
		failure = ours
	} else if other, ok := errors.AsType[*goopenai.RequestError](err); ok {
		// This case is first, because the error may wrap an empty APIError.
		failure = transport.StatusFailure(other.HTTPStatusCode, "", "", transport.BodyMessage(other.Body))
	} else if api, ok := errors.AsType[*goopenai.APIError](err); ok {
		failure = transport.StatusFailure(api.HTTPStatusCode, fmt.Sprint(api.Code), api.Type, api.Message)
	} else if unsent, ok := errors.AsType[*url.Error](err); ok {
		failure = transport.Unreachable(p.base, unsent.Err)
	} else {
		failure = &llm.Error{Class: llm.ClassBadRequest, Err: err}
	}
	failure.RetryAfter = answer.retryAfter
	return p.complete(failure)
}

// readFailure returns the error of a stream that ended before its finish reason.
func (p *Provider) readFailure(err error) *llm.Error {
	if ours, ok := errors.AsType[*llm.Error](err); ok {
		return p.complete(ours)
	}
	if errors.Is(err, transport.ErrNotAnAPI) {
		return p.complete(&llm.Error{Class: llm.ClassProtocol, Message: err.Error()})
	}
	failure := &llm.Error{Class: llm.ClassTruncated}
	if !transport.IsEnd(err) {
		failure.Err = err
	}
	return p.complete(failure)
}

// complete adds the provider's name and removes its secrets.
func (p *Provider) complete(err error) *llm.Error {
	return transport.Complete(err, p.config.Name, p.config.APIKey, p.config.Headers)
}
