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

// longestAfter is the most that is made of what a server says of when it is to be asked again.
const longestAfter = 24 * time.Hour

// Passing reports whether what came in the way of asking a server may be gone when it is asked
// again: it was slow, or the connection broke. A certificate, a name that nobody has and a port at
// which nobody listens stay what they are.
func Passing(err error) bool {
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

// Later makes an error of an answer one that is retryable when the server says that it has no
// room now: with 429, 502, 503 or 504. The error says how long the server wants to be left alone,
// as its header Retry-After tells in seconds or as a time; what cannot be read there is not told.
func Later(of *protocol.ToolError, response *http.Response, now time.Time) *protocol.ToolError {
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return of
	}
	of.Retryable = true
	said := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(said, 64); err == nil && seconds > 0 {
		of.After = time.Duration(min(seconds, longestAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(said); err == nil {
		of.After = min(max(at.Sub(now), 0), longestAfter)
	}
	if of.After > 0 {
		of.Message += " (not before " + of.After.Round(time.Second).String() + " are over)"
	}
	return of
}
