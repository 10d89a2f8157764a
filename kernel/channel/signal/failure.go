package signal

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/channel"
)

func fail(class channel.FailureClass, err error) *channel.Failure {
	return &channel.Failure{Class: class, Err: err}
}

func refused(err error) *channel.Failure      { return fail(channel.Refused, err) }
func temporary(err error) *channel.Failure    { return fail(channel.Temporary, err) }
func unknown(err error) *channel.Failure      { return fail(channel.Unknown, err) }
func unauthorized(err error) *channel.Failure { return fail(channel.Unauthorized, err) }

// The codes of signal-cli's errors, and one of our own.
const (
	userCode       = -1
	ioCode         = -3
	untrustedCode  = -4
	rateLimitCode  = -5
	noMethodCode   = -32601
	badParamsCode  = -32602
	badRequestCode = -32600
	tooLongCode    = 1
)

// callError is the error of a call.
type callError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// outcome is what became of a message.
type outcome struct {
	Timestamp int64    `json:"timestamp"`
	Results   []result `json:"results"`
}

// result is what became of a message for one of those who get it.
type result struct {
	Type       string `json:"type"`
	Token      string `json:"token"` // of the challenge, where Signal wants a captcha
	RetryAfter int64  `json:"retryAfterSeconds"`
}

// failed is the most that an error says of what became of a message.
func (e *callError) failed() (worst result) {
	var data struct {
		Response outcome `json:"response"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return result{}
	}
	for _, r := range data.Response.Results {
		if r.Type != "" && r.Type != "SUCCESS" {
			worst.Type = r.Type
		}
		worst.RetryAfter = max(worst.RetryAfter, r.RetryAfter)
		if r.Token != "" {
			worst.Token = r.Token
		}
	}
	return worst
}

// failure says what an error means to whoever sends.
func (e *callError) failure() *channel.Failure {
	worst, message := e.failed(), errors.New(e.Message)
	switch {
	case worst.Token != "":
		return &channel.Failure{Class: channel.Temporary, RetryAfter: seconds(worst.RetryAfter, time.Hour), Err: fmt.Errorf(
			"%w: Signal wants to know that the account is a person's; solve its captcha and tell it with signal-cli's submitRateLimitChallenge, or wait", message)}
	case e.Code == rateLimitCode || worst.Type == "RATE_LIMIT_FAILURE":
		return &channel.Failure{Class: channel.Temporary, RetryAfter: seconds(worst.RetryAfter, 0), Err: message}
	case e.Code == untrustedCode || worst.Type == "IDENTITY_FAILURE":
		return refused(fmt.Errorf("%w: the safety number has changed; compare it with the person and tell signal-cli with its command trust", message))
	case worst.Type == "UNREGISTERED_FAILURE":
		return refused(fmt.Errorf("%w: there is nobody with this address on Signal", message))
	case worst.Type == "NETWORK_FAILURE" || worst.Type == "INVALID_PRE_KEY_FAILURE" || e.Code == ioCode:
		return temporary(message)
	case strings.Contains(e.Message, "AuthorizationFailed") || strings.Contains(e.Message, "Authorization failed"):
		return unauthorized(fmt.Errorf("%w: Signal does not know this device any more; link or register it again with signal-cli", message))
	case e.Code == badParamsCode:
		return unauthorized(fmt.Errorf("%w: link or register the account with signal-cli", message))
	case e.Code == userCode, e.Code == noMethodCode, e.Code == badRequestCode, e.Code == tooLongCode,
		strings.Contains(e.Message, "AttachmentInvalid"):
		return refused(message)
	}
	return temporary(message)
}

// seconds returns what a server says to wait, or the other if it does not.
func seconds(n int64, otherwise time.Duration) time.Duration {
	if n <= 0 {
		return otherwise
	}
	return time.Duration(min(n, 7*24*3600)) * time.Second
}

// callFailure is a failure with the code of signal-cli.
type callFailure struct {
	failure *channel.Failure
	method  string
	code    int
}

// Error implements error.
func (f *callFailure) Error() string { return f.method + ": " + f.failure.Error() }

// Unwrap returns the failure.
func (f *callFailure) Unwrap() error { return f.failure }
