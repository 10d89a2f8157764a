package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"maunium.net/go/mautrix"

	"org-agent/kernel/channel"
)

// ask makes one request. Its error is a [*channel.Failure], or that of ctx.
func (d *Driver) ask(ctx context.Context, method, url string, body, answer any) error {
	limited, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	_, err := d.client.MakeFullRequest(limited, mautrix.FullRequest{Method: method, URL: url, RequestJSON: body, ResponseJSON: answer})
	return d.failure(ctx, err)
}

// failure says what an error of a request means. What it says has no secret, whatever the homeserver wrote, and no
// request of the library in it.
func (d *Driver) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failed := &channel.Failure{Class: channel.Unknown, Err: errors.New("matrix: " + d.config.Token.Hide(err.Error()))}
	http, isHTTP := errors.AsType[mautrix.HTTPError](err)
	if !isHTTP {
		return failed
	}
	if http.Response == nil {
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			failed.Class = channel.Temporary
		}
		return failed
	}
	code := ""
	if http.RespError != nil {
		code = http.RespError.ErrCode
	}
	failed.Class = classOf(http.Response.StatusCode, code)
	if failed.Class == channel.Temporary {
		failed.RetryAfter = retryAfter(http)
	}
	return failed
}

// classOf says what the status and the code of a homeserver's answer mean.
func classOf(status int, code string) channel.FailureClass {
	switch {
	case code == "M_UNKNOWN_TOKEN" || code == "M_MISSING_TOKEN" || code == "M_USER_DEACTIVATED" || code == "M_USER_LOCKED" || code == "M_USER_SUSPENDED" || status == http.StatusUnauthorized:
		return channel.Unauthorized
	case code == "M_LIMIT_EXCEEDED" || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return channel.Temporary
	case status >= 500 || status == http.StatusRequestTimeout || status < 300: // the last: an answer that cannot be read
		return channel.Unknown
	default:
		return channel.Refused
	}
}

// retryAfter is how long the homeserver says to wait: in its answer, and newer ones in the header.
func retryAfter(e mautrix.HTTPError) time.Duration {
	if seconds, err := strconv.Atoi(e.Response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		return min(time.Duration(seconds)*time.Second, time.Hour)
	}
	if e.RespError == nil {
		return 0
	}
	switch ms := e.RespError.ExtraData["retry_after_ms"].(type) {
	case float64:
		return time.Duration(max(0, min(ms, 3.6e6))) * time.Millisecond
	case json.Number:
		n, _ := ms.Float64()
		return time.Duration(max(0, min(n, 3.6e6))) * time.Millisecond
	}
	return 0
}

// is reports whether err is a failure of that class.
func is(err error, class channel.FailureClass) bool {
	failed, ok := errors.AsType[*channel.Failure](err)
	return ok && failed.Class == class
}

func refused(err error) bool { return is(err, channel.Refused) }

// unsent is the error of a request that is made before a message is sent: whatever became of it, nothing was sent.
func unsent(err error) error {
	if failed, ok := errors.AsType[*channel.Failure](err); ok && failed.Class == channel.Unknown {
		return &channel.Failure{Class: channel.Temporary, Err: failed.Err}
	}
	return err
}

func refuse(text string) error {
	return &channel.Failure{Class: channel.Refused, Err: errors.New("matrix: " + text)}
}
