package anthropic_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/anthropic"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/secret"
)

// offered returns a request that offers functions.
func offered() llm.Request {
	request := llmtest.Hello()
	request.Tools = []llm.Tool{{Name: "read", Description: "reads"}, {Name: "grep it!", Schema: func() any {
		return map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "array"}, "ok?": map[string]any{}}, "required": []string{"x", "ok?"},
			"anyOf": []any{map[string]any{"required": []string{"x"}}}}
	}}}
	return request
}

// TestFields checks what a server is sent, by model and settings.
func TestFields(t *testing.T) {
	warm := 0.5
	adaptive := map[string]any{"type": "adaptive", "display": "summarized"}
	manual := map[string]any{"type": "enabled", "budget_tokens": 2048.0}
	for name, c := range map[string]struct {
		config llm.ServerConfig
		model  string
		change func(*llm.Request)
		want   map[string]any // nil: the field is not there
	}{
		"plain":      {want: map[string]any{"max_tokens": 32000.0, "stream": true, "temperature": nil, "thinking": nil, "output_config": nil, "stop_sequences": nil, "tools": nil}},
		"as asked":   {change: func(r *llm.Request) { r.Temperature, r.MaxTokens, r.Stop = &warm, 7, []string{"END"} }, want: map[string]any{"temperature": 0.5, "max_tokens": 7.0, "stop_sequences": []any{"END"}}},
		"no grammar": {change: func(r *llm.Request) { r.Grammar = "root ::= \"x\"" }, want: map[string]any{"grammar": nil}},
		"schema": {config: llm.ServerConfig{Effort: "high"}, model: "claude-opus-4-6", change: func(r *llm.Request) {
			r.Schema = func(unions int) json.RawMessage {
				return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"at_most_%d":{"type":"string"}},"required":["at_most_%[1]d"],"additionalProperties":false}`, unions))
			}
		}, want: map[string]any{"output_config": map[string]any{"effort": "high", "format": map[string]any{"type": "json_schema", "schema": map[string]any{
			"type": "object", "properties": map[string]any{"at_most_16": map[string]any{"type": "string"}}, "required": []any{"at_most_16"}, "additionalProperties": false}}}}},
		"old model":   {model: "claude-3-5-haiku-20241022", want: map[string]any{"max_tokens": 8192.0}},
		"older model": {model: "claude-3-haiku-20240307", want: map[string]any{"max_tokens": 4096.0}},
		"effort":      {config: llm.ServerConfig{Effort: "high"}, model: "claude-opus-4-6", want: map[string]any{"output_config": map[string]any{"effort": "high"}, "thinking": adaptive}},
		"effort before there was adaptive thinking": {config: llm.ServerConfig{Effort: "low"}, model: "claude-opus-4-5-20251101", want: map[string]any{"output_config": map[string]any{"effort": "low"}, "thinking": nil}},
		"effort of another's model":                 {config: llm.ServerConfig{Effort: "low"}, model: "qwen3", want: map[string]any{"output_config": map[string]any{"effort": "low"}, "thinking": nil}},
		"no effort":                                 {config: llm.ServerConfig{Effort: "none"}, model: "claude-opus-5", want: map[string]any{"output_config": nil, "thinking": map[string]any{"type": "disabled"}}},
		"temperature beside thoughts":               {config: llm.ServerConfig{Effort: "high"}, model: "claude-sonnet-4-6", change: func(r *llm.Request) { r.Temperature = &warm }, want: map[string]any{"temperature": nil}},
		"temperature of a model that has none":      {model: "claude-opus-4-7", change: func(r *llm.Request) { r.Temperature = &warm }, want: map[string]any{"temperature": nil}},
		"temperature of a dated model":              {model: "claude-sonnet-4-20250514", change: func(r *llm.Request) { r.Temperature = &warm }, want: map[string]any{"temperature": 0.5}},
		"fields of the person": {config: llm.ServerConfig{Effort: "high", Body: map[string]any{"thinking": manual, "top_k": 3.0}}, model: "claude-opus-5",
			change: func(r *llm.Request) { r.Temperature = &warm }, want: map[string]any{"thinking": manual, "top_k": 3.0, "temperature": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			request := llmtest.Hello()
			if c.model != "" {
				request.Model = c.model
			}
			if c.change != nil {
				c.change(&request)
			}
			got := sent(t, c.config, request)
			for field, want := range c.want {
				if !reflect.DeepEqual(got[field], want) {
					t.Errorf("%s is %v, not %v", field, got[field], want)
				}
			}
			if got["model"] != request.Model {
				t.Errorf("the model is %v", got["model"])
			}
		})
	}
}

// TestHeaders checks the headers, the key and the query, and that nothing is taken from the environment.
func TestHeaders(t *testing.T) {
	for name, value := range map[string]string{"ANTHROPIC_API_KEY": "sk-of-the-environment", "ANTHROPIC_AUTH_TOKEN": "token-of-the-environment",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_CUSTOM_HEADERS": "X-Environment: yes"} {
		t.Setenv(name, value)
	}
	server := llmtest.Start(t, llmtest.Exchange{Times: -1, Reply: "x"})
	config := llm.ServerConfig{Key: "sk-key", Query: "beta=true", Headers: map[string]secret.Text{"Anthropic-Beta": "context-1m"}}
	if _, err := llmtest.Ask(t, provider(t, server, config), llmtest.Hello()); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0]
	for header, want := range map[string]string{"X-Api-Key": "sk-key", "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "context-1m", "User-Agent": "org-agent",
		"Authorization": "", "X-Stainless-Os": "", "X-Environment": ""} {
		if got.Header.Get(header) != want {
			t.Errorf("%s is %q, not %q", header, got.Header.Get(header), want)
		}
	}
	if got.Path != "/v1/messages" || got.Query != "beta=true" {
		t.Errorf("asked %s?%s", got.Path, got.Query)
	}
	if _, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{BaseURL: strings.TrimSuffix(server.URL(), "/v1") + "/"}), llmtest.Hello()); err != nil {
		t.Error(err)
	}
	if got := server.Requests()[1]; got.Header.Get("X-Api-Key") != "" || got.Path != "/v1/messages" {
		t.Errorf("asked %s with the key %q", got.Path, got.Header.Get("X-Api-Key"))
	}
}

// TestFunctionsAreSent checks the tools, several calls with their results, images and texts, which a strict
// server takes.
func TestFunctionsAreSent(t *testing.T) {
	request := offered()
	call := func(id, arguments string) llm.Call {
		return llm.Call{Function: &llm.FunctionCall{ID: id, Name: "read", Arguments: arguments}}
	}
	one, two, odd := call("functions.read:0", `{"path":"a"}`), call("b", ""), call("c", "no JSON")
	request.Messages = append(request.Messages,
		llm.Message{Role: llm.RoleAssistant, Text: " ", Calls: []llm.Call{one, two, odd}},
		llm.Message{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: one, Text: "what is there"}, {Call: two, Text: "none", Failure: &llm.Failure{Code: "not-found"}}, {Call: odd}}}},
		llm.Message{Role: llm.RoleUser, Text: "Meanwhile", Images: []llm.Image{{Name: "a.png", Media: "image/png", Data: []byte("bytes")}}},
		llm.Message{Role: llm.RoleUser, Text: " \n"},
		llm.Message{Role: llm.RoleAssistant, Text: "So \n"})
	got := sent(t, llm.ServerConfig{}, request)
	encoded, err := json.Marshal([]any{got["tools"], got["messages"]})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`{"description":"reads","input_schema":{"properties":{},"type":"object"},"name":"read"}`,
		`"input_schema":{"properties":{"x":{"type":"array"}},"required":["x"],"type":"object"},"name":"grep_it__`,
		`"input":{"path":"a"},"name":"read","type":"tool_use"},{"id":"b","input":{},"name":"read","type":"tool_use"},{"id":"c","input":{"unreadable":"no JSON"}`,
		`"type":"tool_result"},{"content":"none","is_error":true,"tool_use_id":"b","type":"tool_result"},{"tool_use_id":"c","type":"tool_result"},{"source":{"data":"Ynl0ZXM=","media_type":"image/png","type":"base64"},"type":"image"},{`,
		`"text":"Meanwhile"`, `{"content":[{"text":"So","type":"text"}],"role":"assistant"}`,
	} {
		if !strings.Contains(string(encoded), part) {
			t.Errorf("there is no %s in %s", part, encoded)
		}
	}
}

// What no dialect has rendered is refused before the server is asked.
func TestDialectsAreNeeded(t *testing.T) {
	server := llmtest.Start(t)
	request := llmtest.Hello()
	request.Messages = append(request.Messages, llm.Message{Role: llm.RoleKernel, Text: "a remark"})
	if _, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), request); llm.ClassOf(err) != llm.ClassBadRequest || len(server.Requests()) != 0 {
		t.Errorf("%v", err)
	}
}

