package dialect_test

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
)

func TestStructured(t *testing.T) { llmtest.DialectSuite(t, dialect.NewStructured()) }

// function returns a function with a schema of its arguments.
func function(name, schema string) llm.Tool {
	return llm.Tool{Name: name, Description: "Does it.", Schema: func() any { return json.RawMessage(schema) }}
}

// functions are of all sorts: without arguments, with some that may be left out, of objects and lists, of anything.
func functions() []llm.Tool {
	return []llm.Tool{
		function("read", `{"type":"object","properties":{"path":{"type":"string","description":"the file"},"fromLine":{"type":"integer"},"numbers":{"type":"boolean"}},"required":["path"]}`),
		function("stop", `{"type":"object","properties":{},"additionalProperties":false}`),
		function("mcp.find all", `{"type":"object","properties":{"kind":{"type":"string","enum":["a","b"]},"where":{"type":"array","items":{"type":"object","properties":{"x":{"type":"number"},"y":{"type":["number","null"]}},"required":["x","y"]}}}}`),
		function("query", `{"type":"object","properties":{"filter":{"type":"object"},"value":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["filter"]}`),
		function("free", `{"type":"object","properties":{}}`),
		{Name: "unknown"},
	}
}

// schemaOf returns the schema to which a reply that may call functions is held.
func schemaOf(t *testing.T, tools []llm.Tool, unions int) (json.RawMessage, *jsonschema.Resolved) {
	t.Helper()
	rendered := dialect.NewStructured().Render(llm.Request{Tools: tools, Messages: []llm.Message{{Role: llm.RoleUser, Text: "go"}}})
	if len(rendered.Tools) > 0 || rendered.Schema == nil {
		t.Fatalf("%+v", rendered)
	}
	encoded := rendered.Schema(unions)
	if err := llmtest.StrictSchema(encoded); err != nil {
		t.Fatalf("%v: %s", err, encoded)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(encoded, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return encoded, resolved
}

// collect reads a reply that comes in pieces.
func collect(t *testing.T, tools []llm.Tool, finish llm.FinishReason, pieces ...string) (reply llm.Reply, texts []string) {
	t.Helper()
	rendered := dialect.NewStructured().Render(llm.Request{Tools: tools, Messages: []llm.Message{{Role: llm.RoleUser, Text: "go"}}})
	var stream iter.Seq2[llm.Delta, error] = func(yield func(llm.Delta, error) bool) {
		for _, piece := range pieces {
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
		}
		yield(llm.Delta{Finish: finish}, nil)
	}
	for delta, err := range dialect.NewStructured().Read(rendered, tools, stream) {
		if err != nil {
			t.Fatal(err)
		}
		reply.Text += delta.Text
		reply.Calls = append(reply.Calls, delta.Calls...)
		if delta.Text != "" {
			texts = append(texts, delta.Text)
		}
		if delta.Finish != "" {
			reply.Finish = delta.Finish
		}
	}
	return reply, texts
}

// TestStructuredReplies: a reply within the schema has the text and the calls that the function wants; its text
// comes as it grows, however the reply is cut. What is null because it may be left out is no argument. A reply of a
// server that holds the model to nothing is read as far as it can be.
func TestStructuredReplies(t *testing.T) {
	_, schema := schemaOf(t, functions(), -1)
	for name, c := range map[string]struct {
		reply   string
		text    string
		calls   string
		without bool // it is not within the schema
	}{
		"answer":          {reply: `{"text": "Yes,\n\"all\" \u00e9 \ud83d\ude00 of it.", "calls": []}`, text: "Yes,\n\"all\" é 😀 of it."},
		"call":            {reply: `{"text":"","calls":[{"read":{"path":"a.org","fromLine":null,"numbers":false}}]}`, calls: `read {"path":"a.org","numbers":false}`},
		"calls":           {reply: `{"text":"I look.","calls":[{"read":{"path":"a","fromLine":3,"numbers":null}},{"stop":{}}]}`, text: "I look.", calls: `read {"path":"a","fromLine":3} stop {}`},
		"list":            {reply: `{"text":"","calls":[{"` + llm.FunctionName("mcp.find all") + `":{"kind":null,"where":[{"x":1.5,"y":2}]}}]}`, calls: llm.FunctionName("mcp.find all") + ` {"where":[{"x":1.5,"y":2}]}`},
		"any":             {reply: `{"text":"","calls":[{"query":{"filter":"{\"a\": [1, null]}","value":"7"}}]}`, calls: `query {"filter":{"a": [1, null]},"value":7}`},
		"free":            {reply: `{"text":"","calls":[{"free":"{\"a\": 1}"},{"unknown":"no JSON"}]}`, calls: `free {"a": 1} unknown "no JSON"`},
		"other order":     {reply: `{"calls":[{"stop":{}}],"text":"Done."}`, text: "Done.", calls: "stop {}"},
		"not offered":     {reply: `{"text":"","calls":[{"reed":{"path":"a"}}]}`, calls: `reed {"path":"a"}`, without: true},
		"string for all":  {reply: `{"text":"","calls":[{"read":"{\"path\": \"a\", \"fromLine\": null}"}]}`, calls: `read {"path":"a"}`, without: true},
		"prose":           {reply: `It is {"text"} here.`, text: `It is {"text"} here.`, without: true},
		"another object":  {reply: `{"texture": 1}`, text: `{"texture": 1}`, without: true},
		"property list":   {reply: `(:type :response :text "a")`, text: `(:type :response :text "a")`, without: true},
		"text alone":      {reply: `{"text": "a"}`, text: "a", without: true},
		"words behind it": {reply: `{"text": "a", "calls": []} and so on`, text: "a", without: true},
		"raw line end":    {reply: "{\"text\": \"a\n\\\"b\", \"calls\": []}", text: "a\n\"b", without: true},
		"broken call":     {reply: `{"text": "", "calls": [{"read": ["path" "a"]}]}`, calls: `read ["path" "a"]}]}`, without: true},
	} {
		t.Run(name, func(t *testing.T) {
			var value any
			if err := json.Unmarshal([]byte(c.reply), &value); (err == nil && schema.Validate(value) == nil) == c.without {
				t.Errorf("within the schema: %t, %v", c.without, err)
			}
			for _, size := range []int{1, 3, 1000} {
				var pieces []string
				for rest := c.reply; rest != ""; rest = rest[min(size, len(rest)):] {
					pieces = append(pieces, rest[:min(size, len(rest))])
				}
				reply, texts := collect(t, functions(), llm.FinishStop, pieces...)
				var calls []string
				for _, call := range reply.Calls {
					calls = append(calls, call.Name+" "+call.Arguments)
				}
				if reply.Text != c.text || strings.Join(calls, " ") != c.calls || (len(calls) > 0) != (reply.Finish == llm.FinishTools) && !strings.HasPrefix(name, "broken") {
					t.Errorf("in pieces of %d: %q and %q, finished by %s", size, reply.Text, calls, reply.Finish)
				}
				if size == 1 && name == "answer" && len(texts) < 15 {
					t.Errorf("the text came as %q", texts)
				}
			}
		})
	}
	if reply, _ := collect(t, functions(), llm.FinishLength, `{"text": "", "calls": [{"read": {"pa`); len(reply.Calls) != 1 || reply.Calls[0].Name != "read" || reply.Finish != llm.FinishLength {
		t.Errorf("a call that was cut off is %+v", reply)
	}
	if reply, _ := collect(t, functions(), llm.FinishLength, `{"text": "An ans`); reply.Text != "An ans" || len(reply.Calls) > 0 {
		t.Errorf("an answer that was cut off is %+v", reply)
	}
}

// TestSchemaBounds: where a server bounds how many values may be of two types, the functions that need most have a
// string for all of their arguments, and the others keep theirs.
func TestSchemaBounds(t *testing.T) {
	for unions, want := range map[int]string{-1: "object object object object", 6: "object object object object", 5: "object object string object", 3: "string object string object", 1: "string object string string", 0: "string object string string"} {
		encoded, _ := schemaOf(t, functions()[:4], unions)
		var schema struct {
			Properties struct {
				Calls struct {
					Items struct {
						AnyOf []struct {
							Properties map[string]struct{ Type string }
						}
					}
				}
			}
		}
		if err := json.Unmarshal(encoded, &schema); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range schema.Properties.Calls.Items.AnyOf {
			for _, arguments := range one.Properties {
				got = append(got, arguments.Type)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with %d: %q", unions, got)
		}
		if count := strings.Count(string(encoded), `"anyOf"`); unions > 0 && count > unions {
			t.Errorf("with %d there are %d", unions, count)
		}
	}
}

// TestStructuredHistory: the history shows the model its replies in the form in which it is to write them, and a
// reader reads them as they were.
func TestStructuredHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		said, path := rapid.String().Draw(rt, "said"), rapid.StringMatching(`[a-zA-Z0-9/"<> .äß😀-]{1,20}`).Draw(rt, "path")
		arguments, err := json.Marshal(map[string]any{"path": path})
		if err != nil {
			rt.Fatal(err)
		}
		said = strings.ToValidUTF8(said, "")
		call := llm.Call{Function: &llm.FunctionCall{Name: "read", Arguments: string(arguments)}}
		rendered := dialect.NewStructured().Render(llm.Request{Tools: functions(), Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "go"}, {Role: llm.RoleAssistant, Text: said, Calls: []llm.Call{call}},
			{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: []llm.Result{{Call: call, Verdict: "performed", Text: "done"}}}},
			{Role: llm.RoleAssistant, Text: "a" + said},
		}})
		reply, _ := collect(t, functions(), llm.FinishStop, rendered.Messages[1].Text)
		if reply.Text != said || len(reply.Calls) != 1 || reply.Calls[0].Arguments != string(arguments) {
			rt.Fatalf("%q is read as %+v", rendered.Messages[1].Text, reply)
		}
		if reply, _ = collect(t, functions(), llm.FinishStop, rendered.Messages[3].Text); reply.Text != "a"+said || len(reply.Calls) > 0 {
			rt.Fatalf("%q is read as %+v", rendered.Messages[3].Text, reply)
		}
	})
}

