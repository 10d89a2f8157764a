package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// model is a server of models whose replies an attacker decides.
type model struct {
	server *httptest.Server

	mu      sync.Mutex
	replies map[string]string        // by the word that a message consists of
	endless map[string]func() string // replies without an end: the next piece of each
	seen    strings.Builder          // all that it was sent
}

func startModel() *model {
	m := &model{replies: map[string]string{}, endless: map[string]func() string{}}
	m.server = httptest.NewServer(http.HandlerFunc(m.answer))
	return m
}

// say has the model answer a word.
func (m *model) say(word, reply string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies[word] = reply
}

// told returns what the model was sent since the last time.
func (m *model) told() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := m.seen.String()
	m.seen.Reset()
	return text
}

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		Messages []struct{ Content string }
	}
	if err != nil || json.Unmarshal(body, &request) != nil || len(request.Messages) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	last := strings.TrimSpace(request.Messages[len(request.Messages)-1].Content)
	word := last[strings.LastIndexAny(last, " \n")+1:]
	m.mu.Lock()
	m.seen.Write(body)
	reply, endless := m.replies[word], m.endless[word]
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for endless != nil && r.Context().Err() == nil {
		if _, err := io.WriteString(w, endless()); err != nil {
			return
		}
	}
	if reply == "" {
		reply = "Yes."
	}
	fmt.Fprint(w, event("content", reply)+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// event is a piece of a stream.
func event(field, text string) string {
	encoded, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{field: text}}}})
	if err != nil {
		panic(err) // a text always has an encoding
	}
	return "data: " + string(encoded) + "\n\n"
}
