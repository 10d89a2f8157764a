package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/text"
)

// errorBodyLimit is how much of the body of an error is read, in bytes.
const errorBodyLimit = 64 << 10

// answer is what the HTTP response has in addition to the text.
type answer struct {
	retryAfter time.Duration
	done       bool // the stream had [DONE]
	events     *eventReader
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
// errorBodyLimit. The body of a stream is made regular by an eventReader.
func (d *doer) Do(request *http.Request) (*http.Response, error) {
	if err := d.complete(request); err != nil {
		return nil, err
	}
	d.provider.decorate(request)
	response, err := d.provider.client.Do(request)
	if err != nil {
		return nil, err
	}
	d.answer.retryAfter = retryAfter(response.Header, time.Now())
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		response.Body.Close()
		return nil, d.provider.redirectError(response)
	case response.StatusCode >= 400 || response.StatusCode < 200:
		response.Body = limitBody(response.Body, errorBodyLimit)
	default:
		d.answer.events = newEventReader(response.Body, d.answer)
		response.Body = d.answer.events
	}
	return response, nil
}

// complete puts the conversation and the fields into the request's JSON body.
func (d *doer) complete(request *http.Request) error {
	defer request.Body.Close()
	fields := map[string]json.RawMessage{}
	if err := json.NewDecoder(request.Body).Decode(&fields); err != nil {
		return fmt.Errorf("read the request's body: %w", err)
	}
	for key, value := range d.fields {
		encoded, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode the request's field %q: %w", key, err)
		}
		fields[key] = encoded
	}
	delete(fields, "messages")
	encoded, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	// There is a field before them: the model.
	head := append(bytes.TrimSuffix(encoded, []byte("}")), `,"messages":`...)
	request.ContentLength = int64(len(head) + len(d.messages) + len("}"))
	request.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(head), bytes.NewReader(d.messages), strings.NewReader("}"))), nil
	}
	request.Body, err = request.GetBody()
	return err
}

// decorate adds the headers of every request to the server.
func (p *Provider) decorate(request *http.Request) {
	request.URL.RawQuery = p.base.RawQuery
	request.Header.Set("User-Agent", "org-agent")
	for name, value := range p.config.Headers {
		request.Header.Set(name, value.Reveal())
	}
}

// answerTo sends a request and reads the whole answer, at most limit bytes.
func (p *Provider) answerTo(ctx context.Context, request *http.Request, limit int64) ([]byte, error) {
	if p.config.APIKey != "" {
		request.Header.Set("Authorization", "Bearer "+p.config.APIKey.Reveal())
	}
	p.decorate(request)
	response, err := p.client.Do(request)
	if err != nil {
		return nil, p.requestFailure(ctx, err, &answer{})
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= 400:
		body, _ := io.ReadAll(limitBody(response.Body, errorBodyLimit)) // a part of a message is better than none
		failure := statusFailure(response.StatusCode, "", "", bodyMessage(body))
		failure.RetryAfter = retryAfter(response.Header, time.Now())
		return nil, p.complete(failure)
	case response.StatusCode >= 300:
		return nil, p.redirectError(response)
	}
	answered, err := readLimited(response.Body, limit)
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

// redirectError returns the error for a redirect, which is never followed.
func (p *Provider) redirectError(response *http.Response) *llm.Error {
	to := llm.RedactURL(response.Header.Get("Location"))
	return &llm.Error{Class: llm.ClassProtocol, Provider: p.config.Name, Status: response.StatusCode,
		Message: "the server sends us on to " + text.PlainLine(to, messageLimit),
		Advice:  "set the base URL to the address that the server means"}
}

// limitBody cuts a body after limit bytes.
func limitBody(body io.ReadCloser, limit int64) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, limit), body}
}

// retryAfter returns the pause that the server demands: Retry-After in seconds or as a date, or the
// more exact retry-after-ms. It is 0 if there is none.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	value := strings.TrimSpace(header.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
		return seconds(s)
	}
	if date, err := http.ParseTime(value); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}

// seconds returns a duration of s seconds, a day at most.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 24*60*60) * float64(time.Second))
}