// TestStructuredPrompt: the prompt teaches the form and the functions once, in front of what changes, and a prompt
// that was recorded is not taught again. A note that teaches text is followed, without a schema.
func TestStructuredPrompt(t *testing.T) {
	request := llm.Request{Tools: functions(), Messages: []llm.Message{{Role: llm.RoleUser, Text: "go"}}, Grammar: "root ::= x",
		Sections: []llm.Section{{Text: "stays", Stable: true}, {Text: "lists", Notation: llm.NotationText, Stable: true}, {Text: "changes"}}}
	rendered := dialect.NewStructured().Render(request)
	system := rendered.System()
	if !strings.HasPrefix(system, "stays\n\n* How a reply is written") || !strings.HasSuffix(system, "changes") || rendered.Grammar != "" ||
		!strings.Contains(system, "\n- read: Does it. Arguments: path (string) the file; fromLine (integer or null); numbers (boolean or null)\n") {
		t.Errorf("%q", system)
	}
	request.Sections = llm.System(system)
	if again := dialect.NewStructured().Render(request).System(); again != system {
		t.Errorf("%q", again)
	}
	request.TextCalls = true
	if r := dialect.NewStructured().Render(request); r.Schema != nil || r.System() != system {
		t.Errorf("%+v", r)
	}
}

