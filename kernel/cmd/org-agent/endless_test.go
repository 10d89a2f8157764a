package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// endlessReplies are replies without an end, by the word that asks for each. A function returns the next
// event of a stream. No text repeats itself, because the kernel would stop such a text sooner.
func endlessReplies() map[string]func() string {
	words := func(size int) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(fmt.Sprintf("%x ", rand.Uint32()))
		}
		return b.String()
	}
	event := func(field, text string) string {
		encoded, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{field: text}}}})
		return "data: " + string(encoded) + "\n\n"
	}
	begun := map[string]bool{}
	once := func(name, first, rest string) string {
		if !begun[name] {
			begun[name] = true
			return first
		}
		return rest
	}
	return map[string]func() string{
		"prose":       func() string { return event("content", words(100_000)) },
		"pieces":      func() string { return event("content", words(500)) },
		"thoughts":    func() string { return event("reasoning_content", words(20_000)) },
		"tags":        func() string { return event("content", once("tags", "<think>", words(20_000))) },
		"characters":  func() string { return event("content", strings.ReplaceAll(words(20_000), " ", "\x00\u202e🙂")) },
		"lines":       func() string { return event("content", strings.ReplaceAll(words(20_000), " ", "\n")) },
		"headings":    func() string { return event("content", strings.ReplaceAll(words(20_000), " ", "\n* ")) },
		"table":       func() string { return event("content", strings.ReplaceAll(words(20_000), " ", "|\n|")) },
		"fences":      func() string { return event("content", strings.ReplaceAll(words(20_000), " ", "\n```\n")) },
		"parentheses": func() string { return event("content", strings.ReplaceAll(words(20_000), " ", "(")) },
		"escapes": func() string {
			return event("content", once("escapes", `(:type :request :text "`, strings.ReplaceAll(words(20_000), " ", `\"`)))
		},
		"proposal": func() string {
			return event("content", once("proposal", `(:type :request :target :action :action :insert :text "`, words(20_000)))
		},
		"proposals": func() string {
			return event("content", strings.ReplaceAll(words(5_000), " ", `(:type :request :target :tool :action :call :tool "glob") `))
		},
		"object": func() string {
			return once("object", `{"choices":[{"index":0,"message":{"content":"`, "") + words(100_000)
		},
		"line":    func() string { return once("line", "data: ", "") + strings.Repeat("x", 100_000) },
		"silence": func() string { return strings.Repeat(": keep-alive\n\n", 5_000) + event("content", "") },
		"choices": func() string {
			return `data: {"choices":[` + strings.Repeat(`{"index":1,"delta":{"content":"x"}},`, 20) + `{"index":0,"delta":{"content":"` + words(200) + `"}}]}` + "\n\n"
		},
	}
}

// startEndless is the script command "endless". It starts a server whose replies never end, and sets the
// environment variables that make it the kernel's model. The last word of a message says which of
// [endlessReplies] it gets. Any other message is answered with "Yes.".
func startEndless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: endless")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Messages []struct{ Content string }
		}
		if json.NewDecoder(r.Body).Decode(&request) != nil || len(request.Messages) == 0 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		words := strings.Fields(request.Messages[len(request.Messages)-1].Content)
		next, found := endlessReplies()[words[len(words)-1]]
		if !found {
			fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, next()); err != nil {
				return
			}
		}
	}))
	ts.Defer(server.Close)
	useModel(ts, server.URL)
}

// useModel makes the server at an address the kernel's model.
func useModel(ts *testscript.TestScript, address string) {
	ts.Setenv("ORG_AGENT_LLM", "")
	ts.Setenv("ORG_AGENT_LLM_BASE_URL", address)
	ts.Setenv("ORG_AGENT_LLM_MODEL", "test-model")
}
