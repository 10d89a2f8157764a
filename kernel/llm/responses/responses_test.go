package responses_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/responses"
	"org-agent/kernel/secret"
)

func TestDriverSuite(t *testing.T) { llmtest.DriverSuite(t, responses.Driver()) }

// However the events are cut, the reply is the same: its thoughts, its text, its calls and its usage.
func TestReply(t *testing.T) {
	calls := []llmtest.Call{{ID: "call_a", Name: "read", Arguments: `{"path":"a \"b\" é.org"}`}, {ID: "call_b", Name: "read", Arguments: `{}`}}
	for name, framing := range map[string]llmtest.Framing{
		"plain": {}, "pieces": {WireChunk: 7}, "keep-alives": {KeepAlives: 300, BlankLines: 2}, "CRLF": {CRLF: true}, "no blank lines": {NoBlank: true}, "half characters": {ChunkBytes: 3},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.Start(t, llmtest.Exchange{Reasoning: "I must look.", Reply: "I look at it: “é”.", Calls: calls, Framing: framing})
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), offered())
			if err != nil {
				t.Fatal(err)
			}
			if name == "half characters" {
				reply.Text = strings.ReplaceAll(reply.Text, "\uFFFD", "")
			} else if reply.Text != "I look at it: “é”." {
				t.Errorf("the text is %q", reply.Text)
			}
			if reply.Reasoning != "I must look." || reply.Finish != llm.FinishTools || reply.Model != "test-model" || reply.Provider != "test" {
				t.Errorf("%+v", reply)
			}
			if got := fmt.Sprint(reply.Calls); got != `[{call_a read {"path":"a \"b\" é.org"}} {call_b read {}}]` {
				t.Errorf("the calls are %s", got)
			}
			if u := reply.Usage; u == nil || u.Reasoning != 3 || u.Output <= u.Reasoning || u.Input == 0 {
				t.Errorf("the usage is %+v", u)
			}
		})
	}
}

// A picture that the model made is one of the reply, also where the server does not stream.
func TestPicture(t *testing.T) {
	item := `{"id":"ig_1","type":"image_generation_call","status":"completed","output_format":"png","result":"iVBORw0KGgo="}`
	message := `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"A cat."}]}`
	for name, body := range map[string]string{
		"streamed": `data: {"type":"response.output_item.added","output_index":0,"item":{"id":"ig_1","type":"image_generation_call","status":"in_progress"}}` + "\n\n" +
			`data: {"type":"response.image_generation_call.partial_image","output_index":0,"item_id":"ig_1","partial_image_b64":"AAAA"}` + "\n\n" +
			`data: {"type":"response.output_item.done","output_index":0,"item":` + item + "}\n\n" +
			`data: {"type":"response.output_item.done","output_index":1,"item":` + message + "}\n\n" +
			`data: {"type":"response.completed","response":{"status":"completed","output":[]}}` + "\n\n",
		"whole": `data: {"type":"response.completed","response":{"status":"completed","output":[` + item + "," + message + "]}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.Start(t, llmtest.Exchange{Body: body})
			var pictures []string
			text := ""
			for delta, err := range provider(t, server, llm.ServerConfig{}).Stream(t.Context(), llmtest.Hello()) {
				if err != nil {
					t.Fatal(err)
				}
				pictures, text = append(pictures, delta.Pictures...), text+delta.Text
			}
			if !slices.Equal(pictures, []string{"data:image;base64,iVBORw0KGgo="}) || text != "A cat." {
				t.Errorf("%q has the pictures %q", text, pictures)
			}
		})
	}
}

// A field that a model refuses is left out of the same request and of each later one.
func TestFieldsRefused(t *testing.T) {
	for message, field := range map[string]string{
		"Unsupported parameter: 'temperature' is not supported with this model.":      `"temperature"`,
		"Unsupported parameter: 'reasoning.effort' is not supported with this model.": `"effort"`,
		"Unknown parameter: 'prompt_cache_key'.":                                      `"prompt_cache_key"`,
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": message}})
		if err != nil {
			t.Fatal(err)
		}
		server := llmtest.Start(t, llmtest.Exchange{Status: 400, Body: string(body)}, llmtest.Exchange{Reply: "Hi.", Times: -1})
		p, cold := provider(t, server, llm.ServerConfig{Model: "gpt-4o", Effort: "low"}), 0.2
		request := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}, Temperature: &cold}
		for range 2 {
			if _, err := llm.Collect(p.Stream(t.Context(), request)); err != nil {
				t.Fatalf("after %q: %v", message, err)
			}
		}
		for i, r := range server.Requests() {
			if strings.Contains(string(r.Body), field) != (i == 0) {
				t.Errorf("after %q request %d is %s", message, i, r.Body)
			}
		}
	}
}

