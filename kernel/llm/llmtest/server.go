package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/llm"
)

// requestLimit is the maximum size of a request in bytes.
const requestLimit = 16 << 20

// Server is a local HTTP server that answers as its script says. Completions are asked for in any of
// the protocols of [wires]; the rest is OpenAI's API: POST /embeddings, /audio/transcriptions and
// /audio/speech, and GET /models, below any path.
type Server struct {
	trace     io.Writer
	cache     cache
	listener  net.Listener
	http      *http.Server
	serving   sync.WaitGroup
	stop      context.CancelFunc
	mu        sync.Mutex // guards what follows, and the writing of trace
	models    []string
	bound     bool
	thinks    bool
	ollama    *Ollama  // does not change; nil for another server
	loaded    []string // the models that Ollama has loaded
	alike     [][]string
	exchanges remaining
	requests  []Received
	left      int
	took      time.Duration
}

// remaining has the exchanges of a script that are not used up.
type remaining struct{ completions, transcriptions, voices, embeddings []Exchange }

// Received is a request. The Body of a request with a recording is its form, with the recording's
// name, size and hash.
type Received struct {
	Path, Query string
	Header      http.Header
	Body        json.RawMessage
	// Prompt is how many bytes the tools, the system prompt and the messages have, and Cached is how many of
	// them the server had kept from earlier requests. They are 0 for a protocol that does not say what is to
	// be kept.
	Prompt, Cached int

	bound    bool      // see [ServerScript].Bound
	thinks   bool      // see [ServerScript].Thinks
	messages []Message // of a request for a reply, whose body is read once
}

// Message is one message of a request. Content is its text, and Images are its images as data URLs.
type Message struct {
	Role, Content string
	Images        []string
}

// UnmarshalJSON reads a message whose content is a string or a list of parts.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	m.Role = raw.Role
	var parts []struct {
		Type, Text string
		Image      struct{ URL string } `json:"image_url"`
		Source     struct {
			Media string `json:"media_type"`
			Data  string
		}
		Content json.RawMessage // of a result
	}
	if len(raw.Content) == 0 { // beside calls
		return nil
	}
	if json.Unmarshal(raw.Content, &parts) != nil {
		return json.Unmarshal(raw.Content, &m.Content)
	}
	for _, part := range parts {
		switch part.Type {
		case "text":
			m.Content += part.Text
		case "image_url":
			m.Images = append(m.Images, part.Image.URL)
		case "image":
			m.Images = append(m.Images, "data:"+part.Source.Media+";base64,"+part.Source.Data)
		case "tool_result":
			var text string
			if json.Unmarshal(part.Content, &text) == nil {
				m.Content += text
			}
		}
	}
	return nil
}

// Messages returns the request's messages without the times before them.
func (r Received) Messages() []Message {
	messages := r.Whole()
	for i := range messages {
		messages[i].Content = llm.Unstamped(messages[i].Content)
	}
	return messages
}

// Whole returns the request's messages with the times before them.
func (r Received) Whole() []Message {
	if r.messages != nil {
		return slices.Clone(r.messages)
	}
	if messages := r.inputMessages(); messages != nil {
		return messages
	}
	var body struct {
		Messages []Message `json:"messages"`
	}
	if json.Unmarshal(r.Body, &body) != nil {
		return nil
	}
	return body.Messages
}

// Listen starts a server at an address; "127.0.0.1:0" is any free port. Close ends it. If trace is
// not nil, it gets the body of every request, one JSON value on each line, in the order of the
// requests.
func Listen(address string, script ServerScript, trace io.Writer) (*Server, error) {
	var exchanges remaining
	for _, of := range []struct {
		list *[]Exchange
		from []Exchange
	}{{&exchanges.completions, script.Exchanges}, {&exchanges.transcriptions, script.Transcriptions}, {&exchanges.voices, script.Voices}, {&exchanges.embeddings, script.Embeddings}} {
		var err error
		if *of.list, err = compile(of.from); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for model requests: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server := &Server{trace: trace, bound: script.Bound, thinks: script.Thinks, ollama: script.Ollama, listener: listener, models: script.Models, alike: script.Alike, exchanges: exchanges, stop: stop}
	if script.Ollama != nil {
		server.loaded = slices.Clone(script.Ollama.Loaded)
	}
	if len(server.models) == 0 {
		server.models = []string{"test-model"}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", server.handle)
	server.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	server.serving.Go(func() {
		// Serve always returns an error; ErrServerClosed is the expected one.
		if err := server.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("llmtest: serve: %v", err))
		}
	})
	return server, nil
}

// URL returns the base URL for a provider.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close ends all requests and waits until the server has ended.
func (s *Server) Close() {
	s.stop()
	s.http.Close()
	s.serving.Wait()
}

