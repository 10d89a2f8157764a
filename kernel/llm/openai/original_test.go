package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
)

// goOn asks for calls, answers them, and returns the reply to that and what the server was sent.
func goOn(t *testing.T, server *llmtest.Server, change func(*llm.Request)) (llm.Reply, string) {
	t.Helper()
	p := llm.Rendered{Next: provider(t, server, llm.ServerConfig{Model: "test-model"}), Dialect: dialect.NewNative(true)}
	request := offered()
	reply, err := llm.Collect(p.Stream(t.Context(), request))
	if err != nil || len(reply.Calls) == 0 {
		t.Fatalf("%+v, %v", reply, err)
	}
	said, outcome := llm.Message{Role: llm.RoleAssistant, Text: reply.Text, Original: reply.Original}, &llm.Outcome{}
	for _, c := range reply.Calls {
		call := llm.Call{Function: &c}
		said.Calls, outcome.Results = append(said.Calls, call), append(outcome.Results, llm.Result{Call: call, Verdict: "performed", Text: "there"})
	}
	request.Messages = append(request.Messages, said, llm.Message{Role: llm.RoleKernel, Outcome: outcome})
	change(&request)
	if reply, err = llm.Collect(p.Stream(t.Context(), request)); err != nil {
		t.Error(err)
	}
	requests := server.Requests()
	return reply, string(requests[len(requests)-1].Body)
}

// A server that wants its thinking back with the calls gets it, in every later request. Another model does not.
func TestThinkingGoesBack(t *testing.T) {
	start := func(field string) *llmtest.Server {
		server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Thinks: field == "", Exchanges: []llmtest.Exchange{
			{Match: "look", Reasoning: "I must “look”.", Calls: []llmtest.Call{{ID: "functions.read:0", Name: "read", Arguments: `{ "a": 1 }`}}, Framing: llmtest.Framing{ReasoningField: field, ChunkBytes: 2}},
			{Match: "there", Reply: "Done.", Times: -1}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		return server
	}
	reply, body := goOn(t, start(""), func(*llm.Request) {})
	if reply.Text != "Done." || !strings.Contains(body, `"reasoning_content":"I must “look”."`) || strings.Count(body, "functions.read:0") != 2 || !strings.Contains(body, `{ \"a\": 1 }`) {
		t.Errorf("%+v after %s", reply, body)
	}
	without := offered()
	call := llm.Call{Function: &llm.FunctionCall{ID: "a", Name: "read"}}
	without.Messages = append(without.Messages, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{call}}, llm.Message{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: call, Text: "there"}}}})
	if _, err := llm.Collect(provider(t, start(""), llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), without)); llm.ClassOf(err) != llm.ClassBadRequest {
		t.Errorf("the server takes calls without thinking: %v", err)
	}
	if _, body = goOn(t, start("reasoning"), func(*llm.Request) {}); strings.Contains(body, "must") {
		t.Errorf("a server that does not read its thinking gets it: %s", body)
	}
	server := start("reasoning_content")
	if _, body = goOn(t, server, func(r *llm.Request) { r.Model = "another" }); strings.Contains(body, "must") {
		t.Errorf("another model gets it: %s", body)
	}
}

// raw is a reply whose deltas have these fields.
func raw(deltas ...string) llmtest.Exchange {
	var b strings.Builder
	for _, d := range deltas {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", d)
	}
	return llmtest.Exchange{Body: b.String() + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"}
}

// What OpenRouter and Gemini attach goes back as it came, put together from its pieces and in order.
func TestAttachedThoughtsGoBack(t *testing.T) {
	const call = `"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}`
	for name, test := range map[string]struct {
		deltas []string
		want   string
	}{
		"details": {[]string{`{"reasoning":"I mu","reasoning_details":[{"type":"reasoning.text","index":0,"text":"I mu","format":"x","signature":null}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"st.","signature":"s1"},{"type":"reasoning.encrypted","index":1,"data":"<e>","id":"r2"}]}`, `{` + call + `}]}`},
			`"reasoning_details":[{"format":"x","index":0,"signature":"s1","text":"I must.","type":"reasoning.text"},{"data":"\u003ce\u003e","id":"r2","index":1,"type":"reasoning.encrypted"}]`},
		"signature": {[]string{`{` + call + `,"extra_content":{"google":{"thought_signature":"sig"}}}]}`}, `"extra_content":{"google":{"thought_signature":"sig"}}`},
		"nonsense":  {[]string{`{"reasoning_details":"no list"}`, `{"reasoning_details":[7]}`, `{` + call + `,"extra_content":null}]}`}, ``},
	} {
		t.Run(name, func(t *testing.T) {
			_, body := goOn(t, llmtest.Start(t, raw(test.deltas...), llmtest.Exchange{Reply: "Done."}), func(*llm.Request) {})
			if escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(body); !strings.Contains(escaped, test.want) || test.want == "" && (strings.Contains(body, "reasoning") || strings.Contains(body, "extra_content")) {
				t.Errorf("there is no %s in %s", test.want, body)
			}
		})
	}
}

// A server that refuses the field that it has sent is asked without it, then and later.
func TestThinkingRefused(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Match: "look", Reasoning: "I must.", Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: "{}"}}},
		llmtest.Exchange{Match: "there", Status: 400, Body: `{"error":{"message":"property 'reasoning_content' is unsupported"}}`}, llmtest.Exchange{Match: "there", Reply: "Done."})
	if reply, body := goOn(t, server, func(*llm.Request) {}); reply.Text != "Done." || strings.Contains(body, "reasoning_content") {
		t.Errorf("%+v after %s", reply, body)
	}
}

// The sources that servers name beside the text are links behind it.
func TestSources(t *testing.T) {
	for name, events := range map[string]string{
		"annotations": `{"choices":[{"index":0,"delta":{"content":"Good","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/","title":"A"}}]}}]}`,
		"citations":   `{"citations":["https://a.example/",7]}` + "\n\ndata: " + `{"citations":["https://a.example/"],"choices":[{"index":0,"delta":{"content":"Good"}}]}`,
		"nonsense":    `{"citations":"x","choices":[{"index":0,"delta":{"content":"Good","annotations":[{"url_citation":{"url":"file:///x"}}]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.Start(t, llmtest.Exchange{Body: "data: " + events + "\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"})
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
			want := map[string]string{"annotations": "Good\n\nSources:\n\n- [A](https://a.example/)", "citations": "Good\n\nSources:\n\n- [https://a.example/](https://a.example/)", "nonsense": "Good"}[name]
			if err != nil || reply.Text != want {
				t.Errorf("%q, %v", reply.Text, err)
			}
		})
	}
}
