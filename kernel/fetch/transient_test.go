package fetch_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/fetch"
	"org-agent/kernel/protocol"
)

// TestTransient checks that an error says whether the same request may succeed later, and how long
// the server wants to be left alone.
func TestTransient(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	address, f := server(t, fetch.Config{Now: func() time.Time { return now }}, func(w http.ResponseWriter, r *http.Request) {
		code := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &code)
		switch {
		case code != 0:
			w.Header().Set("Retry-After", r.URL.Query().Get("after"))
			w.WriteHeader(code)
		case r.URL.Path == "/short":
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Content-Length", "500")
			fmt.Fprint(w, "half of")
		case r.URL.Path == "/image":
			w.Header().Set("Content-Type", "image/png")
		case r.URL.Path == "/inside":
			http.Redirect(w, r, "http://127.0.0.2/", http.StatusFound)
		default:
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_ = connection.(*net.TCPConn).SetLinger(0)
			_ = connection.Close()
		}
	})
	for path, want := range map[string]struct {
		code      protocol.ToolErrorCode
		retryable bool
		after     time.Duration
	}{
		"/429": {protocol.ToolBusy, true, 0}, "/503?after=7": {protocol.ToolBusy, true, 7 * time.Second}, "/502?after=soon": {protocol.ToolBusy, true, 0},
		"/504?after=-3": {protocol.ToolBusy, true, 0}, "/429?after=1e300": {protocol.ToolBusy, true, 24 * time.Hour}, "/429?after=NaN": {protocol.ToolBusy, true, 0},
		"/503?after=Sun,+22+Nov+2026+12:01:30+GMT": {protocol.ToolBusy, true, 90 * time.Second},
		"/503?after=Sun,+22+Nov+2020+12:01:30+GMT": {protocol.ToolBusy, true, 0},
		"/reset": {protocol.ToolFailed, true, 0}, "/short": {protocol.ToolFailed, true, 0},
		"/500": {protocol.ToolBusy, false, 0}, "/501?after=7": {protocol.ToolBusy, false, 0}, "/404?after=7": {protocol.ToolNotFound, false, 0},
		"/403": {protocol.ToolDenied, false, 0}, "/400": {protocol.ToolFailed, false, 0}, "/image": {protocol.ToolUnfit, false, 0}, "/inside": {protocol.ToolRefused, false, 0},
	} {
		_, err := f.Get(t.Context(), address+path)
		if err == nil {
			t.Errorf("%s: a page", path)
			continue
		}
		of := protocol.ToolErrorOf(err)
		if of.Code != want.code || of.Retryable != want.retryable || of.After != want.after {
			t.Errorf("%s: %s %v after %v: %v", path, of.Code, of.Retryable, of.After, err)
		}
		if hasPause := strings.Contains(of.Message, "not before "); hasPause != (want.after > 0) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
