package openai

import (
	"context"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// requestFailure returns the error of a request that opened no stream.
func (p *Provider) requestFailure(ctx context.Context, err error) *llm.Error {
	failure := transport.RequestFailure(ctx, p.config, p.base, err)
	if failure.Class == llm.ClassModel {
		p.ForgetModel()
	}
	return failure
}

// readFailure returns the error of a stream that ended before its finish reason.
func (p *Provider) readFailure(err error) *llm.Error { return transport.ReadFailure(p.config, err) }

// complete adds the provider's name and removes its secrets.
func (p *Provider) complete(err error) *llm.Error {
	return transport.Complete(p.config, err)
}