// TestModels checks the list of models, the only model, and the context window.
func TestModels(t *testing.T) {
	server := start(t, llmtest.ServerScript{Models: []string{"claude-b", "claude-a"}, Exchanges: []llmtest.Exchange{{Reply: "x"}}})
	model := provider(t, server, llm.ServerConfig{})
	if names, err := model.Models(t.Context()); err != nil || fmt.Sprint(names) != "[claude-a claude-b]" {
		t.Errorf("%v, %v", names, err)
	}
	request := llmtest.Hello()
	request.Model = ""
	if _, err := llmtest.Ask(t, model, request); llm.ClassOf(err) != llm.ClassModel || !strings.Contains(err.Error(), "claude-a, claude-b") {
		t.Errorf("%v", err)
	}
	if window, err := model.Window(t.Context(), "claude-a"); err != nil || window != 200_000 {
		t.Errorf("%d, %v", window, err)
	}
	many := make([]string, 1500)
	for i := range many {
		many[i] = fmt.Sprintf("model-%04d", i)
	}
	server.SetModels(many...)
	if names, err := model.Models(t.Context()); err != nil || len(names) != len(many) {
		t.Errorf("%d models of %d, %v", len(names), len(many), err)
	}
	server.SetModels("claude-b")
	if reply, err := llmtest.Ask(t, model, request); err != nil || reply.Text != "x" {
		t.Errorf("%+v, %v", reply, err)
	}
	if got := body(t, server, 0); got["model"] != "claude-b" || got["max_tokens"] != 32000.0 {
		t.Errorf("the server got %v", got)
	}
}

