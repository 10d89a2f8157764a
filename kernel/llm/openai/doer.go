package openai

import (
	"context"
	"net/http"
	"net/url"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// answer is what the HTTP response has in addition to the text.
type answer struct {
	back   bool                   // the request has replies as they came
	events *transport.EventReader // nil until the server agreed to answer
}

// doer makes one HTTP request for go-openai. It adds fields that the library does not know, and
// returns a body that the library can read.
type doer struct {
	provider *Provider
	messages []byte         // the conversation, encoded
	fields   map[string]any // of the body, in addition to those that the library writes
	answer   *answer
}

// Do sends the request. An answer that is none is an *llm.Error. The body of a stream is made regular by a
// transport.EventReader.
func (d *doer) Do(request *http.Request) (*http.Response, error) {
	p := d.provider
	if err := transport.JoinBody(request, d.fields, "messages", d.messages); err != nil {
		return nil, err
	}
	response, err := transport.Send(p.client, request, p.base, p.config.Headers, transport.StatusFailure)
	if err != nil {
		return nil, err
	}
	d.answer.events = transport.NewEventReader(response.Body)
	response.Body = d.answer.events
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
	response, err := transport.Send(p.client, request, p.base, p.config.Headers, transport.StatusFailure)
	if err != nil {
		return nil, p.requestFailure(ctx, err)
	}
	defer response.Body.Close()
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
