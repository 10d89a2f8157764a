// Package telegramtest is a Bot API server of Telegram for tests, with one bot in it and the people and chats that a test
// makes. It is strict: it refuses what Telegram's refuses, with the same words, and what the manual forbids although
// Telegram's puts it right without a word, such as parameters that there are not and entities that overlap.
//
// Ordering: updates are given out in the order in which they happened, again and again until a request for later ones
// says that they arrived. Blocking: getUpdates waits as long as it is asked to. Ownership: a [Server] starts no
// goroutines; whoever serves it ends that. It works within a bubble of testing/synctest through [Server.Client].
package telegramtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Token is the token of the bot.
const Token = "7000001:AAF-a_token_of_nobody_for_tests_only"

// The bot's account.
const (
	BotID       = 7000001
	BotUsername = "loft_agent_bot"
)

// Server is a Bot API server. Use [New].
type Server struct {
	mutex   sync.Mutex
	changed chan struct{} // closed at the next change

	chats map[int64]*chat
	files map[string][]byte

	updates   []update
	arrived   []update // those that the bot said to have
	next      int64    // the number of the next update
	poller    chan struct{}
	callbacks map[string]bool // buttons that were pressed, and whether that was answered

	calls    map[string]int
	outcomes map[string][]Outcome
	down     bool
	revoked  bool
	webhook  bool
}

// Outcome is how a call ends.
type Outcome struct {
	Code        int // the error code, 0 for a call that succeeds
	Description string
	RetryAfter  int    // seconds, 0 for none
	Body        string // in place of JSON, as a machine before the server writes it
	Lost        bool   // the call is done, and the connection ends before the answer
}

// TooMany is a refusal because of too many requests.
func TooMany(seconds int) Outcome {
	return Outcome{Code: http.StatusTooManyRequests, Description: fmt.Sprintf("Too Many Requests: retry after %d", seconds), RetryAfter: seconds}
}

type update struct {
	id   int64
	kind string
	raw  json.RawMessage
}

// New returns a server with a private chat with [Ada] and nothing else.
func New() *Server {
	s := &Server{chats: map[int64]*chat{}, files: map[string][]byte{}, next: 900000001, callbacks: map[string]bool{}, calls: map[string]int{}, outcomes: map[string][]Outcome{}}
	s.AddChat(Chat{ID: Ada, Type: "private", FirstName: "Ada"})
	return s
}

// Start serves on a socket until the test ends.
func (s *Server) Start(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server
}

// Client returns a client that reaches the server without a socket, at any address.
func (s *Server) Client() *http.Client { return &http.Client{Transport: inMemory{s}} }

type inMemory struct{ server *Server }

// RoundTrip implements [http.RoundTripper].
func (m inMemory) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	carried := &carried{}
	if req.Body != nil {
		defer req.Body.Close()
		carried.in, req = req.Body, req.Clone(req.Context())
		req.Body = carried
	}
	m.server.mutex.Lock()
	down := m.server.down
	m.server.mutex.Unlock()
	if down {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	recorder := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if p != any(http.ErrAbortHandler) {
				panic(p)
			}
			if resp, err = nil, carried.err; err == nil {
				err = io.ErrUnexpectedEOF
			}
		}
	}()
	m.server.ServeHTTP(recorder, req)
	if carried.err != nil {
		return nil, carried.err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	resp = recorder.Result()
	resp.Request = req
	return resp, nil
}

// carried is the body of a request. A request whose body breaks off has no answer.
type carried struct {
	in  io.ReadCloser
	err error
}

