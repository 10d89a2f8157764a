package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrTruncated is wrapped by every error for a reply that ended too early.
var ErrTruncated = errors.New("the reply was cut off before its end")

// Class sorts errors by what can be done about them.
type Class string

// The classes. An error without a class is a fault in the program.
const (
	// ClassAuth: the key is missing, wrong or not allowed to do this.
	ClassAuth Class = "auth"
	// ClassQuota: the account has no credit left; waiting does not help.
	ClassQuota Class = "quota"
	// ClassRateLimit: too many requests; RetryAfter is the pause, if known.
	ClassRateLimit Class = "rate-limit"
	// ClassServer: the server is overloaded or broken; trying again may help.
	ClassServer Class = "server"
	// ClassLoading: the server is still loading the model; it answers when it has.
	ClassLoading Class = "loading"
	// ClassBadRequest: the server refuses this request, and will refuse it again.
	ClassBadRequest Class = "bad-request"
	// ClassTooLong: the conversation does not fit into the model's context.
	ClassTooLong Class = "too-long"
	// ClassModel: no model is set, or the model that is set does not exist.
	ClassModel Class = "model"
	// ClassProtocol: the server does not speak the expected protocol.
	ClassProtocol Class = "protocol"
	// ClassUnreachable: no server answers at the address.
	ClassUnreachable Class = "unreachable"
	// ClassTruncated: the stream ended before the reply did.
	ClassTruncated Class = "truncated"
	// ClassEndless: the reply was longer than any is kept.
	ClassEndless Class = "endless"
	// ClassIdle: no delta came for too long.
	ClassIdle Class = "idle"
	// ClassTimeout: the whole reply took too long.
	ClassTimeout Class = "timeout"
	// ClassPaused: the breaker does not ask this provider for a while.
	ClassPaused Class = "paused"
	// ClassCanceled: the caller gave up the request.
	ClassCanceled Class = "canceled"
)

// text returns what happened, in a few words.
func (c Class) text() string {
	switch c {
	case ClassAuth:
		return "the key was not accepted"
	case ClassQuota:
		return "the account has no credit left"
	case ClassRateLimit:
		return "too many requests"
	case ClassServer:
		return "the server has a problem"
	case ClassLoading:
		return "the model is still being loaded"
	case ClassBadRequest:
		return "the request was refused"
	case ClassTooLong:
		return "the conversation is too long for the model"
	case ClassModel:
		return "no such model"
	case ClassProtocol:
		return "the answer is not in the format of its protocol"
	case ClassUnreachable:
		return "the server cannot be reached"
	case ClassTruncated:
		return ErrTruncated.Error()
	case ClassEndless:
		return "the reply did not end"
	case ClassIdle:
		return "the model went silent"
	case ClassTimeout:
		return "the reply took too long"
	case ClassPaused:
		return "paused after repeated errors"
	case ClassCanceled:
		return "stopped"
	}
	return "unexpected error"
}

// hint returns what a person can do about an error of the class, in one line.
func (c Class) hint() string {
	switch c {
	case ClassAuth:
		return "give it a valid key (API_KEY in config.org, ORG_AGENT_LLM_API_KEY or OPENAI_API_KEY), or use another provider"
	case ClassQuota:
		return "add credit to the account, or use another provider"
	case ClassRateLimit:
		return "wait a moment and send the message again"
	case ClassServer:
		return "try again in a minute; if it stays so, look at the provider's status page or the server's log"
	case ClassLoading:
		return "send the message again when the server has loaded it"
	case ClassBadRequest:
		return "check the model's name and the base URL (most end in /v1)"
	case ClassTooLong:
		return "start a new session, shorten the message, or use a model with a larger context"
	case ClassModel:
		return "set MODEL in config.org, or ORG_AGENT_LLM_MODEL, to one of the models that the server lists"
	case ClassProtocol:
		return "check the base URL: it must be the address of an OpenAI-compatible API (most end in /v1)"
	case ClassUnreachable:
		return "is the server running? check the base URL and the network"
	case ClassTruncated:
		return "ask again; if it happens often, look at the server's log or use another model"
	case ClassEndless:
		return "set a limit on the reply's tokens (MAX_TOKENS), or use another model"
	case ClassIdle, ClassTimeout:
		return "try again, use a smaller model, or allow it more time"
	case ClassPaused:
		return "it is asked again by itself after a pause; the first error says what to mend"
	case ClassCanceled:
		return "send the message again when you want an answer"
	}
	return "the log says more: org-agent log -f"
}

// Error is the error of a provider that could not answer.
type Error struct {
	Class Class
	// Provider is the provider's name in the settings.
	Provider string
	// Status is the HTTP status, or 0 if there was none.
	Status int
	// RetryAfter is the pause that the server demands, or 0.
	RetryAfter time.Duration
	// Message is the server's message, bounded and without secrets.
	Message string
	// Advice replaces the hint of the class if it is set.
	Advice string
	// Err is the cause, if there is one beside Message.
	Err error
}

// Error returns one line: the provider, what happened, and the server's message.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider)
		b.WriteString(": ")
	}
	b.WriteString(e.Class.text())
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	switch {
	case e.Message != "":
		b.WriteString(": ")
		b.WriteString(e.Message)
	case e.Err != nil && !errors.Is(e.Err, ErrTruncated) && !isContextError(e.Err):
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause. Errors of ClassTruncated, ClassCanceled and of the timeouts always wrap
// ErrTruncated, context.Canceled and context.DeadlineExceeded.
func (e *Error) Unwrap() []error {
	var chain []error
	if e.Err != nil {
		chain = append(chain, e.Err)
	}
	switch e.Class {
	case ClassTruncated:
		chain = append(chain, ErrTruncated)
	case ClassCanceled:
		chain = append(chain, context.Canceled)
	case ClassIdle, ClassTimeout:
		chain = append(chain, context.DeadlineExceeded)
	}
	return chain
}

// Hint returns what a person can do, in one line.
func (e *Error) Hint() string {
	hint := e.Advice
	if hint == "" {
		hint = e.Class.hint()
	}
	if e.RetryAfter > 0 && (e.Class == ClassRateLimit || e.Class == ClassPaused || e.Class == ClassServer) {
		wait := e.RetryAfter.Round(time.Second)
		hint = fmt.Sprintf("%s (in %s)", hint, max(wait, time.Second))
	}
	return hint
}

// ClassOf returns the class of the first *Error that err wraps, or "".
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}

// HintOf returns what a person can do about err, always one line.
func HintOf(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	return Class("").hint()
}

// ContextError returns the end of ctx as an error of the named provider, for a provider that
// stopped because ctx ended.
func ContextError(ctx context.Context, provider string) *Error {
	class := ClassCanceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		class = ClassTimeout
	}
	return &Error{Class: class, Provider: provider, Err: context.Cause(ctx)}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