// TestStructuredPieces: however a reply is cut into pieces, and whatever it is, the same is read of it.
func TestStructuredPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"{", "}", "[", "]", `"text"`, `"calls"`, ":", ",", `"`, `\`, `\"`, `\n`, `\ud83d`, `\ude00`, `\u00e9`, " ", "\n", "é", "😀", `"read"`, "null", "a", "{\"text\": \"", `", "calls": [`})
	rapid.Check(t, func(rt *rapid.T) {
		whole := rapid.SampledFrom([]string{"", `{"text": "`, `{"text": "", "calls": [{"read": `}).Draw(rt, "beginning") + strings.Join(rapid.SliceOfN(part, 0, 12).Draw(rt, "parts"), "")
		finish := rapid.SampledFrom([]llm.FinishReason{llm.FinishStop, llm.FinishLength}).Draw(rt, "finish")
		want, _ := collect(t, functions(), finish, whole)
		var pieces []string
		for rest := whole; rest != ""; {
			size := rapid.IntRange(1, len(rest)).Draw(rt, "size")
			pieces, rest = append(pieces, rest[:size]), rest[size:]
		}
		if got, _ := collect(t, functions(), finish, pieces...); got.Text != want.Text || !slices.Equal(got.Calls, want.Calls) || got.Finish != want.Finish {
			rt.Fatalf("%q in pieces %q is\n%+v, and whole it is\n%+v", whole, pieces, got, want)
		}
	})
}
