package openai_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// offered is a request with two functions.
func offered() llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "look"}},
		Tools:    []llm.Tool{{Name: "read", Description: "reads"}, {Name: "grep it!", Schema: func() any { return map[string]any{"type": "object"} }}},
	}
}

// However a server writes calls, they are the same ones.
func TestCalls(t *testing.T) {
	want := []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"path":"a \"b\" é.org"}`}, {ID: "b", Name: "read", Arguments: `{"path":"c"}`}, {ID: "c", Name: "grep", Arguments: `{}`}}
	for _, style := range llmtest.CallStyles() {
		t.Run(string("style "+style), func(t *testing.T) {
			for _, finish := range []string{"", "stop"} {
				server := llmtest.Start(t, llmtest.Exchange{Reply: "I look.", Calls: want, CallStyle: style, Ending: llmtest.Ending{Finish: finish}})
				reply, err := llm.Collect(provider(t, server, llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), offered()))
				if err != nil || reply.Text != "I look." || reply.Finish != llm.FinishTools {
					t.Fatalf("%+v, %v", reply, err)
				}
				var got []llmtest.Call
				for _, c := range reply.Calls {
					got = append(got, llmtest.Call(c))
				}
				if !slices.Equal(got, want) {
					t.Errorf("finish %q: the calls are\n%+v, not\n%+v", finish, got, want)
				}
			}
		})
	}
}

// The calls of a reply that is not streamed, of one in the old notation, and of two that are put together.
func TestCallsOfOtherKinds(t *testing.T) {
	for name, test := range map[string]struct {
		exchange llmtest.Exchange
		want     string
	}{
		"whole":      {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":1}`}}, Ending: llmtest.Ending{Whole: true}}, `[{a read {"x":1}}]`},
		"old":        {llmtest.Exchange{Calls: []llmtest.Call{{Name: "read", Arguments: `{"x":1}`}}, CallStyle: llmtest.CallsOld}, `[{ read {"x":1}}]`},
		"together":   {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":1}{"x":2}`}}}, `[{a read {"x":1}} { read {"x":2}}]`},
		"broken":     {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":`}}}, `[{a read {"x":}]`},
		"nothing":    {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read"}}}, `[{a read }]`},
		"an array":   {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `[1][2]`}}}, `[{a read [1][2]}]`},
		"no name":    {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Arguments: `{}`}}}, `[{a  {}}]`},
		"same twice": {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{}`}, {ID: "a", Name: "read", Arguments: `{}`}}}, `[{a read {}} {a read {}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := llm.Collect(provider(t, llmtest.Start(t, test.exchange), llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), offered()))
			if got := fmt.Sprint(reply.Calls); err != nil || got != test.want {
				t.Errorf("the calls are %s, not %s; %v", got, test.want, err)
			}
		})
	}
}

// A model that makes calls without end is stopped, and one that makes too many.
func TestCallsWithoutEnd(t *testing.T) {
	many := make([]llmtest.Call, llm.CallsLimit+1)
	for i := range many {
		many[i] = llmtest.Call{ID: fmt.Sprint(i), Name: "read", Arguments: "{}"}
	}
	long := []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":"` + strings.Repeat("x", llm.ReplyLimit) + `"}`}}
	for _, calls := range [][]llmtest.Call{many, long} {
		_, err := llm.Collect(provider(t, llmtest.Start(t, llmtest.Exchange{Calls: calls}), llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), offered()))
		if llm.ClassOf(err) != llm.ClassEndless {
			t.Errorf("the error is %v", err)
		}
	}
}

// A strict server takes what is sent of functions, calls and results.
func TestFunctionsAreSent(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: "yes"})
	request := offered()
	call := llm.Call{Function: &llm.FunctionCall{ID: "abc", Name: "read"}}
	request.Messages = append(request.Messages,
		llm.Message{Role: llm.RoleAssistant, Text: "I look", Calls: []llm.Call{call}},
		llm.Message{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: call, Text: "what is there"}}}})
	if reply, err := llm.Collect(provider(t, server, llm.ServerConfig{Model: "test-model"}).Stream(t.Context(), request)); err != nil || reply.Text != "yes" {
		t.Fatalf("%+v, %v", reply, err)
	}
	body := string(server.Requests()[0].Body)
	for _, part := range []string{`{"role":"tool","content":"what is there","tool_call_id":"abc"}`, `"function":{"name":"read","arguments":"{}"}`, `"name":"grep_it__`, `"parameters":{"type":"object","properties":{}}`} {
		if !strings.Contains(body, part) {
			t.Errorf("there is no %s in %s", part, body)
		}
	}
}