// The driver makes providers, and says what the protocol has not.
func TestDriver(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: "x"})
	made, err := anthropic.Driver().Open(llm.ServerConfig{Name: "test", BaseURL: server.URL(), Model: "claude-opus-5", Effort: "max", Body: map[string]any{"top_k": 1}})
	if err != nil {
		t.Fatal(err)
	}
	request := llmtest.Hello()
	request.Model = ""
	if reply, err := llmtest.Ask(t, made, request); err != nil || reply.Provider != "test" {
		t.Errorf("%+v, %v", reply, err)
	}
	if got := body(t, server, 0); got["model"] != "claude-opus-5" || got["top_k"] != 1.0 {
		t.Errorf("the server got %v", got)
	}
	if _, err := anthropic.Driver().Open(llm.ServerConfig{GrammarField: "grammar"}); llm.ClassOf(err) != llm.ClassBadRequest || !strings.Contains(err.Error(), "no grammars") {
		t.Errorf("a grammar: %v", err)
	}
	if _, err := anthropic.Driver().Open(llm.ServerConfig{BaseURL: "nowhere"}); llm.ClassOf(err) != llm.ClassBadRequest {
		t.Errorf("no address: %v", err)
	}
}

// Ollama, which has this protocol too, says in its own way what window a model has.
func TestWindowOfOllama(t *testing.T) {
	server := llmtest.StartOllama(t, llmtest.Ollama{Loaded: []string{llmtest.OllamaModel}, Context: 4096, Trained: 131_072})
	if window, err := provider(t, nil, llm.ServerConfig{BaseURL: strings.TrimSuffix(server.URL(), "/v1")}).Window(t.Context(), llmtest.OllamaModel); window != 4096 || err != nil {
		t.Errorf("it is %d, %v", window, err)
	}
	cold := llmtest.StartOllama(t, llmtest.Ollama{Context: 4096})
	if window, err := provider(t, nil, llm.ServerConfig{BaseURL: cold.URL()}).Window(t.Context(), llmtest.OllamaModel); window != 0 || llm.ClassOf(err) != llm.ClassLoading {
		t.Errorf("before it is loaded it is %d, %v", window, err)
	}
}