// Requests returns the requests so far in their order, without those for the list of models.
func (s *Server) Requests() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Bind makes the server refuse thoughts if anything before them has changed; see [ServerScript].Bound.
func (s *Server) Bind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bound = true
}

func (s *Server) binds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

// SetModels changes what GET /models lists.
func (s *Server) SetModels(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = names
}

// Abandoned returns the number of replies that were not sent whole because the client left. A
// client that leaves after the last delta does not count: whether the end of the stream still
// reaches it is chance.
func (s *Server) Abandoned() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	for _, wire := range wires() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, wire.path) {
			s.complete(w, r, wire)
			return
		}
		if r.Method == http.MethodGet && wire.list != nil && wire.list(s, w, r) {
			return
		}
	}
	switch {
	case s.tell(w, r):
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		s.listModels(w)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/embeddings"):
		s.embed(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/audio/transcriptions"):
		s.transcribe(w, r)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/audio/speech"):
		s.speak(w, r)
	default:
		refuse(w, http.StatusNotFound, "nothing is served at "+r.URL.Path)
	}
}

// listModels answers GET /models.
func (s *Server) listModels(w http.ResponseWriter) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
		Owner  string `json:"owned_by,omitempty"`
	}
	owner := ""
	if s.ollama != nil {
		owner = "library"
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list", Data: []model{}}
	s.mu.Lock()
	models := slices.Clone(s.models)
	s.mu.Unlock()
	for _, id := range models {
		list.Data = append(list.Data, model{ID: id, Object: "model", Owner: owner})
	}
	writeJSON(w, http.StatusOK, list)
}

// complete answers a completion request with the exchange that is for it.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, wire wire) {
	defer s.count(time.Now())
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestLimit))
	if err != nil || !json.Valid(body) {
		wire.refuse(w, http.StatusBadRequest, "the request is not JSON")
		return
	}
	received := receive(r, body)
	received.bound, received.thinks = s.binds(), s.thinks
	if err := wire.check(received); err != nil {
		wire.refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	received.messages = received.Whole()
	earlier := s.Requests()
	var counted cached
	if wire.prefixes != nil {
		counted = s.cache.count(wire.prefixes(received))
		received.Prompt, received.Cached = counted.read+counted.created+counted.fresh, counted.read
	}
	exchange, ok := s.take(s.exchanges.completions, received, received.last())
	if !ok {
		wire.refuse(w, http.StatusBadRequest, "the script has no exchange for this request")
		return
	}
	s.load(received)
	s.play(r.Context(), playback{exchange: exchange, wire: wire, w: w, received: received, earlier: earlier, cached: counted, ollama: s.ollama})
}

// Took returns the total time of the completions, each from its request until its reply was sent.
func (s *Server) Took() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took
}

// count adds the time of a completion that ends now.
func (s *Server) count(begun time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took += time.Since(begun)
}

// receive returns a request with its body.
func receive(r *http.Request, body json.RawMessage) Received {
	return Received{Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}
}

// play answers a request, and counts a client that left before the end.
func (s *Server) play(ctx context.Context, play playback) {
	if err := play.run(ctx); err != nil && !play.sentWhole {
		s.mu.Lock()
		s.left++
		s.mu.Unlock()
	}
}

// take records a request and uses an exchange of the list that fits its text. mu guards the
// elements of the list.
func (s *Server) take(list []Exchange, received Received, text string) (Exchange, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, received)
	if s.trace != nil {
		var line bytes.Buffer
		// The body is JSON, which was checked, so it can be compacted to a line.
		_ = json.Compact(&line, received.Body)
		line.WriteByte('\n')
		// A failed write shows as a missing line of the trace.
		_, _ = line.WriteTo(s.trace)
	}
	said := received.said()
	for i := range list {
		if exchange := &list[i]; exchange.fits(text, said) {
			exchange.used++
			return *exchange, true
		}
	}
	return Exchange{}, false
}

// last returns the content of the request's last message.
func (r Received) last() string {
	messages := r.Messages()
	if len(messages) == 0 {
		return ""
	}
	return messages[len(messages)-1].Content
}

// said returns the content of the request's last message of the model.
func (r Received) said() string {
	for _, m := range slices.Backward(r.Messages()) {
		if m.Role == "assistant" {
			return m.Content
		}
	}
	return ""
}

// refuse answers with an error in OpenAI's form.
func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error"}})
}

// writeJSON answers with a value. If the client has left, the error is ignored.
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// Start starts a server at a free port for a test, which closes it when it ends.
func Start(t testing.TB, exchanges ...Exchange) *Server {
	t.Helper()
	server, err := Listen("127.0.0.1:0", ServerScript{Exchanges: exchanges}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}
