package llmtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"
)

// OllamaModel is the model of a server that [StartOllama] starts.
const OllamaModel = "test-model:8b"

// StartOllama is like [Start], for a server that behaves as Ollama does and has [OllamaModel].
func StartOllama(t testing.TB, ollama Ollama, exchanges ...Exchange) *Server {
	t.Helper()
	server, err := Listen("127.0.0.1:0", ServerScript{Models: []string{OllamaModel}, Ollama: &ollama, Exchanges: exchanges}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// Ollama makes a Server behave as Ollama does: it lists no windows, answers GET /api/ps and POST /api/show beside
// the protocol, loads a model with its first completion, and leaves out the oldest messages of a request that
// is longer than the window, without an error. It names its models with tags, as "qwen3:8b".
type Ollama struct {
	// Context is the window of loaded models in tokens, as OLLAMA_CONTEXT_LENGTH sets it.
	Context int `json:"context"`
	// Untold leaves the window out of /api/ps, as old versions do.
	Untold bool `json:"untold"`
	// Loaded has the models that are loaded from the beginning.
	Loaded []string `json:"loaded"`
	// Parameters are the parameters of every model, a line each, and Trained is the window for which it was
	// trained. RemoteHost is where it runs, if it is elsewhere.
	Parameters string `json:"parameters"`
	Trained    int    `json:"trained"`
	RemoteHost string `json:"remote_host"`
	// Delay passes before an answer about models. Body, if it is set, is sent in place of one.
	Delay Duration `json:"delay"`
	Body  string   `json:"body"`
}

// tell answers a question about models. It reports whether the path is one of Ollama's own.
func (s *Server) tell(w http.ResponseWriter, r *http.Request) bool {
	method, answer := "", s.show
	switch r.URL.Path {
	case "/api/ps":
		method, answer = http.MethodGet, s.running
	case "/api/show":
		method = http.MethodPost
	}
	switch {
	case s.ollama == nil || method == "":
		return false
	case r.Method != method:
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
		return true
	case wait(r.Context(), time.Duration(s.ollama.Delay)) != nil:
		return true
	}
	status, value := answer(r)
	if s.ollama.Body != "" && status == http.StatusOK {
		_, _ = io.WriteString(w, s.ollama.Body) // if the client has left, nobody needs it
		return true
	}
	writeJSON(w, status, value)
	return true
}

// running answers /api/ps.
func (s *Server) running(*http.Request) (status int, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	models := []map[string]any{}
	for _, name := range s.loaded {
		model := map[string]any{"name": name, "model": name, "size": 1, "digest": "0", "expires_at": "2030-01-01T00:00:00Z", "size_vram": 0}
		if !s.ollama.Untold {
			model["context_length"] = s.ollama.Context
		}
		models = append(models, model)
	}
	return http.StatusOK, map[string]any{"models": models}
}

// show answers /api/show.
func (s *Server) show(r *http.Request) (status int, value any) {
	refused := func(status int, message string) (int, any) { return status, map[string]string{"error": message} }
	var asked struct{ Model, Name string }
	switch err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, requestLimit)).Decode(&asked); {
	case errors.Is(err, io.EOF):
		return refused(http.StatusBadRequest, "missing request body")
	case err != nil:
		return refused(http.StatusBadRequest, err.Error())
	case asked.Model == "" && asked.Name == "":
		return refused(http.StatusBadRequest, "model is required")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := cmp.Or(asked.Model, asked.Name); !slices.Contains(s.models, name) {
		return refused(http.StatusNotFound, fmt.Sprintf("model '%s' not found", name))
	}
	info := map[string]any{"general.architecture": "test", "general.parameter_count": 8_000_000_000}
	if s.ollama.Trained > 0 {
		info["test.context_length"] = s.ollama.Trained
	}
	shown := map[string]any{"license": "none", "template": "{{ .Prompt }}", "parameters": s.ollama.Parameters, "model_info": info, "capabilities": []string{"completion"}}
	if s.ollama.RemoteHost != "" {
		shown["remote_host"], shown["remote_model"] = s.ollama.RemoteHost, "elsewhere"
	}
	return http.StatusOK, shown
}

// load loads the model of a completion.
func (s *Server) load(received Received) {
	var body struct{ Model string }
	if s.ollama == nil || s.ollama.RemoteHost != "" || json.Unmarshal(received.Body, &body) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.loaded, body.Model) {
		s.loaded = append(s.loaded, body.Model)
	}
}

// read returns the tokens that the model is shown of the messages, one for every four bytes. The oldest are left
// out if they are too long, except what the system says and the last one.
func (o *Ollama) read(messages []Message) int {
	total := 0
	for _, m := range messages {
		total += tokens(m)
	}
	if o == nil || o.Context == 0 {
		return total
	}
	for i, m := range messages {
		if total > o.Context && m.Role != "system" && i < len(messages)-1 {
			total -= tokens(m)
		}
	}
	return min(total, o.Context)
}

func tokens(m Message) int { return (len(m.Content) + 3) / 4 }
