package route_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// Ollama says which window a model has once the model is loaded, which its first answer does. Until then it is asked
// again each time.
func TestWindowOfOllama(t *testing.T) {
	server := llmtest.StartOllama(t, llmtest.Ollama{Context: 4096}, llmtest.Exchange{Reply: "yes"})
	r := router(t, "* Models\n"+heading("local", server.URL(), ":MODEL: "+llmtest.OllamaModel+"\n"), drivers())
	for range 2 {
		if w := r.Window(t.Context(), "", true); w.Tokens != 0 || w.Source != "" {
			t.Errorf("before an answer the window is %+v", w)
		}
	}
	if _, err := llm.Collect(r.Stream(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}})); err != nil {
		t.Fatal(err)
	}
	if w := r.Window(t.Context(), "", false); w.Tokens != 0 {
		t.Errorf("without being asked the window is %+v", w)
	}
	if w := r.Window(t.Context(), "", true); w.Tokens != 4096 || w.Source != "its server" {
		t.Errorf("the window is %+v", w)
	}
}

// What a server says now counts for a request that it seems to have cut, not what it has said, nor the settings.
func TestServedWindow(t *testing.T) {
	tokens := 1000
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tokens == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, `{"data":[{"id":"m","context_length":%d}]}`, tokens)
	}))
	defer server.Close()
	models := "* Models\n" + heading("set", server.URL+"/v1", ":MODEL: m\n:WINDOW: 32768\n") + heading("unset", server.URL+"/v1", ":MODEL: m\n")
	r := router(t, models, drivers())
	if w := r.Window(t.Context(), "unset", true); w.Tokens != 1000 {
		t.Fatalf("the window is %+v", w)
	}
	tokens = 2000
	if w := r.Window(t.Context(), "unset", true); w.Tokens != 1000 {
		t.Errorf("it is asked again for %+v", w)
	}
	for _, tokens = range []int{3000, 4000} {
		for _, name := range []string{"", "set", "unset"} {
			if got := r.ServedWindow(t.Context(), name); got != tokens {
				t.Errorf("%q is served with %d", name, got)
			}
		}
	}
	if w, set := r.Window(t.Context(), "unset", false), r.Window(t.Context(), "set", false); w.Tokens != 4000 || set.Tokens != 32_768 {
		t.Errorf("the windows are %+v and %+v", w, set)
	}
	tokens = 0
	if got := r.ServedWindow(t.Context(), "unset"); got != 4000 {
		t.Errorf("a server that says nothing now serves %d", got)
	}
	if got := r.ServedWindow(t.Context(), "none"); got != 0 {
		t.Errorf("a model that there is not is served with %d", got)
	}
}

// TestWindowOfATurnThatEnded: a turn that was stopped while a server was asked leaves no answer. The next one asks again.
func TestWindowOfATurnThatEnded(t *testing.T) {
	asked := make(chan context.CancelFunc, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case stop := <-asked:
			stop()
			<-r.Context().Done()
		default:
			fmt.Fprint(w, `{"data":[{"id":"m","context_length":1000}]}`)
		}
	}))
	defer server.Close()
	r := router(t, "* Models\n"+heading("far", server.URL+"/v1", ":MODEL: m\n"), drivers())
	stopped, stop := context.WithCancel(t.Context())
	asked <- stop
	if w := r.Window(stopped, "", true); w.Tokens != 0 {
		t.Errorf("the window that nobody waited for is %+v", w)
	}
	if w := r.Window(t.Context(), "", true); w.Tokens != 1000 {
		t.Errorf("afterwards the window is %+v", w)
	}
}