func (c *carried) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (c *carried) Close() error { return nil }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	down := s.down
	s.mutex.Unlock()
	if down {
		panic(http.ErrAbortHandler)
	}
	file := strings.HasPrefix(r.URL.Path, "/file/bot")
	rest := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/file"), "/bot")
	token, name, ok := strings.Cut(rest, "/")
	number, _, shaped := strings.Cut(token, ":")
	if _, err := strconv.ParseInt(number, 10, 64); !ok || !shaped || err != nil {
		reply(w, Outcome{Code: http.StatusNotFound, Description: "Not Found"})
		return
	}
	s.mutex.Lock()
	valid := token == Token && !s.revoked
	s.mutex.Unlock()
	if !valid {
		reply(w, Outcome{Code: http.StatusUnauthorized, Description: "Unauthorized"})
		return
	}
	if file {
		s.serveFile(w, name)
		return
	}
	s.serveMethod(w, r, name)
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request, name string) {
	s.mutex.Lock()
	s.calls[name]++
	var outcome Outcome
	if waiting := s.outcomes[name]; len(waiting) > 0 {
		outcome, s.outcomes[name] = waiting[0], waiting[1:]
	}
	s.mutex.Unlock()
	if outcome.Code != 0 || outcome.Body != "" {
		_, _ = io.Copy(io.Discard, r.Body)
		reply(w, outcome)
		return
	}
	m, ok := methods[name]
	if !ok {
		reply(w, Outcome{Code: http.StatusNotFound, Description: "Not Found"})
		return
	}
	c, err := readCall(r, m)
	if _, broken := io.Copy(io.Discard, r.Body); broken != nil { // half a request is none
		panic(http.ErrAbortHandler)
	}
	if err == nil && name == "getUpdates" {
		s.getUpdates(w, r, c)
		return
	}
	var result any
	if err == nil {
		s.mutex.Lock()
		result, err = m.do(s, c)
		s.tell()
		s.mutex.Unlock()
	}
	if outcome.Lost {
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		o, moved := outcomeOf(err)
		reply(w, o, moved)
		return
	}
	succeed(w, result)
}

func (s *Server) serveFile(w http.ResponseWriter, path string) {
	s.mutex.Lock()
	s.calls["file"]++
	data, ok := s.files[strings.TrimPrefix(path, "documents/")]
	s.mutex.Unlock()
	if !ok || !strings.HasPrefix(path, "documents/") {
		reply(w, Outcome{Code: http.StatusNotFound, Description: "Not Found"})
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

// problem is a refusal.
type problem struct {
	outcome Outcome
	moved   int64
}

func (p *problem) Error() string { return p.outcome.Description }

func badRequest(format string, args ...any) error {
	return &problem{outcome: Outcome{Code: http.StatusBadRequest, Description: "Bad Request: " + fmt.Sprintf(format, args...)}}
}

func outcomeOf(err error) (Outcome, int64) {
	if p := (*problem)(nil); errors.As(err, &p) {
		return p.outcome, p.moved
	}
	return Outcome{Code: http.StatusInternalServerError, Description: "Internal Server Error: " + err.Error()}, 0
}

func reply(w http.ResponseWriter, o Outcome, moved ...int64) {
	if o.Body != "" {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(o.Code)
		_, _ = io.WriteString(w, o.Body)
		return
	}
	body := map[string]any{"ok": false, "error_code": o.Code, "description": o.Description}
	if o.RetryAfter != 0 {
		body["parameters"] = map[string]any{"retry_after": o.RetryAfter}
	}
	if len(moved) > 0 && moved[0] != 0 {
		body["parameters"] = map[string]any{"migrate_to_chat_id": moved[0]}
	}
	write(w, o.Code, body)
}

func succeed(w http.ResponseWriter, result any) {
	write(w, http.StatusOK, map[string]any{"ok": true, "result": result})
}

func write(w http.ResponseWriter, code int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(`{"ok":false,"error_code":500,"description":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

// tell wakes up whoever waits for a change. The mutex is held.
func (s *Server) tell() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// onChange returns what is closed at the next change. The mutex is held.
func (s *Server) onChange() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

func (s *Server) set(change func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	change()
	s.tell()
}

// Fail says how the next calls of a method end.
func (s *Server) Fail(method string, outcomes ...Outcome) {
	s.set(func() { s.outcomes[method] = append(s.outcomes[method], outcomes...) })
}

// Down takes the server away, or brings it back.
func (s *Server) Down(down bool) { s.set(func() { s.down = down }) }

// Revoke has the token end, for good.
func (s *Server) Revoke() { s.set(func() { s.revoked = true }) }

// Webhook says that the bot's updates are sent to a webhook of somebody.
func (s *Server) Webhook(on bool) { s.set(func() { s.webhook = on }) }

// Calls returns how often a method was called, "file" for files that were fetched.
func (s *Server) Calls(method string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.calls[method]
}

// Wait waits until done, at most ten seconds.
func (s *Server) Wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		s.mutex.Lock()
		changed := s.onChange()
		s.mutex.Unlock()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("telegramtest: waited in vain for %s", what)
		}
	}
}
