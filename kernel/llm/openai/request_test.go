package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/secret"
)

// sent returns the body of the request that a provider makes.
func sent(t *testing.T, config llm.ServerConfig, request llm.Request) map[string]any {
	t.Helper()
	server := llmtest.Start(t, llmtest.Exchange{Reply: "x"})
	if _, err := llm.Collect(provider(t, server, config).Stream(t.Context(), request)); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(server.Requests()[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRequestBody(t *testing.T) {
	zero := 0.0
	full := llm.Request{
		Model: "m", Sections: llm.System("be <brief>"), Temperature: &zero, MaxTokens: 50, Grammar: "root ::= \"x\"", Stop: []string{"\n\n"},
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "a"}, {Role: llm.RoleAssistant}, {Role: llm.RoleAssistant, Text: "b"}, {Role: llm.RoleUser, Text: "c"}},
	}
	got := sent(t, llm.ServerConfig{GrammarField: "grammar", Body: map[string]any{"top_k": 5}}, full)
	want := map[string]any{
		"model": "m", "stream": true, "stream_options": map[string]any{"include_usage": true},
		"temperature": 0.0, "max_tokens": 50.0, "grammar": "root ::= \"x\"", "stop": []any{"\n\n"}, "top_k": 5.0,
		"messages": []any{
			map[string]any{"role": "system", "content": "be <brief>"},
			map[string]any{"role": "user", "content": "a"},
			map[string]any{"role": "assistant", "content": "b"},
			map[string]any{"role": "user", "content": "c"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	bare := sent(t, llm.ServerConfig{}, llm.Request{Model: "m", Grammar: "unused"})
	for _, field := range []string{"temperature", "max_tokens", "grammar", "stop"} {
		if _, ok := bare[field]; ok {
			t.Errorf("%s is sent without need", field)
		}
	}
}

// TestRequestSchema: a reply is held to a JSON Schema where the settings say that the server takes one, and nowhere
// else. The server refuses one that it could not hold it to.
func TestRequestSchema(t *testing.T) {
	schema := `{"additionalProperties":false,"properties":{"text":{"type":"string"}},"required":["text"],"type":"object"}`
	request := llm.Request{Model: "m", Grammar: "root ::= x", Schema: func(unions int) json.RawMessage {
		if unions >= 0 {
			t.Errorf("a bound of %d", unions)
		}
		return json.RawMessage(schema)
	}}
	for field, want := range map[string]string{"json_schema": `{"json_schema":{"name":"reply","schema":` + schema + `,"strict":true},"type":"json_schema"}`, "": "null"} {
		body := sent(t, llm.ServerConfig{GrammarField: field}, request)
		if got, err := json.Marshal(body["response_format"]); err != nil || string(got) != want || body["json_schema"] != nil {
			t.Errorf("%q: %s, %v", field, got, err)
		}
	}
	if body := sent(t, llm.ServerConfig{GrammarField: "json_schema"}, llm.Request{Model: "m", Grammar: "root ::= x"}); body["response_format"] != nil || body["json_schema"] != nil {
		t.Errorf("without a schema there is %v", body)
	}
	for name, wrong := range map[string]string{
		"optional": `{"type":"object","properties":{"text":{"type":"string"}},"required":[],"additionalProperties":false}`, "open": `{"type":"object","properties":{},"required":[]}`,
		"alternatives at the top": `{"anyOf":[{"type":"string"}]}`, "keyword": `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`,
		"first keys": `{"type":"object","properties":{"a":{"anyOf":[` + schema + `,` + schema + `]}},"required":["a"],"additionalProperties":false}`,
	} {
		request.Schema = func(int) json.RawMessage { return json.RawMessage(wrong) }
		server := llmtest.Start(t, llmtest.Exchange{Reply: "x"})
		if _, err := llm.Collect(provider(t, server, llm.ServerConfig{GrammarField: "json_schema"}).Stream(t.Context(), request)); llm.ClassOf(err) != llm.ClassBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReasoningModels checks requests that the library itself would refuse.
func TestReasoningModels(t *testing.T) {
	zero := 0.0
	for _, model := range []string{"o1-mini", "o3", "o4-mini", "gpt-5", "gpt-5-nano", "openai/gpt-5", "gpt-6-sol"} {
		body := sent(t, llm.ServerConfig{}, llm.Request{Model: model, Temperature: &zero, MaxTokens: 50})
		_, temperature := body["temperature"]
		_, old := body["max_tokens"]
		if temperature || old || body["max_completion_tokens"] != 50.0 {
			t.Errorf("%s: %v", model, body)
		}
	}
}

func TestRequestHeaders(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Times: -1, Reply: "x"})
	config := llm.ServerConfig{BaseURL: server.URL() + "/deep/?version=1", Key: "key", Headers: map[string]secret.Text{"X-Title": "org-agent"}}
	if _, err := llmtest.Ask(t, provider(t, server, config), llmtest.Hello()); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0]
	if got.Path != "/v1/deep/chat/completions" || got.Query != "version=1" {
		t.Errorf("asked at %s?%s", got.Path, got.Query)
	}
	if got.Header.Get("Authorization") != "Bearer key" || got.Header.Get("X-Title") != "org-agent" || got.Header.Get("User-Agent") != "org-agent" {
		t.Errorf("headers %v", got.Header)
	}
	if _, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello()); err != nil {
		t.Fatal(err)
	}
	if value, ok := server.Requests()[1].Header["Authorization"]; ok {
		t.Errorf("without a key the header is %q", value)
	}
}

func TestNewRefusesBadAddresses(t *testing.T) {
	for _, address := range []string{"localhost:11434", "ftp://host/v1", "http://", "://", "/v1"} {
		if _, err := openai.New(llm.ServerConfig{BaseURL: address}); err == nil || llm.HintOf(err) == "" {
			t.Errorf("%q: %v", address, err)
		}
	}
	if made, err := openai.New(llm.ServerConfig{}); err != nil || made.BaseURL() != openai.DefaultBaseURL || made.Name() != "api.openai.com" {
		t.Errorf("the zero config: %v", err)
	}
}

// models starts a server with these models.
func models(t *testing.T, names ...string) *llmtest.Server {
	t.Helper()
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Models: names, Exchanges: []llmtest.Exchange{{Times: -1, Reply: "x"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestModelRule(t *testing.T) {
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprintf("model-%02d", i)
	}
	for _, c := range []struct {
		name            string
		listed          []string
		config, request string
		want, fault     string
	}{
		{"the request's", []string{"a", "b"}, "b", "c", "c", ""},
		{"the configured", []string{"a", "b"}, "b", "", "b", ""},
		{"the only one", []string{"a"}, "", "", "a", ""},
		{"one of two", []string{"b", "a"}, "", "", "", "several: a, b"},
		{"one of thirty", many, "", "", "", "model-11 and 18 more"},
		{"of none", []string{""}, "", "", "", "lists none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := models(t, c.listed...)
			model := provider(t, server, llm.ServerConfig{Model: c.config})
			for range 2 {
				_, err := llm.Collect(model.Stream(t.Context(), llm.Request{Model: c.request, Messages: llmtest.Hello().Messages}))
				if c.fault != "" {
					if llm.ClassOf(err) != llm.ClassModel || !strings.Contains(err.Error(), c.fault) {
						t.Errorf("the error is %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, request := range server.Requests() {
				if !strings.Contains(string(request.Body), fmt.Sprintf(`"model":%q`, c.want)) {
					t.Errorf("asked with %s", request.Body)
				}
			}
		})
	}
}

// TestModelNoLongerServed checks that a server that lost its only model is asked for its models again.
func TestModelNoLongerServed(t *testing.T) {
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Models: []string{"a"}, Exchanges: []llmtest.Exchange{
		{Reply: "x"}, {Status: 404, Body: `{"error":{"message":"model 'a' not found"}}`}, {Reply: "y"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	model := provider(t, server, llm.ServerConfig{})
	request := llm.Request{Messages: llmtest.Hello().Messages}
	for i, class := range []llm.Class{"", llm.ClassModel, ""} {
		if _, err := llm.Collect(model.Stream(t.Context(), request)); llm.ClassOf(err) != class {
			t.Errorf("request %d: %v", i, err)
		}
		server.SetModels("b")
	}
	if name, err := model.Model(t.Context()); err != nil || name != "b" {
		t.Errorf("the model is %q, %v", name, err)
	}
	if requests := server.Requests(); !strings.Contains(string(requests[2].Body), `"model":"b"`) {
		t.Errorf("asked with %s", requests[2].Body)
	}
}

func TestDiscover(t *testing.T) {
	with, without := models(t, "small", "big"), models(t, "")
	gone := models(t)
	gone.Close()
	endpoints := []openai.Endpoint{
		{Name: "gone", BaseURL: gone.URL()},
		{Name: "without", BaseURL: without.URL()},
		{Name: "with", BaseURL: with.URL()},
		{Name: "elsewhere", BaseURL: "http://192.0.2.1/v1"},
		{Name: "nonsense", BaseURL: "::"},
	}
	got := openai.Discover(t.Context(), endpoints)
	want := []llm.FoundServer{{Name: endpoints[2].Name, BaseURL: endpoints[2].BaseURL, Models: []string{"big", "small"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, endpoint := range openai.LocalEndpoints() {
		if !strings.HasPrefix(endpoint.BaseURL, "http://127.0.0.1:") {
			t.Errorf("%v is not on this machine", endpoint)
		}
	}
}

// TestModelsFailures checks that each reason for a missing list is an error that names
// it.
func TestModelsFailures(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		class  llm.Class
	}{
		{200, "<html>", llm.ClassProtocol},
		{200, strings.Repeat(" ", 9<<20), llm.ClassProtocol},
		{302, "", llm.ClassProtocol},
		{401, `{"error":{"message":"who are you?"}}`, llm.ClassAuth},
		{404, "not here", llm.ClassBadRequest},
		{500, strings.Repeat("x", 1<<20), llm.ClassServer},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		model := provider(t, nil, llm.ServerConfig{BaseURL: server.URL})
		_, err := model.Models(t.Context())
		if llm.ClassOf(err) != c.class || len(err.Error()) > 500 {
			t.Errorf("%d: %v", c.status, err)
		}
		model.Close()
		server.Close()
	}
}
