package llmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
)

// respond sends a request by OpenAI's Responses to a server, and returns its answer.
func respond(t *testing.T, server *llmtest.Server, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// What OpenAI refuses is refused, in its words.
func TestResponsesAreStrict(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Match: "^Hello$", Reasoning: "I must look.", Calls: []llmtest.Call{{ID: "call_a", Name: "read", Arguments: "{}"}}, Times: -1}, llmtest.Exchange{Reply: "Good", Times: -1})
	defer http.DefaultClient.CloseIdleConnections()
	_, events := respond(t, server, `{"model":"test-model","input":[{"role":"user","content":"Hello"}],"include":["reasoning.encrypted_content"],"store":false}`)
	var thought, call string
	for line := range strings.Lines(events) {
		var e struct {
			Type string
			Item json.RawMessage
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil && e.Type == "response.output_item.done" {
			if thought == "" {
				thought = string(e.Item)
			} else {
				call = string(e.Item)
			}
		}
	}
	const user, output = `{"role":"user","content":"look"}`, `{"type":"function_call_output","call_id":"call_a","output":"there"}`
	const other = `{"type":"function_call","call_id":"call_b","name":"read","arguments":"{}"}`
	answer := `{"role":"assistant","content":"I look."}`
	for _, test := range []struct{ fields, want string }{
		{``, ""},
		{`"input":[` + user + `,` + thought + `,` + call + `,` + output + `]`, ""},
		{`"input":[` + user + `,` + thought + `,` + call + `,` + other + `,{"type":"function_call_output","call_id":"call_b","output":"b"},` + output + `]`, ""},
		{`"input":[` + user + `,` + call + `,` + output + `,` + answer + `]`, ""},
		{`"tools":[{"type":"function","name":"read","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}]`, ""},
		{`"colour":"red"`, "Unknown parameter: \\\"colour\\\""},
		{`"model":""`, "Missing required parameter: 'model'"},
		{`"max_output_tokens":5`, "below minimum value"},
		{`"model":"gpt-4o","include":["reasoning.encrypted_content"]`, "Encrypted content is not supported"},
		{`"model":"gpt-5","temperature":0`, "'temperature' is not supported"},
		{`"reasoning":{"effort":"much"}`, "Invalid value: 'much'"},
		{`"include":["everything"]`, "Invalid value: 'everything'"},
		{`"input":[]`, "Missing required parameter: 'input'"},
		{`"input":[{"role":"robot","content":"x"}]`, "Invalid value: 'robot'"},
		{`"input":[{"role":"user","content":"x","colour":"red"}]`, "Unknown parameter"},
		{`"input":[{"role":"user"}]`, "Invalid type for 'input[0].content'"},
		{`"input":[{"role":"user","content":[{"type":"output_text","text":"x"}]}]`, "Invalid value: 'output_text'"},
		{`"input":[` + user + `,` + output + `]`, "No tool call found for function call output with call_id call_a"},
		{`"input":[` + user + `,` + call + `]`, "No tool output found for function call call_a"},
		{`"input":[` + user + `,` + call + `,` + user + `,` + output + `]`, "No tool output found for function call call_a"},
		{`"input":[` + user + `,` + call + `,` + other + `,` + output + `,` + user + `]`, "No tool output found for function call call_b"},
		{`"input":[` + user + `,` + call + `,` + output + `,` + call + `,` + output + `]`, "Duplicate item found"},
		{`"input":[` + user + `,` + other + `,` + other + `]`, "Duplicate function call"},
		{`"input":[` + user + `,{"type":"function_call","call_id":"c","name":"a b","arguments":"{}"}]`, "Invalid 'input[1]'"},
		{`"input":[` + user + `,{"type":"function_call","call_id":"c","name":"a","arguments":"{"}]`, "Invalid 'input[1]'"},
		{`"input":[` + user + `,` + thought + `]`, "without its required following item"},
		{`"input":[` + user + `,` + thought + `,` + user + `]`, "without its required following item"},
		{`"input":[` + user + `,` + thought + `,` + other + `]`, "without its required following item"},
		{`"input":[` + user + `,` + strings.Replace(thought, `"encrypted_content":"`, `"encrypted_content":"A`, 1) + `,` + call + `,` + output + `]`, "invalid_encrypted_content"},
		{`"model":"another","input":[` + user + `,` + thought + `,` + call + `,` + output + `]`, "invalid_encrypted_content"},
		{`"input":[` + user + `,{"type":"reasoning","id":"rs_1","summary":[]},` + call + `,` + output + `]`, "Item with id 'rs_1' not found"},
		{`"tools":[{"type":"function","name":"read","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}]`, "'additionalProperties' is required"},
		{`"tools":[{"type":"function","name":"read","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}]`, "Missing 'a'"},
		{`"tools":[{"type":"function","name":"read","strict":false,"parameters":{"type":"string"}}]`, "must be a JSON Schema of 'type"},
		{`"tools":[{"type":"function","function":{"name":"read"}}]`, "Unknown parameter"},
		{`"tools":[{"type":"function","name":"a","strict":false,"parameters":{"type":"object"}},{"type":"function","name":"a","strict":false,"parameters":{"type":"object"}}]`, "must be unique"},
	} {
		body := map[string]json.RawMessage{"model": json.RawMessage(`"test-model"`), "input": json.RawMessage("[" + user + "]")}
		if err := json.Unmarshal([]byte("{"+test.fields+"}"), &body); err != nil {
			t.Fatalf("%s: %v", test.fields, err)
		}
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := respond(t, server, string(encoded))
		if want := fmt.Sprint(test.want != ""); fmt.Sprint(status == http.StatusBadRequest) != want || !strings.Contains(answer, test.want) {
			t.Errorf("%s\nis answered with %d %.300s, not %q", test.fields, status, answer, test.want)
		}
	}
	for i, line := range strings.Split(strings.TrimSpace(events), "\n\n") { // in their order
		if !strings.Contains(line, fmt.Sprintf(`"sequence_number":%d,`, i)) {
			t.Errorf("event %d is %s", i, line)
		}
	}
}
