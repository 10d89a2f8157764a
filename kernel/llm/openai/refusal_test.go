package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// A model whose template has no system prompt gets it with the first message of the user, in the request that was
// refused and in each later one, however its server says so.
func TestSystemRefused(t *testing.T) {
	refusals := map[string]llmtest.Exchange{
		"Gemma under vLLM":        {Status: 400, Body: `{"object":"error","message":"System role not supported","type":"BadRequestError","code":400}`},
		"Gemma under llama.cpp":   {Status: 500, Body: `{"error":{"code":500,"message":"System role not supported at row 1, column 12:\n{{ bos_token }}","type":"server_error"}}`},
		"Mistral":                 {Status: 400, Body: `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`},
		"Mistral, older":          {Status: 400, Body: `{"error":"Error rendering prompt with jinja template: \"Only user and assistant roles are supported!\"."}`},
		"within the stream":       {Body: "event: error\ndata: {\"error\":{\"message\":\"Error rendering prompt with jinja template: System role not supported\"}}\n\n"},
		"Gemma in Google's cloud": {Status: 400, Body: `[{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]`},
	}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			refusal.Match = "Hello"
			server := llmtest.Start(t, refusal, llmtest.Exchange{Reply: "Hi.", Times: -1})
			p := provider(t, server, llm.ServerConfig{Model: "test-model"})
			request := llm.Request{Sections: llm.System("Be brief."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}
			for range 2 {
				if reply, err := llm.Collect(p.Stream(t.Context(), request)); err != nil || reply.Text != "Hi." {
					t.Fatalf("%+v, %v", reply, err)
				}
			}
			requests := server.Requests()
			if len(requests) != 3 {
				t.Fatalf("%d requests, not 3", len(requests))
			}
			for i, want := range []string{`system "Be brief." user "Hello"`, `user "Be brief.\n\nHello"`, `user "Be brief.\n\nHello"`} {
				if got := said(t, requests[i].Body); got != want {
					t.Errorf("request %d is %s, not %s", i, got, want)
				}
			}
		})
	}
}

// said is the conversation in a request.
func said(t *testing.T, body []byte) string {
	t.Helper()
	var sent struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range sent.Messages {
		all = append(all, fmt.Sprintf("%s %s", m.Role, m.Content))
	}
	return strings.Join(all, " ")
}

// The system prompt stands before a conversation that the model began, and before a picture.
func TestSystemWithin(t *testing.T) {
	for want, messages := range map[string][]llm.Message{
		`user "Be brief." assistant "Yes?" user "No."`: {{Role: llm.RoleAssistant, Text: "Yes?"}, {Role: llm.RoleUser, Text: "No."}},
		`user "Be brief."`: nil,
		`user [{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}},{"type":"text","text":"Be brief."}]`: {{Role: llm.RoleUser, Images: []llm.Image{{Media: "image/png", Data: []byte("x")}}}},
	} {
		server := llmtest.Start(t, llmtest.Exchange{Status: 400, Body: `{"error":{"message":"System role not supported"}}`}, llmtest.Exchange{Reply: "Hi."})
		if _, err := llm.Collect(provider(t, server, llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), llm.Request{Sections: llm.System("Be brief."), Messages: messages})); err != nil {
			t.Fatal(err)
		}
		if got := said(t, server.Requests()[1].Body); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// Another refusal is no reason to ask again, nor is one of a request without a system prompt or with functions.
func TestNoOtherRefusal(t *testing.T) {
	system := llm.System("Be brief.")
	for name, c := range map[string]struct {
		message string
		request llm.Request
	}{
		"another":       {"the system is overloaded", llm.Request{Sections: system}},
		"without one":   {"System role not supported", llm.Request{}},
		"functions":     {"Conversation roles must alternate user/assistant", llm.Request{Sections: system, Tools: offered().Tools}},
		"refused again": {"System role not supported", llm.Request{Sections: system}},
	} {
		t.Run(name, func(t *testing.T) {
			message, err := json.Marshal(c.message)
			if err != nil {
				t.Fatal(err)
			}
			server := llmtest.Start(t, llmtest.Exchange{Status: 400, Body: `{"error":{"message":` + string(message) + `}}`, Times: -1})
			c.request.Messages = []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}
			if _, err := llm.Collect(provider(t, server, llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), c.request)); llm.ClassOf(err) != llm.ClassBadRequest {
				t.Errorf("it ended with %v", err)
			}
			want := 1
			if name == "refused again" {
				want = 2
			}
			if got := len(server.Requests()); got != want {
				t.Errorf("%d requests, not %d", got, want)
			}
		})
	}
}

// A field that a model refuses is left out of the same request and of each later one; the limit of tokens gets its other
// name. What the person wrote is sent as it is.
func TestFieldsRefused(t *testing.T) {
	cold := 0.2
	for message, want := range map[string]string{
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.":                    `max_completion_tokens temperature stop reasoning_effort stream_options`,
		"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.":               `max_tokens stop reasoning_effort stream_options`,
		"Unsupported parameter: 'stop' is not supported with this model.":                                                               `max_tokens temperature reasoning_effort stream_options`,
		"Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.": `max_tokens temperature stop stream_options`,
		`[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]`:                           `max_tokens temperature stop reasoning_effort`,
		"max_tokens is too large: 90000. This model supports at most 4096 completion tokens.":                                           "",
		"stopping is not supported": "",
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": message}})
		if err != nil {
			t.Fatal(err)
		}
		server := llmtest.Start(t, llmtest.Exchange{Status: 400, Body: string(body)}, llmtest.Exchange{Reply: "Hi.", Times: -1})
		p := provider(t, server, llm.ServerConfig{Model: "test-model", Effort: "low", Body: map[string]any{"top_p": 0.5}})
		request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}, Temperature: &cold, MaxTokens: 90, Stop: []string{"x"}}
		_, err = llm.Collect(p.Stream(t.Context(), request))
		if want == "" {
			if llm.ClassOf(err) != llm.ClassBadRequest || len(server.Requests()) != 1 {
				t.Errorf("after %q it ended with %v, and %d requests", message, err, len(server.Requests()))
			}
			continue
		}
		if _, again := llm.Collect(p.Stream(t.Context(), request)); err != nil || again != nil {
			t.Fatalf("after %q: %v, %v", message, err, again)
		}
		for _, r := range server.Requests()[1:] {
			var sent map[string]any
			if err := json.Unmarshal(r.Body, &sent); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range []string{"max_completion_tokens", "max_tokens", "temperature", "stop", "reasoning_effort", "stream_options"} {
				if _, set := sent[name]; set {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != want || sent["top_p"] != 0.5 {
				t.Errorf("after %q it is sent %q, %v", message, got, sent)
			}
		}
	}
}
