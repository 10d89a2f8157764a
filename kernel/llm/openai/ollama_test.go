package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// TestWindowOfOllama: Ollama lists no windows. It says which one a loaded model has, and which one a model sets for
// itself, in the order of what it goes by.
func TestWindowOfOllama(t *testing.T) {
	loaded := []string{llmtest.OllamaModel}
	for name, c := range map[string]struct {
		server llmtest.Ollama
		want   int
		class  llm.Class
	}{
		"loaded":               {llmtest.Ollama{Loaded: loaded, Context: 4096, Trained: 131_072, Parameters: "num_ctx 16384"}, 4096, ""},
		"another loaded":       {llmtest.Ollama{Loaded: []string{"other:8b"}, Context: 4096, Trained: 131_072}, 0, llm.ClassLoading},
		"none loaded":          {llmtest.Ollama{Context: 4096, Trained: 131_072}, 0, llm.ClassLoading},
		"set":                  {llmtest.Ollama{Parameters: "stop                           \"<|im_end|>\"\nnum_ctx                        16384\ntemperature                    0.6", Trained: 131_072}, 16_384, ""},
		"set to more than fit": {llmtest.Ollama{Parameters: "num_ctx 65536", Trained: 40_960}, 40_960, ""},
		"set to a million":     {llmtest.Ollama{Parameters: "num_ctx 1.048576e+06"}, 1_048_576, ""},
		"set oddly":            {llmtest.Ollama{Parameters: "num_ctx lots\nnum_ctx\nnum_ctx -1\nnum_ctx 1e300\nnum_ctx NaN\nmy_num_ctx 9"}, 0, llm.ClassLoading},
		"old, loaded":          {llmtest.Ollama{Loaded: loaded, Context: 4096, Untold: true, Trained: 131_072}, 0, ""},
		"old, loaded and set":  {llmtest.Ollama{Loaded: loaded, Context: 4096, Untold: true, Parameters: "num_ctx 8192"}, 8192, ""},
		"elsewhere":            {llmtest.Ollama{RemoteHost: "https://ollama.example", Trained: 131_072}, 131_072, ""},
		"no JSON":              {llmtest.Ollama{Body: "Ollama is running"}, 0, llm.ClassProtocol},
		"other JSON":           {llmtest.Ollama{Body: `{"models":7,"parameters":[]}`}, 0, llm.ClassProtocol},
		"no models":            {llmtest.Ollama{Body: `{}`}, 0, llm.ClassProtocol},
		"an odd window":        {llmtest.Ollama{Body: `{"models":[{"model":"test-model:8b","context_length":"lots"}],"parameters":"num_ctx 7000"}`}, 7000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.StartOllama(t, c.server)
			got, err := provider(t, nil, llm.ServerConfig{BaseURL: server.URL()}).Window(t.Context(), llmtest.OllamaModel)
			if got != c.want || llm.ClassOf(err) != c.class {
				t.Errorf("it is %d, %v", got, err)
			}
		})
	}
}

// A model that was not loaded has a window once it has answered. It may be named without the tag "latest".
func TestWindowOfOllamaOnceItHasAnswered(t *testing.T) {
	server := llmtest.StartOllama(t, llmtest.Ollama{Context: 4096}, llmtest.Exchange{Reply: "yes"})
	server.SetModels("qwen3:latest", "qwen3:8b")
	p := provider(t, nil, llm.ServerConfig{BaseURL: server.URL()})
	if got, err := p.Window(t.Context(), "qwen3"); got != 0 || llm.ClassOf(err) != llm.ClassLoading {
		t.Fatalf("it is %d, %v", got, err)
	}
	if _, err := llm.Collect(p.Stream(t.Context(), llm.Request{Model: "qwen3:latest", Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}})); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]int{"qwen3": 4096, "Qwen3:latest": 4096, "qwen3:8b": 0, "qwen4": 0} {
		if got, _ := p.Window(t.Context(), model); got != want {
			t.Errorf("%s: it is %d", model, got)
		}
	}
}

// Only a server that lists its models as Ollama does is asked as Ollama is, and none is waited for longer than the
// caller wants.
func TestWindowOfAnotherServer(t *testing.T) {
	for listed, ollama := range map[string]bool{
		`{"id":"gpt-4o","owned_by":"system"}`:                              false,
		`{"id":"ft:gpt-4o:me","owned_by":"me"}`:                            false,
		`{"id":"qwen3:8b","owned_by":"vllm"}`:                              false,
		`{"id":"qwen3","owned_by":"library"}`:                              false,
		`{"id":"qwen3:8b","owned_by":"library","context_length":9000}`:     false,
		`{"id":"qwen3:8b","owned_by":"library"}`:                           true,
		`{"id":"me/mine:latest","owned_by":"me"}`:                          true,
		`{"id":"hf.co/me/mine:Q8_0","owned_by":"me"}`:                      true,
		`{"id":"localhost:5000/me/mine","owned_by":"me"}`:                  false,
		`{"id":"registry.example:5000/me/mine:latest","owned_by":"me"}`:    true,
		`{"id":"registry.example:5000/me/mine:latest","owned_by":"other"}`: false,
	} {
		asked := false
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/models") {
				io.WriteString(w, `{"data":[`+listed+`]}`)
				return
			}
			if asked = true; r.URL.Path != "/base/api/ps" {
				t.Errorf("it is asked for %s", r.URL)
			}
			w.WriteHeader(http.StatusNotFound)
		}))
		_, err := provider(t, nil, llm.ServerConfig{BaseURL: server.URL + "/base/v1"}).Window(t.Context(), "")
		if server.Close(); asked != ollama || (err != nil) != ollama {
			t.Errorf("%s: asked is %v, %v", listed, asked, err)
		}
	}
	slow := llmtest.StartOllama(t, llmtest.Ollama{Delay: llmtest.Duration(time.Hour)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := provider(t, nil, llm.ServerConfig{BaseURL: slow.URL()}).Window(ctx, ""); got != 0 || err == nil {
		t.Errorf("it is %d, %v", got, err)
	}
}
