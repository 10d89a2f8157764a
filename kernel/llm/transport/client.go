// Package transport has what every provider needs that asks a server by HTTP: the client, requests as the
// settings say, the events of a stream, the errors of answers that are none, the only model of a server, and the
// log of what a server sends that is not known. It knows no protocol.
package transport

import (
	"net"
	"net/http"
	"slices"
	"time"

	"org-agent/kernel/text"
)

// NewClient returns an HTTP client with timeouts for connections. It does not limit the time of an answer:
// llm.Timeouts does. It follows no redirect, because a redirect would send the key elsewhere.
func NewClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ModelNames returns the names of models as a server lists them, sorted, each once and on one line.
func ModelNames(listed []string) []string {
	names := make([]string, 0, len(listed))
	for _, name := range listed {
		if name != "" {
			names = append(names, text.PlainLine(name, MessageLimit))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
