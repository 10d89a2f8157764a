package openai

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// answer is what the HTTP response has in addition to the text.
type answer struct {
	retryAfter time.Duration
	back       bool                   // the request has replies as they came
	events     *transport.EventReader // nil until the server agreed to answer
}

// doer makes one HTTP request for go-openai. It adds fields that the library does not know, and
// returns a body that the library can read.
type doer struct {
	provider *Provider
	messages []byte         // the conversation, encoded
	fields   map[string]any // of the body, in addition to those that the library writes
	answer   *answer
}

// Do sends the request. A redirect is an error. The body of an error status is cut at
// transport.ErrorBodyLimit. The body of a stream is made regular by a transport.EventReader.
func (d *doer) Do(request *http.Request) (*http.Response, error) {
	p := d.provider
	if err := transport.JoinBody(request, d.fields, "messages", d.messages); err != nil {
		return nil, err
	}
	transport.Decorate(request, p.base, p.config.Headers)
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	d.answer.retryAfter = transport.RetryAfter(response.Header, time.Now())
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		response.Body.Close()
		return nil, transport.Redirect(response)
	case response.StatusCode >= 400 || response.StatusCode < 200:
		response.Body = transport.LimitBody(response.Body, transport.ErrorBodyLimit)
	default:
		d.answer.events = transport.NewEventReader(response.Body)
		response.Body = d.answer.events
	}
	return response, nil
}

// answerTo sends a request and reads the whole answer, at most limit bytes.
func (p *Provider) answerTo(ctx context.Context, request *http.Request, limit int64) ([]byte, error) {
	return p.answerWith(ctx, request, nil, limit)
}

// answerWith is answerTo with parameters in addition to those of every address.
func (p *Provider) answerWith(ctx context.Context, request *http.Request, query url.Values, limit int64) ([]byte, error) {
	if p.config.Key != "" {
		request.Header.Set("Authorization", "Bearer "+p.config.Key.Reveal())
	}
	request.URL.RawQuery = query.Encode()
	transport.Decorate(request, p.base, p.config.Headers)
	response, err := p.client.Do(request)
	if err != nil {
		return nil, p.requestFailure(ctx, err, &answer{})
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 400:
		body, _ := io.ReadAll(transport.LimitBody(response.Body, transport.ErrorBodyLimit)) // a part of a message is better than none
		failure := transport.StatusFailure(response.StatusCode, "", "", transport.BodyMessage(body))
		failure.RetryAfter = transport.RetryAfter(response.Header, time.Now())
		return nil, p.complete(failure)
	case response.StatusCode >= 300:
		return nil, p.complete(transport.Redirect(response))
	}
	answered, err := transport.ReadLimited(response.Body, limit)
	switch {
	case err == nil:
		return answered, nil
	case ctx.Err() != nil:
		return nil, llm.ContextError(ctx, p.config.Name)
	case int64(len(answered)) > limit:
		return nil, p.complete(&llm.Error{Class: llm.ClassProtocol, Message: err.Error()})
	}
	return nil, p.readFailure(err)
}
