package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
	"org-agent/kernel/secret"
	"org-agent/kernel/text"
)

// messageLimit is how many characters of a server's message are shown.
const messageLimit = 300

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
		failure = statusFailure(other.HTTPStatusCode, "", "", bodyMessage(other.Body))
	} else if api, ok := errors.AsType[*goopenai.APIError](err); ok {
		failure = statusFailure(api.HTTPStatusCode, fmt.Sprint(api.Code), api.Type, api.Message)
	} else if unsent, ok := errors.AsType[*url.Error](err); ok {
		failure = p.unreachable(unsent.Err)
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
	if errors.Is(err, errNotAnAPI) {
		return p.complete(&llm.Error{Class: llm.ClassProtocol, Message: err.Error()})
	}
	failure := &llm.Error{Class: llm.ClassTruncated}
	if !isEnd(err) {
		failure.Err = err
	}
	return p.complete(failure)
}

// complete adds the provider's name and removes its secrets.
func (p *Provider) complete(err error) *llm.Error {
	failure, ok := errors.AsType[*llm.Error](err)
	if !ok {
		failure = &llm.Error{Class: llm.ClassProtocol, Err: err}
	}
	failure.Provider = p.config.Name
	secrets := []secret.Text{p.config.APIKey}
	for _, value := range p.config.Headers {
		secrets = append(secrets, value)
	}
	for _, secret := range secrets {
		if len(secret) >= 4 {
			failure.Message = secret.Hide(failure.Message)
		}
	}
	return failure
}

// statusFailure returns the error of a status, with a class by the server's message.
func statusFailure(status int, code, kind, message string) *llm.Error {
	failure := &llm.Error{Status: status, Message: text.PlainLine(message, messageLimit)}
	text := strings.ToLower(code + " " + kind + " " + message)
	has := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(text, word) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusPaymentRequired, has("insufficient_quota", "insufficient credit", "credit balance"):
		failure.Class = llm.ClassQuota
	case status == http.StatusTooManyRequests:
		failure.Class = llm.ClassRateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusBadRequest && has("api key", "api_key"):
		failure.Class = llm.ClassAuth
	case has("context_length_exceeded", "context length", "context size", "context window", "prompt is too long", "maximum context"):
		failure.Class = llm.ClassTooLong
	case has("image_url", "image input", "images are not supported", "support images", "not a multimodal"):
		failure.Class = llm.ClassBadRequest // some servers send that with status 500
		failure.Advice = "the model seems to take no images: leave them out or ask another model; :IMAGES: omit or refuse in config.org says so for good"
	case status < 500 && has("model_not_found", "no such model"),
		status == http.StatusNotFound && has("model"):
		failure.Class = llm.ClassModel
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		failure.Class = llm.ClassServer
	default:
		failure.Class = llm.ClassBadRequest
	}
	if status == http.StatusNotFound && failure.Class == llm.ClassBadRequest {
		failure.Advice = "nothing is there: check the base URL, most end in /v1"
	}
	return failure
}

// streamError returns the error object that a stream may hold instead of its choices, or in
// addition to them. It returns nil if there is none.
func streamError(raw json.RawMessage) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "false" || string(raw) == `""` {
		return nil
	}
	var object struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(raw, &object) != nil || object.Message == "" {
		if json.Unmarshal(raw, &object.Message) != nil {
			object.Message = string(raw)
		}
	}
	status, code := 0, strings.Trim(string(object.Code), `"`)
	if n, err := fmt.Sscanf(code, "%d", &status); n != 1 || err != nil || status < 400 || status > 599 {
		status = 0
	}
	failure := statusFailure(status, code, object.Type, object.Message)
	switch {
	case status != 0, failure.Class != llm.ClassBadRequest:
	case strings.Contains(strings.ToLower(code+object.Type), "rate"):
		failure.Class = llm.ClassRateLimit
	default:
		failure.Class = llm.ClassServer
	}
	return failure
}

// unreachable returns the error for a request without an answer.
func (p *Provider) unreachable(cause error) *llm.Error {
	failure := &llm.Error{Class: llm.ClassUnreachable, Message: text.PlainLine(cause.Error(), messageLimit), Err: cause}
	var name *net.DNSError
	switch {
	case errors.As(cause, &name):
		failure.Advice = "the host name is not known: check the base URL and the network"
	case isEnd(cause), errors.Is(cause, net.ErrClosed):
		failure.Class = llm.ClassServer
		failure.Message = "the server closed the connection without an answer"
	case strings.Contains(cause.Error(), "server gave HTTP response"):
		failure.Advice = "the base URL should begin with http:// instead of https://"
	case loopback(p.base.Hostname()):
		failure.Advice = fmt.Sprintf("is the model server running? nothing answers at %s; start it (for example: ollama serve), then send again", p.base.Host)
	default:
		failure.Advice = fmt.Sprintf("check the network and the base URL: %s does not answer", p.base.Host)
	}
	return failure
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var (
	titleOfPage = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	looksLikeIt = regexp.MustCompile(`(?is)^\s*<(!doctype|html|head|body|\?xml)`)
)

// bodyMessage returns the readable message in the body of an error.
func bodyMessage(body []byte) string {
	if looksLikeIt.Match(body) {
		if title := titleOfPage.FindSubmatch(body); title != nil {
			return string(title[1])
		}
		return ""
	}
	var object struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.NewDecoder(bytes.NewReader(body)).Decode(&object) != nil {
		return string(body)
	}
	for _, raw := range []json.RawMessage{object.Error, object.Detail} {
		var message string
		if json.Unmarshal(raw, &message) == nil && message != "" {
			return message
		}
		if len(raw) > 0 && object.Message == "" {
			return string(raw)
		}
	}
	return object.Message
}

// readLimited reads a whole body. A body longer than limit is an error.
func readLimited(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the answer is longer than %d bytes", limit)
	}
	return data, err
}
