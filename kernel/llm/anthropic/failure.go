package anthropic

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// doer makes one HTTP request for the library, with the headers and the query of the server. An answer
// that is none is an error. Of any other at most limit bytes are read, if it is not 0.
type doer struct {
	provider *Provider
	limit    int64
}

// Do sends the request.
func (d *doer) Do(request *http.Request) (*http.Response, error) {
	p := d.provider
	if p.config.Key != "" {
		request.Header.Set("X-Api-Key", p.config.Key.Reveal())
	}
	response, err := transport.Send(p.client, request, p.base, p.config.Headers, classify)
	if err != nil {
		return nil, err
	}
	if d.limit > 0 {
		response.Body = transport.LimitBody(response.Body, d.limit)
	}
	return response, nil
}

// classify returns the error of a status.
func classify(status int, code, kind, message string) *llm.Error {
	failure := transport.StatusFailure(status, code, kind, message)
	switch {
	case status == http.StatusRequestEntityTooLarge, strings.Contains(message, "exceed context limit"):
		failure.Class = llm.ClassTooLong
	case failure.Class == llm.ClassAuth:
		failure.Advice = "give it a valid key (API_KEY in config.org, or ANTHROPIC_API_KEY), or use another provider"
	case status == http.StatusNotFound && failure.Class == llm.ClassBadRequest:
		failure.Advice = "nothing is there: check the base URL, which is the address before /v1/messages"
	}
	return failure
}

// statuses are the statuses of the kinds of errors. An error in the middle of a stream has only its kind.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized, "billing_error": http.StatusPaymentRequired,
	"permission_error": http.StatusForbidden, "not_found_error": http.StatusNotFound, "request_too_large": http.StatusRequestEntityTooLarge,
	"rate_limit_error": http.StatusTooManyRequests, "timeout_error": http.StatusGatewayTimeout,
}

// streamFailure returns the error that a stream has in place of its end.
func streamFailure(event []byte) *llm.Error {
	code, kind, message := transport.ErrorOf(event)
	status, known := statuses[kind]
	if !known {
		status = http.StatusInternalServerError
	}
	failure := classify(status, code, kind, message)
	failure.Status = 0 // there was a 200 before
	return failure
}

// requestFailure returns the error of a request that has no answer.
func (p *Provider) requestFailure(ctx context.Context, err error) *llm.Error {
	failure := transport.RequestFailure(ctx, p.config, p.base, err)
	if failure.Class == llm.ClassModel {
		p.only.Forget()
	}
	return p.complete(failure)
}

// readFailure returns the error of a stream that ended before the reply did.
func (p *Provider) readFailure(err error) *llm.Error {
	return p.complete(transport.ReadFailure(p.config, err))
}

// complete adds the provider's name and removes its secrets.
func (p *Provider) complete(err error) *llm.Error {
	failure := transport.Complete(p.config, err)
	if failure.Class == llm.ClassProtocol && failure.Advice == "" {
		failure.Advice = "check the base URL and DRIVER: it must be the address of a server with Anthropic's Messages"
	}
	return failure
}

var longestReply = regexp.MustCompile(`max_tokens: \d+ > (\d+)`)

// amend changes a request that the server has refused for something that it needs not have, and reports
// whether it did: a reply longer than the model writes, or thoughts that the server does not know any more
// because something before them has changed.
func (p *Provider) amend(asked *body, err error) bool {
	failure, ok := errors.AsType[*llm.Error](err)
	if !ok || failure.Class != llm.ClassBadRequest || asked.amended > 1 {
		return false
	}
	asked.amended++
	if found := longestReply.FindStringSubmatch(failure.Message); found != nil {
		longest, err := strconv.Atoi(found[1])
		if err != nil || longest <= 0 || longest >= asked.MaxTokens {
			return false
		}
		p.limitReplies(asked.Model, longest)
		asked.MaxTokens = longest
		return true
	}
	if !strings.HasPrefix(failure.Message, "messages.") || !strings.Contains(failure.Message, "thinking") || !asked.thoughts && asked.thinking() != "enabled" {
		return false
	}
	p.config.Logger.Info("the server refused the model's earlier thoughts, asking without them", "provider", p.config.Name, "err", failure.Message)
	return asked.forget()
}
