// Package websearch asks the search server from config.org. There is no other, and none is built
// in. The server may be on this machine or beside it, because the person chose it.
//
// A [Server] is safe for many goroutines. [Server.Search] blocks until the server answers, its
// context ends or half a minute is over. Its key is sent to that address alone: redirects are not
// followed, and errors do not contain it.
package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/fetch"
	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
	"org-agent/kernel/text"
)

// Kind is the protocol that a search server speaks.
type Kind string

// The kinds of servers.
const (
	SearxNG Kind = "searxng"
	Brave   Kind = "brave"
)

// The limits for a server.
const (
	defaultTimeout = 30 * time.Second
	answerLimit    = 2 << 20
	titleLimit     = 200 // characters
	textLimit      = 500
)

// Server is a search server. The zero value is no server.
type Server struct {
	Kind Kind
	// BaseURL is the address of SearxNG, or of the API of a server like Brave's.
	BaseURL string
	// Key returns the key each time it is needed. refused is the key that the server has just
	// refused, or "": a person may have replaced it meanwhile. nil: there is no key.
	Key func(ctx context.Context, refused secret.Text) (secret.Text, error)
	// Timeout is how long to wait for an answer. 0 means half a minute.
	Timeout time.Duration
}

// Result is one hit of a search.
type Result struct {
	Title, URL, Text string
}

// URL returns the address of a query. It is judged, shown and asked.
func (s *Server) URL(question string, count int) string {
	base := strings.TrimSuffix(s.BaseURL, "/")
	if s.Kind == Brave {
		return base + "?" + url.Values{"q": {question}, "count": {strconv.Itoa(count)}}.Encode()
	}
	return strings.TrimSuffix(base, "/search") + "/search?" + url.Values{"q": {question}, "format": {"json"}}.Encode()
}

// Search asks the server and returns at most count results in the server's order.
func (s *Server) Search(ctx context.Context, question string, count int) ([]Result, error) {
	limit := s.Timeout
	if limit == 0 {
		limit = defaultTimeout
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := s.ask(limited, s.URL(question, count))
	var timeout net.Error
	var of *protocol.ToolError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("search: %w", ctx.Err())
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		of = protocol.ToolErrorf(protocol.ToolTimeout, "the search server did not answer within %v: try it once more later", limit)
	case fetch.Transient(err):
		of = protocol.ToolErrorf(protocol.ToolFailed, "%w: try it once more later", err)
	case err != nil:
		return nil, err
	}
	if of != nil {
		of.Retryable = true
		return nil, of
	}
	return s.results(body, count)
}

// ask asks with the key, and once more if the server refuses the key and there is another one now.
func (s *Server) ask(ctx context.Context, address string) ([]byte, error) {
	if s.Key == nil {
		return s.get(ctx, address, "")
	}
	key, err := s.key(ctx, "")
	if err != nil {
		return nil, err
	}
	body, err := s.get(ctx, address, key)
	if of, refused := errors.AsType[*protocol.ToolError](err); refused && of.Code == protocol.ToolDenied {
		if now, keyErr := s.key(ctx, key); keyErr == nil && now != key {
			return s.get(ctx, address, now)
		}
	}
	return body, err
}

func (s *Server) key(ctx context.Context, refused secret.Text) (secret.Text, error) {
	key, err := s.Key(ctx, refused)
	if err != nil {
		return "", fmt.Errorf("the key of the search server: %w", err)
	}
	return key, nil
}

func (s *Server) get(ctx context.Context, address string, key secret.Text) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address of the search server is none: the user has to correct BASE_URL of Search in config.org")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "org-agent")
	if key != "" {
		if s.Kind == Brave {
			request.Header.Set("X-Subscription-Token", key.Reveal())
		} else {
			request.Header.Set("Authorization", "Bearer "+key.Reveal())
		}
	}
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err // the error without the address, which contains the query
		}
		return nil, fmt.Errorf("the search server cannot be reached: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fetch.MarkRetryable(s.status(response.StatusCode), response, time.Now())
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, answerLimit+1))
	if err != nil {
		return nil, fmt.Errorf("read what the search server answers: %w", err)
	}
	if len(body) > answerLimit {
		return nil, protocol.ToolErrorf(protocol.ToolTooLarge, "the search server answers with more than %d bytes: ask for something narrower", answerLimit)
	}
	return body, nil
}

// status returns the error for an HTTP status without results.
func (s *Server) status(code int) *protocol.ToolError {
	advice, kind := "the user has to look whether BASE_URL of Search in config.org is right", protocol.ToolFailed
	switch {
	case code == http.StatusForbidden && s.Kind == SearxNG:
		advice = "the user has to add json to search.formats in its settings.yml"
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusUnprocessableEntity:
		advice, kind = "it takes no such key: the user has to look at API_KEY of Search in config.org", protocol.ToolDenied
	case code == http.StatusTooManyRequests, code >= 500:
		advice, kind = "try it once more later", protocol.ToolBusy
	}
	return protocol.ToolErrorf(kind, "the search server answers %d %s: %s", code, http.StatusText(code), advice)
}

// hit is a result as servers send it. SearxNG sends its text as content, Brave as description.
type hit struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`
	Description string `json:"description"`
}

func (s *Server) results(body []byte, count int) ([]Result, error) {
	var answer struct {
		Results []hit `json:"results"`
		Web     *struct {
			Results []hit `json:"results"`
		} `json:"web"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, errors.New("the search server answers with what is no list of results: the user has to look whether BASE_URL and KIND of Search in config.org are right")
	}
	all := answer.Results
	if s.Kind == Brave && answer.Web != nil {
		all = answer.Web.Results
	}
	var results []Result
	for _, f := range all {
		u, err := url.Parse(f.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || len(f.URL) > 2000 {
			continue
		}
		if len(results) == count {
			break
		}
		results = append(results, Result{Title: plainWords(f.Title, titleLimit), URL: u.String(), Text: plainWords(f.Content+f.Description, textLimit)})
	}
	return results, nil
}

// plainWords returns a text on one line, without markup and invisible characters.
func plainWords(s string, limit int) string {
	s = html.UnescapeString(s)
	for _, mark := range []string{"<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>", "<mark>", "</mark>"} {
		s = strings.ReplaceAll(s, mark, "")
	}
	return text.PlainLine(s, limit)
}
