// Package websearch asks the search server that the person named in config.org; there is no
// other, and none is built in. It is asked where it is, also on this machine or beside it: the
// person said so.
//
// A [Server] is safe for many goroutines. [Server.Search] blocks until the server answers, its
// context ends or half a minute is over. Its key goes to that address alone: no redirect is
// followed, and no error has it.
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
)

// Kind is the protocol that a search server speaks.
type Kind string

// The kinds of servers.
const (
	SearxNG Kind = "searxng"
	Brave   Kind = "brave"
)

// Bounds of what a server may send, and for how long.
const (
	patience    = 30 * time.Second
	answerLimit = 2 << 20
	titleLimit  = 200 // characters
	textLimit   = 500
)

// Server is a search server. The zero value is none.
type Server struct {
	Kind Kind
	// BaseURL is where SearxNG is, or the address that a server like Brave's is asked at.
	BaseURL string
	// Key gets the key, each time it is needed; nil for none.
	Key func(ctx context.Context) (secret.Text, error)
	// Patience is how long an answer may take; 0 for half a minute.
	Patience time.Duration
}

// Result is one thing that was found.
type Result struct {
	Title, URL, Text string
}

// URL is what is asked for a question: what is judged, shown and performed.
func (s *Server) URL(question string, count int) string {
	base := strings.TrimSuffix(s.BaseURL, "/")
	if s.Kind == Brave {
		return base + "?" + url.Values{"q": {question}, "count": {strconv.Itoa(count)}}.Encode()
	}
	return strings.TrimSuffix(base, "/search") + "/search?" + url.Values{"q": {question}, "format": {"json"}}.Encode()
}

// Search asks the server, and returns at most count results in its order.
func (s *Server) Search(ctx context.Context, question string, count int) ([]Result, error) {
	limit := s.Patience
	if limit == 0 {
		limit = patience
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
	case fetch.Passing(err):
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

func (s *Server) ask(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address of the search server is none: the user has to correct BASE_URL of Search in config.org")
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "org-agent")
	if s.Key != nil {
		key, err := s.Key(ctx)
		if err != nil {
			return nil, fmt.Errorf("the key of the search server: %w", err)
		}
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
			err = of.Err // without the address, which has the question
		}
		return nil, fmt.Errorf("the search server cannot be reached: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fetch.Later(s.status(response.StatusCode), response, time.Now())
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

// status is the error of a server that answers with no results.
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

// found is a result as servers have it: SearxNG's text is content, Brave's description.
type found struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Content     string `json:"content"`
	Description string `json:"description"`
}

func (s *Server) results(body []byte, count int) ([]Result, error) {
	var answer struct {
		Results []found `json:"results"`
		Web     *struct {
			Results []found `json:"results"`
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
		results = append(results, Result{Title: words(f.Title, titleLimit), URL: u.String(), Text: words(f.Content+f.Description, textLimit)})
	}
	return results, nil
}

// words is a text on one line, without markup and what no reader sees.
func words(text string, most int) string {
	text = html.UnescapeString(text)
	for _, mark := range []string{"<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>", "<mark>", "</mark>"} {
		text = strings.ReplaceAll(text, mark, "")
	}
	text = strings.Map(func(c rune) rune {
		switch {
		case c < ' ' || c == 0x2028 || c == 0x2029:
			return ' '
		case c >= 0x7f && c < 0xa0, c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069, c >= 0xE0000 && c <= 0xE0FFF, c == 0xFEFF:
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD"))
	characters := []rune(strings.Join(strings.Fields(text), " "))
	if len(characters) > most {
		return string(characters[:most-1]) + "…"
	}
	return string(characters)
}