// What the model thought goes back before its calls, to the byte, and to no other model. The strict server
// refuses anything else. Results find their calls by the server's ids.
func TestThinkingGoesBack(t *testing.T) {
	calls := []llmtest.Call{{ID: "call_a", Name: "read", Arguments: `{ "path": "a<b" }`}, {ID: "call_b", Name: "read", Arguments: `{"path":"b"}`}}
	for name, change := range map[string]func(*llm.Request){
		"unchanged":     func(*llm.Request) {},
		"another model": func(r *llm.Request) { r.Model = "gpt-4o" },
		"an edited call": func(r *llm.Request) {
			edited := *r.Messages[1].Calls[0].Function
			edited.Arguments = `{"path":"elsewhere"}`
			r.Messages[1].Calls[0].Function = &edited
		},
		"another function": func(r *llm.Request) {
			edited := *r.Messages[1].Calls[0].Function
			edited.Name = "write"
			r.Messages[1].Calls[0].Function = &edited
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.Start(t, llmtest.Exchange{Match: "Hello", Reasoning: "I must look.", Calls: calls}, llmtest.Exchange{Match: "what is there", Reply: "Done."})
			p := provider(t, server, llm.ServerConfig{})
			request := offered()
			reply, err := llmtest.Ask(t, p, request)
			if err != nil || reply.Original == nil {
				t.Fatalf("%+v, %v", reply, err)
			}
			request.Messages = append(request.Messages, answered(reply, "what is there")...)
			change(&request)
			request = dialect.NewNative(true).Render(request)
			if reply, err = llmtest.Ask(t, p, request); err != nil || reply.Text != "Done." {
				t.Fatalf("%+v, %v\n%s", reply, err, server.Requests()[len(server.Requests())-1].Body)
			}
			var body struct{ Input []json.RawMessage }
			if err := json.Unmarshal(server.Requests()[1].Body, &body); err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, item := range body.Input {
				all += string(item) + "\n"
			}
			want := map[string][]string{
				"unchanged":        {`"type":"reasoning"`, `"call_id":"call_a"`, `{ \"path\": \"a\u003cb\" }`, `"id":"fc_`},
				"another model":    {`"type":"function_call"`},
				"an edited call":   {`"type":"reasoning"`, `"call_id":"call_a"`, `elsewhere`},
				"another function": {`"name":"write"`},
			}[name]
			for _, part := range want {
				if !strings.Contains(all, part) {
					t.Errorf("there is no %s in\n%s", part, all)
				}
			}
			if thought := strings.Contains(all, `"type":"reasoning"`); thought != (want[0] == `"type":"reasoning"`) {
				t.Errorf("the thought is sent: %v\n%s", thought, all)
			}
		})
	}
}

// A conversation whose thinking the server cannot read any more goes on without it, and a model that
// sends none is not asked for any again.
func TestThinkingRefused(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: "Done.", Times: -1})
	p := provider(t, server, llm.ServerConfig{})
	request := offered()
	stale := &llm.Original{Writer: llm.Writer("test", "test-model"),
		Data: json.RawMessage(`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"b3RoZXI="},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{}"}]`)}
	request.Messages = append(request.Messages, answered(llm.Reply{Original: stale, Calls: []llm.FunctionCall{{ID: "x", Name: "read", Arguments: "{}"}}}, "there")...)
	if reply, err := llmtest.Ask(t, p, request); err != nil || reply.Text != "Done." {
		t.Errorf("%+v, %v", reply, err)
	}
	if requests := server.Requests(); len(requests) != 1 || strings.Contains(string(requests[0].Body), "rs_1") {
		t.Errorf("there were %d requests that were taken: %s", len(requests), requests[0].Body)
	}
	for range 2 {
		request := llmtest.Hello()
		request.Model = "gpt-4o"
		if _, err := llmtest.Ask(t, p, request); err != nil {
			t.Error(err)
		}
	}
}

