package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/secret"
)

const (
	answerLimit   = 16 << 20         // of an answer, in bytes
	callTimeout   = time.Minute      // of a request that carries no file
	uploadTimeout = 10 * time.Minute // of one that does
)

// wire asks a Bot API server. It is the HTTP client of the library, whose addresses have the token in them: no error of
// it has one. The errors are [*refusal] and [*lost].
type wire struct {
	http  *http.Client
	base  string // the server's address
	token secret.Text
}

func newWire(c Config) *wire {
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 15 * time.Second, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	// The server sends nobody elsewhere. Whoever did would get the token.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &wire{http: &client, base: c.URL, token: c.Token}
}

// answer is what the server answers to every method.
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// refusal is an answer by which the server refuses a request.
type refusal struct {
	code       int
	text       string
	server     bool // the Bot API server wrote it, and not a machine before it
	retryAfter time.Duration
	migrateTo  int64
}

func (r *refusal) Error() string { return r.text }

// lost is a request without an answer.
type lost struct {
	err   error
	whole bool // the server may have got all of the request
}

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// Do sends a request of a method and reads the whole answer, which says that the method succeeded.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	whole := new(atomic.Bool)
	if req.Body == nil {
		whole.Store(true)
	} else {
		req.Body = &outgoing{req.Body, whole}
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, &lost{w.clean(err), whole.Load()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	if err != nil {
		return nil, &lost{w.clean(err), true}
	}
	if len(body) > answerLimit {
		return nil, &lost{fmt.Errorf("the server's answer has more than %d bytes", answerLimit), true}
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, &refusal{code: resp.StatusCode, text: fmt.Sprintf("the server answered with status %d and no JSON", resp.StatusCode)}
	}
	if !a.OK {
		r := &refusal{code: a.Code, text: w.token.Hide(a.Description), server: true, retryAfter: time.Duration(a.Parameters.RetryAfter) * time.Second, migrateTo: a.Parameters.MigrateTo}
		if r.code == 0 {
			r.code = resp.StatusCode
		}
		return nil, r
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// outgoing is the body of a request, which notes that all of it was read.
type outgoing struct {
	io.ReadCloser
	whole *atomic.Bool
}

func (o *outgoing) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if err == io.EOF {
		o.whole.Store(true)
	}
	return n, err
}

// clean returns an error without the address, which has the token.
func (w *wire) clean(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	if text := err.Error(); w.token.Hide(text) != text {
		return errors.New(w.token.Hide(text))
	}
	return err
}

// updates asks for updates. It is a request of its own because the library's stream of updates tells the server that
// they arrived before anybody has stored them.
func (w *wire) updates(ctx context.Context, offset int64, wait time.Duration) ([]json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+15*time.Second)
	defer cancel()
	asked, err := json.Marshal(map[string]any{"offset": offset, "limit": batch, "timeout": int(wait / time.Second), "allowed_updates": wanted})
	if err != nil {
		return nil, fmt.Errorf("encode getUpdates: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.base+"/bot"+w.token.Reveal()+"/getUpdates", bytes.NewReader(asked))
	if err != nil {
		return nil, w.clean(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.Do(req)
	if err != nil {
		return nil, err
	}
	var a struct {
		Result []json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return nil, fmt.Errorf("decode the updates: %w", err)
	}
	return a.Result, nil
}

// again says what may be done when it is not known whether a request arrived.
type again bool

const (
	repeatable again = true  // to do it twice is the same as once
	once       again = false // it would appear twice
)

// failure returns the error of a method as a [channel.Failure].
func failure(method string, err error, may again) error {
	class, after := channel.Unknown, time.Duration(0)
	if f := (*channel.Failure)(nil); errors.As(err, &f) {
		return f
	} else if r := (*refusal)(nil); errors.As(err, &r) {
		class, after, err = r.class(), r.retryAfter, r
	} else if l := (*lost)(nil); errors.As(err, &l) {
		err = l
		if !l.whole {
			class = channel.Temporary
		}
	}
	if class == channel.Unknown && may == repeatable {
		class = channel.Temporary
	}
	return &channel.Failure{Class: class, RetryAfter: after, Err: fmt.Errorf("%s: %w", method, err)}
}

func (r *refusal) class() channel.FailureClass {
	switch {
	case r.server && (r.code == http.StatusUnauthorized || r.code == http.StatusNotFound || r.text == "Logged out"):
		return channel.Unauthorized
	case r.code >= 500 && r.code != http.StatusServiceUnavailable, r.code < 300:
		return channel.Unknown
	case r.code == http.StatusRequestEntityTooLarge, r.server && (r.code == http.StatusBadRequest || r.code == http.StatusForbidden):
		return channel.Refused
	}
	return channel.Temporary
}
