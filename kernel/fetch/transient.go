package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"org-agent/kernel/protocol"
)

// longestAfter is the longest pause that a server can ask for.
const longestAfter = 24 * time.Hour

// Transient reports whether a failed request may succeed later: the server was slow, or the
// connection broke. A wrong certificate, an unknown name and a closed port are permanent.
func Transient(err error) bool {
	var slow net.Error
	var name *net.DNSError
	switch {
	case errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &name):
		return !name.IsNotFound && (name.IsTemporary || name.IsTimeout)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return true
	}
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// MarkRetryable makes an error retryable if the response says that the server is overloaded: 429,
// 502, 503 or 504. The error gets the pause from the header Retry-After, in seconds or as a date,
// if it can be read.
func MarkRetryable(of *protocol.ToolError, response *http.Response, now time.Time) *protocol.ToolError {
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return of
	}
	of.Retryable = true
	after := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(after, 64); err == nil && seconds > 0 {
		of.After = time.Duration(min(seconds, longestAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(after); err == nil {
		of.After = min(max(at.Sub(now), 0), longestAfter)
	}
	if of.After > 0 {
		of.Message += " (not before " + of.After.Round(time.Second).String() + " are over)"
	}
	return of
}