// The second turn of a long conversation reuses what was sent in the first.
func TestPromptIsCached(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Match: "Hello", Reasoning: "I must look.", Calls: []llmtest.Call{{ID: "call_a", Name: "read", Arguments: `{"path":"a"}`}}},
		llmtest.Exchange{Match: "^$|there", Reply: "It says so.", Times: -1}, llmtest.Exchange{Match: "And then", Reply: "That is all."})
	p := llm.Rendered{Next: provider(t, server, llm.ServerConfig{}), Dialect: dialect.NewNative(true)}
	request := offered()
	for i := range 40 {
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: fmt.Sprintf("Answer %d: %s", i, strings.Repeat("long ", 50))},
			llm.Message{Role: llm.RoleUser, Text: fmt.Sprintf("Question %d: %s", i, strings.Repeat("words ", 50))})
	}
	request.Messages[len(request.Messages)-1].Text = "Hello again"
	reply, err := llmtest.Ask(t, p, request)
	if err != nil {
		t.Fatal(err)
	}
	request.Messages = append(request.Messages, answered(reply, "what is there")...)
	for _, next := range []string{"And then?", "there"} {
		reply, err := llmtest.Ask(t, p, request)
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(reply.Usage.Cached) / float64(reply.Usage.Input); share < 0.95 {
			t.Errorf("of %d tokens %d are reused", reply.Usage.Input, reply.Usage.Cached)
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: reply.Text}, llm.Message{Role: llm.RoleUser, Text: next})
	}
	keys := map[string]bool{}
	for _, r := range server.Requests() {
		var body struct {
			Key string `json:"prompt_cache_key"`
		}
		if json.Unmarshal(r.Body, &body) != nil || body.Key == "" {
			t.Errorf("no key in %.200s", r.Body)
		}
		keys[body.Key] = true
	}
	if len(keys) != 1 {
		t.Errorf("the conversation has %d keys", len(keys))
	}
}

// What the settings and the request say is sent.
func TestRequest(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Times: -1})
	temperature := 0.0
	p := provider(t, server, llm.ServerConfig{Key: "key-1234", Effort: "xhigh", Query: "api-version=1", Headers: map[string]secret.Text{"X-Team": "garden"},
		Body: map[string]any{"service_tier": "flex", "text": map[string]any{"verbosity": "low"}}, GrammarField: "grammar"})
	request := offered()
	request.Temperature, request.MaxTokens, request.Grammar = &temperature, 5, "root ::= x"
	request.Messages[0].Images = []llm.Image{{Name: "a.png", Media: "image/png", Data: []byte("bytes")}}
	if _, err := llmtest.Ask(t, p, request); err != nil {
		t.Fatal(err)
	}
	r := server.Requests()[0]
	if r.Path != "/v1/responses" || r.Query != "api-version=1" || r.Header.Get("X-Team") != "garden" || r.Header.Get("Authorization") != "Bearer key-1234" || r.Header.Get("User-Agent") != "org-agent" || r.Header.Get("X-Stainless-Os") != "" {
		t.Errorf("%s?%s with %v", r.Path, r.Query, r.Header)
	}
	for _, part := range []string{`"store":false`, `"stream":true`, `"include":["reasoning.encrypted_content"]`, `"instructions":"Answer."`, `"reasoning":{"effort":"xhigh"}`, `"temperature":0`,
		`"max_output_tokens":16`, `"service_tier":"flex"`, `"text":{"verbosity":"low"}`, `"strict":false`, `"parameters":{"type":"object","properties":{}}`, `"name":"grep_it__`,
		`"content":[{"type":"input_image","image_url":"data:image/png;base64,Ynl0ZXM=","detail":"auto"},{"type":"input_text","text":"Hello"}]`} {
		if !strings.Contains(string(r.Body), part) {
			t.Errorf("there is no %s in %s", part, r.Body)
		}
	}
	if strings.Contains(string(r.Body), "root ::=") {
		t.Errorf("a grammar is sent beside functions: %s", r.Body)
	}
	request.Tools, request.Schema = nil, func(int) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	}
	if _, err := llmtest.Ask(t, p, request); err != nil || !strings.Contains(string(server.Requests()[1].Body), `"text":{"format":{"name":"reply","schema":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true,"type":"json_schema"},"verbosity":"low"}`) ||
		strings.Contains(string(server.Requests()[1].Body), "root ::=") {
		t.Errorf("with a schema, %v: %s", err, server.Requests()[1].Body)
	}
	for _, model := range []string{"gpt-5.4", "gpt-4o"} { // one takes no temperature, the other sends no thinking
		request := llmtest.Hello()
		request.Model, request.Temperature = model, &temperature
		if _, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), request); err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
	if names, err := p.Models(t.Context()); err != nil || !slices.Equal(names, []string{"test-model"}) {
		t.Errorf("the models are %q, %v", names, err)
	}
	request = llmtest.Hello()
	request.Model = ""
	if reply, err := llmtest.Ask(t, p, request); err != nil || reply.Model != "test-model" {
		t.Errorf("the only model is not asked: %+v, %v", reply, err)
	}
}

