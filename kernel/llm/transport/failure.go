package transport

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
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/secret"
	"org-agent/kernel/text"
)

// MessageLimit is how many characters of a server's message are shown.
const MessageLimit = 300

// ErrorBodyLimit is how much of the body of an error is read, in bytes.
const ErrorBodyLimit = 64 << 10

// StatusFailure returns the error of a status, with a class by the server's message.
func StatusFailure(status int, code, kind, message string) *llm.Error {
	failure := &llm.Error{Status: status, Message: text.PlainLine(message, MessageLimit)}
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
	case status == http.StatusServiceUnavailable && has("loading model"):
		failure.Class = llm.ClassLoading
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

// StreamError returns the error object that a stream may hold instead of its choices, or in
// addition to them. It returns nil if there is none.
func StreamError(raw json.RawMessage) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "false" || string(raw) == `""` {
		return nil
	}
	var object errorObject
	_ = json.Unmarshal(raw, &object) // any other error has no message
	status, code, message := 0, object.code(), object.message()
	if message == "" && json.Unmarshal(raw, &message) != nil {
		message = string(raw)
	}
	if n, err := fmt.Sscanf(code, "%d", &status); n != 1 || err != nil || status < 400 || status > 599 {
		status = 0
	}
	failure := StatusFailure(status, code, object.Type, message)
	switch {
	case status != 0, failure.Class != llm.ClassBadRequest:
	case strings.Contains(strings.ToLower(code+object.Type), "rate"):
		failure.Class = llm.ClassRateLimit
	default:
		failure.Class = llm.ClassServer
	}
	return failure
}

// errorObject is how servers write an error, in an answer of its own or in a stream.
type errorObject struct {
	Message json.RawMessage `json:"message"` // a string, or several
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a string or a number
}

// message returns the message, "" if there is none that can be read.
func (o *errorObject) message() string {
	var one string
	var several []string
	if json.Unmarshal(o.Message, &one) != nil && json.Unmarshal(o.Message, &several) == nil {
		one = strings.Join(several, ", ")
	}
	return one
}

// code returns the code as text.
func (o *errorObject) code() string { return strings.Trim(string(o.Code), `"`) }

// ErrorOf returns what the body of an error says: its code and its kind, where it has them, and its message.
func ErrorOf(body []byte) (code, kind, message string) {
	var object struct {
		Error errorObject `json:"error"`
	}
	if json.Unmarshal(body, &object) == nil && object.Error.message() != "" {
		return object.Error.code(), object.Error.Type, object.Error.message()
	}
	return "", "", BodyMessage(body)
}

// unreachable returns the error for a request to an address without an answer.
func unreachable(base *url.URL, cause error) *llm.Error {
	failure := &llm.Error{Class: llm.ClassUnreachable, Message: text.PlainLine(cause.Error(), MessageLimit), Err: cause}
	var name *net.DNSError
	switch {
	case errors.As(cause, &name):
		failure.Advice = "the host name is not known: check the base URL and the network"
	case IsEnd(cause), errors.Is(cause, net.ErrClosed):
		failure.Class = llm.ClassServer
		failure.Message = "the server closed the connection without an answer"
	case strings.Contains(cause.Error(), "server gave HTTP response"):
		failure.Advice = "the base URL should begin with http:// instead of https://"
	case Loopback(base.Hostname()):
		failure.Advice = fmt.Sprintf("is the model server running? nothing answers at %s; start it (for example: ollama serve), then send again", base.Host)
	default:
		failure.Advice = fmt.Sprintf("check the network and the base URL: %s does not answer", base.Host)
	}
	return failure
}

// RequestFailure returns the error of a request to the server at base that has no answer: that of [Send], of a
// library that calls it, or the end of ctx.
func RequestFailure(ctx context.Context, server llm.ServerConfig, base *url.URL, err error) *llm.Error {
	if ctx.Err() != nil {
		return llm.ContextError(ctx, server.Name)
	}
	failure, ok := errors.AsType[*llm.Error](err)
	if ok {
		return Complete(server, failure)
	}
	if unsent, ok := errors.AsType[*url.Error](err); ok {
		return Complete(server, unreachable(base, unsent.Err))
	}
	return Complete(server, &llm.Error{Class: llm.ClassBadRequest, Err: err})
}

// ReadFailure returns the error of a stream that ended with err before the reply did.
func ReadFailure(server llm.ServerConfig, err error) *llm.Error {
	failure, ok := errors.AsType[*llm.Error](err)
	switch {
	case ok:
	case errors.Is(err, ErrNotAnAPI):
		failure = &llm.Error{Class: llm.ClassProtocol, Message: err.Error()}
	case IsEnd(err):
		failure = &llm.Error{Class: llm.ClassTruncated}
	default:
		failure = &llm.Error{Class: llm.ClassTruncated, Err: err}
	}
	return Complete(server, failure)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

var (
	titleOfPage = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	looksLikeIt = regexp.MustCompile(`(?is)^\s*<(!doctype|html|head|body|\?xml)`)
)

// BodyMessage returns the readable message in the body of an error.
func BodyMessage(body []byte) string {
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

// redirect returns the error for a redirect, which is never followed.
func redirect(response *http.Response) *llm.Error {
	to := llm.RedactURL(response.Header.Get("Location"))
	return &llm.Error{Class: llm.ClassProtocol, Status: response.StatusCode,
		Message: "the server sends us on to " + text.PlainLine(to, MessageLimit),
		Advice:  "set the base URL to the address that the server means"}
}

// LimitBody cuts a body after limit bytes.
func LimitBody(body io.ReadCloser, limit int64) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, limit), body}
}

// ReadLimited reads a whole body. A body longer than limit is an error.
func ReadLimited(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the answer is longer than %d bytes", limit)
	}
	return data, err
}

// IsEnd reports whether reading stopped at the end rather than at a fault.
func IsEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// Complete returns err as an error of the provider that asks a server. Its message has none of the server's
// secrets: the key and the values of the headers. Texts of less than four bytes are no secrets. An error that is
// none of package llm is one of the protocol.
func Complete(server llm.ServerConfig, err error) *llm.Error {
	failure, ok := errors.AsType[*llm.Error](err)
	if !ok {
		failure = &llm.Error{Class: llm.ClassProtocol, Err: err}
	}
	failure.Provider = server.Name
	hide := func(s secret.Text) {
		if len(s) >= 4 {
			failure.Message = s.Hide(failure.Message)
		}
	}
	hide(server.Key)
	for _, value := range server.Headers {
		hide(value)
	}
	return failure
}

// RetryAfter returns the pause that the server demands: Retry-After in seconds or as a date, or the
// more exact retry-after-ms. It is 0 if there is none.
func RetryAfter(header http.Header, now time.Time) time.Duration {
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