// How replies end.
func TestFinish(t *testing.T) {
	cut := llmtest.Call{ID: "call_a", Name: "read", Arguments: `{"path":"a long name"}`}
	for name, test := range map[string]struct {
		exchange llmtest.Exchange
		want     llm.Reply
	}{
		"length":  {llmtest.Exchange{Reply: "Good", Ending: llmtest.Ending{Finish: "length"}}, llm.Reply{Text: "Good", Finish: llm.FinishLength}},
		"filter":  {llmtest.Exchange{Reply: "Good", Ending: llmtest.Ending{Finish: "content_filter"}}, llm.Reply{Text: "Good", Finish: llm.FinishFiltered}},
		"refusal": {llmtest.Exchange{Reply: "I do not.", Refused: true}, llm.Reply{Text: "I do not.", Finish: llm.FinishStop}},
		"cut":     {llmtest.Exchange{Calls: []llmtest.Call{cut}, Ending: llmtest.Ending{Finish: "length"}}, llm.Reply{Finish: llm.FinishLength, Calls: []llm.FunctionCall{{ID: "call_a", Name: "read", Arguments: `{"path":"a `}}}},
		"whole":   {llmtest.Exchange{Reply: "Good", Calls: []llmtest.Call{cut}, Ending: llmtest.Ending{Whole: true}}, llm.Reply{Text: "Good", Finish: llm.FinishTools, Calls: []llm.FunctionCall{{ID: "call_a", Name: "read", Arguments: `{"path":"a long name"}`}}}},
		"broken":  {llmtest.Exchange{Calls: []llmtest.Call{{ID: "call_a", Name: "read", Arguments: `{"x":`}}}, llm.Reply{Finish: llm.FinishTools, Calls: []llm.FunctionCall{{ID: "call_a", Name: "read", Arguments: `{"x":`}}}},
		"nothing": {llmtest.Exchange{}, llm.Reply{Finish: llm.FinishStop}},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := llmtest.Ask(t, provider(t, llmtest.Start(t, test.exchange), llm.ServerConfig{}), offered())
			if err != nil || reply.Text != test.want.Text || reply.Finish != test.want.Finish || !slices.Equal(reply.Calls, test.want.Calls) {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
}

// Errors are of the same kinds as those of other protocols.
func TestFailures(t *testing.T) {
	event := func(lines ...string) llmtest.Exchange {
		return llmtest.Exchange{Body: "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"}
	}
	status := func(code int, kind, message string) llmtest.Exchange {
		return llmtest.Exchange{Status: code, Headers: map[string]string{"Retry-After": "7"}, Body: fmt.Sprintf(`{"error":{"message":%q,"type":"x","code":%q}}`, message, kind)}
	}
	failed := func(code string) llmtest.Exchange {
		return llmtest.Exchange{Reply: "Good", Ending: llmtest.Ending{Finish: "failed"}, Fault: llmtest.Fault{Error: json.RawMessage(fmt.Sprintf(`{"code":%q,"message":"it broke"}`, code))}}
	}
	for name, test := range map[string]struct {
		exchange llmtest.Exchange
		class    llm.Class
	}{
		"key":              {status(401, "invalid_api_key", "Incorrect API key provided: key-1234"), llm.ClassAuth},
		"quota":            {status(429, "insufficient_quota", "You exceeded your current quota"), llm.ClassQuota},
		"rate":             {status(429, "rate_limit_exceeded", "Rate limit reached"), llm.ClassRateLimit},
		"too long":         {status(400, "context_length_exceeded", "Your input exceeds the context window"), llm.ClassTooLong},
		"model":            {status(404, "model_not_found", "The model does not exist"), llm.ClassModel},
		"overloaded":       {status(503, "server_error", "overloaded"), llm.ClassServer},
		"refused":          {status(400, "invalid_value", "no"), llm.ClassBadRequest},
		"page":             {llmtest.Exchange{Body: "<html><title>Hello</title></html>"}, llm.ClassProtocol},
		"redirect":         {llmtest.Exchange{Status: 302, Headers: map[string]string{"Location": "http://elsewhere/"}}, llm.ClassProtocol},
		"error event":      {llmtest.Exchange{Reply: "Good", Fault: llmtest.Fault{Error: json.RawMessage(`{"code":"server_error","message":"it broke","param":null}`)}}, llm.ClassServer},
		"nested error":     {event(`{"type":"error","error":{"type":"x","code":"rate_limit_exceeded","message":"slower"}}`), llm.ClassRateLimit},
		"bare error":       {event(`{"type":"error"}`), llm.ClassServer},
		"failed":           {failed("server_error"), llm.ClassServer},
		"failed by rate":   {failed("rate_limit_exceeded"), llm.ClassRateLimit},
		"failed, silently": {event(`{"type":"response.failed"}`), llm.ClassServer},
		"cut":              {llmtest.Exchange{Reply: "Good day to you all", Fault: llmtest.Fault{CutAfter: 1}}, llm.ClassTruncated},
		"no end":           {llmtest.Exchange{Reply: "Good", Ending: llmtest.Ending{Finish: "none"}}, llm.ClassTruncated},
		"cancelled":        {event(`{"type":"response.completed","response":{"status":"cancelled"}}`), llm.ClassTruncated},
		"no JSON":          {event(`{"type":`), llm.ClassProtocol},
		"no item":          {event(`{"type":"response.output_item.done","output_index":0,"item":7}`), llm.ClassProtocol},
		"endless line":     {llmtest.Exchange{Body: "data: {", BodySize: 9 << 20}, llm.ClassProtocol},
		"many calls":       {llmtest.Exchange{Calls: many(llm.CallsLimit + 1)}, llm.ClassEndless},
		"a long call":      {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":"` + strings.Repeat("x", 2*llm.ReplyLimit) + `"}`}}}, llm.ClassEndless},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := llmtest.Ask(t, provider(t, llmtest.Start(t, test.exchange), llm.ServerConfig{Key: "key-1234"}), offered())
			if llm.ClassOf(err) != test.class {
				t.Errorf("the error is %v, of class %q", err, llm.ClassOf(err))
			}
			if err != nil && strings.Contains(err.Error(), "key-1234") {
				t.Errorf("the error shows the key: %v", err)
			}
			if test.exchange.Status == 429 && !strings.Contains(llm.HintOf(err), "7s") && test.class == llm.ClassRateLimit {
				t.Errorf("it does not say how long to wait: %s", llm.HintOf(err))
			}
		})
	}
	if _, err := llmtest.Ask(t, provider(t, nil, llm.ServerConfig{BaseURL: "http://127.0.0.1:1/v1"}), llmtest.Hello()); llm.ClassOf(err) != llm.ClassUnreachable {
		t.Errorf("the error is %v", err)
	}
	unrendered := llmtest.Hello()
	unrendered.Messages = append(unrendered.Messages, llm.Message{Role: llm.RoleKernel, Text: "a note"})
	if _, err := llmtest.Ask(t, provider(t, llmtest.Start(t), llm.ServerConfig{}), unrendered); llm.ClassOf(err) != llm.ClassBadRequest {
		t.Errorf("the error is %v", err)
	}
}

// many returns so many calls.
func many(n int) (calls []llmtest.Call) {
	for i := range n {
		calls = append(calls, llmtest.Call{ID: fmt.Sprint("call_", i), Name: "read", Arguments: "{}"})
	}
	return calls
}

// What a server sends otherwise than the documentation says.
func TestOtherEvents(t *testing.T) {
	done := `{"type":"response.completed","response":{"status":"completed"}}`
	item := func(index int, fields string) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{%s}}`, index, fields)
	}
	for name, test := range map[string]struct {
		events []string
		want   string // the text and the calls
	}{
		"only items":           {[]string{item(0, `"type":"message","content":[{"type":"output_text","text":"Good"}]`), item(1, `"type":"function_call","call_id":"a","name":"read","arguments":"{}"`), done}, `Good [{a read {}}]`},
		"only done":            {[]string{`{"type":"response.output_text.done","output_index":0,"text":"Good"}`, done}, `Good []`},
		"only the end":         {[]string{`{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"Good"}]}]}}`}, `Good []`},
		"the same item again":  {[]string{item(0, `"id":"fc_1","type":"function_call","call_id":"a","name":"read","arguments":"{}"`), item(0, `"id":"fc_1","type":"function_call","call_id":"a","name":"read","arguments":"{}"`), done}, ` [{a read {}}]`},
		"two with one id":      {[]string{item(0, `"id":"fc_1","type":"function_call","call_id":"a","name":"read","arguments":"{}"`), item(1, `"id":"fc_2","type":"function_call","call_id":"a","name":"grep","arguments":"{}"`), done}, ` [{a read {}} {a grep {}}]`},
		"an object":            {[]string{item(0, `"type":"function_call","call_id":"a","name":"read","arguments":{"x":1}`), done}, ` [{a read {"x":1}}]`},
		"out of order":         {[]string{item(1, `"type":"function_call","call_id":"b","name":"read","arguments":"{}"`), item(0, `"type":"function_call","call_id":"a","name":"read","arguments":"{}"`), done}, ` [{a read {}} {b read {}}]`},
		"unknown":              {[]string{`{"type":"response.sung","delta":"la"}`, item(0, `"type":"song","id":"s"`), `{"type":"response.sung","delta":"la"}`, `{}`, `{"type":"response.output_text.delta","delta":{"text":7}}`, done}, ` []`},
		"arguments beforehand": {[]string{`{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`, item(0, `"type":"function_call","call_id":"a","name":"read"`), done}, ` [{a read {}}]`},
		"sources":              {[]string{`{"type":"response.output_text.delta","delta":"Good"}`, `{"type":"response.output_text.annotation.added","annotation":{"type":"url_citation","url":"https://a.example/","title":"A"}}`, done}, "Good\n\nSources:\n\n- [A](https://a.example/) []"},
		"behind the end":       {[]string{done, `{"type":"error","message":"late"}`}, ` []`},
		"[DONE]":               {[]string{`{"type":"response.output_text.delta","delta":"Good"}`, done, "[DONE]"}, `Good []`},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			server := llmtest.Start(t, llmtest.Exchange{Body: "data: " + strings.Join(test.events, "\n\ndata: ") + "\n\n"})
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))}), offered())
			if got := fmt.Sprint(reply.Text, " ", reply.Calls); err != nil || got != test.want {
				t.Errorf("%s, %v", got, err)
			}
			if n := strings.Count(log.String(), "kind=response.sung"); name == "unknown" && n != 1 {
				t.Errorf("what is not known was logged %d times:\n%s", n, &log)
			}
		})
	}
}

// Two calls with the same id are two calls for the server too: it gets ids by which each result finds its
// call.
func TestSameIDs(t *testing.T) {
	call := llmtest.Call{ID: "call_a", Name: "read", Arguments: `{"path":"a"}`}
	server := llmtest.Start(t, llmtest.Exchange{Match: "Hello", Reasoning: "Twice.", Calls: []llmtest.Call{call, call}}, llmtest.Exchange{Match: "there", Reply: "Done."})
	p := llm.Rendered{Next: provider(t, server, llm.ServerConfig{}), Dialect: dialect.NewNative(true)}
	request := offered()
	reply, err := llmtest.Ask(t, p, request)
	if err != nil || len(reply.Calls) != 2 {
		t.Fatalf("%+v, %v", reply, err)
	}
	request.Messages = append(request.Messages, answered(reply, "one", "there")...)
	if reply, err = llmtest.Ask(t, p, request); err != nil || reply.Text != "Done." {
		t.Errorf("%+v, %v", reply, err)
	}
}
