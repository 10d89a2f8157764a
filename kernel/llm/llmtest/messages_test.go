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

// postMessages asks a server by Anthropic's Messages and returns the status and the body.
func postMessages(t *testing.T, server *llmtest.Server, body string, version string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		request.Header.Set("Anthropic-Version", version)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// TestMessagesAreStrict checks that the server refuses what the real one refuses, in its form.
func TestMessagesAreStrict(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Times: -1, Reply: "x", Ending: llmtest.Ending{Whole: true}})
	const (
		user   = `{"role":"user","content":"hi"}`
		use    = `{"type":"tool_use","id":"a","name":"read","input":{}}`
		uses   = `{"role":"assistant","content":[` + use + `]}`
		result = `{"type":"tool_result","tool_use_id":"a","content":"x"}`
		marked = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
		secret = `{"type":"redacted_thinking","data":"eA=="}`
		tool   = `{"name":"read","input_schema":{"type":"object"}}`
	)
	request := func(messages, more string) string {
		return `{"model":"m","max_tokens":2048,"messages":[` + messages + `]` + more + `}`
	}
	said := func(role string, content ...string) string {
		return `{"role":"` + role + `","content":[` + strings.Join(content, ",") + `]}`
	}
	for name, c := range map[string]struct{ body, says string }{
		"as documented":                {request(user+","+uses+","+said("user", result, `{"type":"text","text":"and"}`), `,"system":"s","tools":[`+tool+`],"stream":false,"temperature":1`), ""},
		"neighbours of one role":       {request(user+","+user, ""), ""},
		"four marks":                   {request(said("user", marked, marked, marked, marked), ""), ""},
		"no length":                    {`{"model":"m","messages":[` + user + `]}`, "max_tokens: Field required"},
		"no model":                     {`{"max_tokens":1,"messages":[` + user + `]}`, "model: Field required"},
		"a field that is not known":    {request(user, `,"frequency_penalty":1`), "frequency_penalty"},
		"a field of a block":           {request(said("user", `{"type":"text","text":"x","name":"y"}`), ""), "text.name: Extra inputs"},
		"no messages":                  {request("", ""), "at least one message"},
		"the model first":              {request(said("assistant", `{"type":"text","text":"x"}`)+","+user, ""), `first message must use the \"user\" role`},
		"another role":                 {request(user+`,{"role":"tool","content":"x"}`, ""), "messages.1.role"},
		"an empty text":                {request(`{"role":"user","content":" \n"}`, ""), "non-whitespace text"},
		"no content":                   {request(`{"role":"user","content":[]}`, ""), "non-empty content"},
		"white space at the end":       {request(user+","+said("assistant", `{"type":"text","text":"x "}`), ""), "trailing whitespace"},
		"no result":                    {request(user+","+uses+","+user, ""), "without `tool_result` blocks immediately after: a"},
		"no message with the result":   {request(user+","+uses, ""), "without `tool_result` blocks immediately after: a"},
		"a result without its call":    {request(said("user", result), ""), "unexpected `tool_use_id`"},
		"a result that comes late":     {request(user+","+uses+","+said("user", result)+","+said("user", result), ""), "unexpected `tool_use_id`"},
		"a result twice":               {request(user+","+uses+","+said("user", result, result), ""), "multiple `tool_result`"},
		"a text before the result":     {request(user+","+uses+","+said("user", `{"type":"text","text":"x"}`, result), ""), "must come before"},
		"an id twice":                  {request(user+","+said("assistant", use, use)+","+said("user", result), ""), "ids must be unique"},
		"an id of others":              {request(user+","+said("assistant", strings.Replace(use, `"a"`, `"functions.f:0"`, 1))+","+said("user", strings.Replace(result, `"a"`, `"functions.f:0"`, 1)), ""), "tool_use.id"},
		"an input that is no object":   {request(user+","+said("assistant", strings.Replace(use, `{}`, `"x"`, 1))+","+said("user", result), ""), "valid dictionary"},
		"a call of the user":           {request(said("user", use), ""), "expected tags of role user"},
		"a thought that was changed":   {request(user+","+said("assistant", `{"type":"thinking","thinking":"x","signature":"y"}`, `{"type":"text","text":"x"}`), ""), "invalid `signature`"},
		"a secret that was changed":    {request(user+","+said("assistant", secret, `{"type":"text","text":"x"}`), ""), "invalid `data`"},
		"a thought that was lost":      {request(user+","+uses+","+said("user", result), `,"thinking":{"type":"enabled","budget_tokens":1024}`), "Expected `thinking`"},
		"a turn that is over":          {request(user+","+uses+","+said("user", result)+`,{"role":"assistant","content":"x"},`+user, `,"thinking":{"type":"enabled","budget_tokens":1024}`), ""},
		"too little to think":          {request(user, `,"thinking":{"type":"enabled","budget_tokens":1000}`), "1024"},
		"too much to think":            {request(user, `,"thinking":{"type":"enabled","budget_tokens":2048}`), "must be greater"},
		"warm thoughts":                {request(user, `,"thinking":{"type":"adaptive"},"temperature":0.5`), "may only be set to 1"},
		"too warm":                     {request(user, `,"temperature":1.5`), "range: 0..1"},
		"an effort that is none":       {request(user, `,"output_config":{"effort":"some"}`), "output_config.effort"},
		"five marks":                   {request(said("user", marked, marked, marked, marked), `,"system":[`+marked+`]`), "maximum of 4 blocks"},
		"a tool's name":                {request(user, `,"tools":[{"name":"a b","input_schema":{"type":"object"}}]`), "{1,128}"},
		"a tool twice":                 {request(user, `,"tools":[`+tool+`,`+tool+`]`), "unique"},
		"a tool's field":               {request(user, `,"tools":[{"name":"a","parameters":{},"input_schema":{"type":"object"}}]`), "parameters: Extra inputs"},
		"a schema of something else":   {request(user, `,"tools":[{"name":"a","input_schema":{"type":"string"}}]`), "Input should be 'object'"},
		"a schema with alternatives":   {request(user, `,"tools":[{"name":"a","input_schema":{"type":"object","anyOf":[{}]}}]`), "at the top level"},
		"a schema with a field's name": {request(user, `,"tools":[{"name":"a","input_schema":{"type":"object","properties":{"a b":{}}}}]`), "Property keys"},
		"an image that is none":        {request(said("user", `{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"eA=="}}`), ""), "media_type"},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := postMessages(t, server, c.body, "2023-06-01")
			var refused struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if err := json.Unmarshal([]byte(answer), &refused); err != nil {
				t.Fatal(err)
			}
			switch {
			case c.says == "" && status != http.StatusOK,
				c.says != "" && (status != http.StatusBadRequest || !strings.Contains(answer, c.says) || refused.Type != "error" || refused.Error.Type != "invalid_request_error"):
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	if status, answer := postMessages(t, server, request(user, ""), ""); status != http.StatusBadRequest || !strings.Contains(answer, "anthropic-version") {
		t.Errorf("without a version: %d %s", status, answer)
	}
}

// TestMessagesCountWhatIsCached checks that only marked beginnings are kept, that they are found where a
// later request looks for them, and that any change before them loses them.
func TestMessagesCountWhatIsCached(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Times: -1, Reply: "x", Ending: llmtest.Ending{Whole: true}})
	long := strings.Repeat("x", 4000)
	text := func(text string, mark bool) string {
		if !mark {
			return fmt.Sprintf(`{"type":"text","text":%q}`, text)
		}
		return fmt.Sprintf(`{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}`, text)
	}
	for i, c := range []struct {
		system, content string
		read, created   bool
	}{
		{text("s", false), text(long, false), false, false},
		{text("s", false), text(long, true), false, true},
		{text("s", false), text(long, true), true, false},
		{text("s", false), text(long, false) + "," + text("more", true), true, true},
		{text("s", false), text(long, false) + "," + text("more", false), false, false}, // nobody looks
		{text("other", false), text(long, true), false, true},
		{text("s", false), text(long, false) + strings.Repeat(","+text("y", false), 20) + "," + text("z", true), false, true}, // too far back
	} {
		status, answer := postMessages(t, server, `{"model":"m","max_tokens":1,"system":[`+c.system+`],"messages":[{"role":"user","content":[`+c.content+`]}]}`, "2023-06-01")
		var got struct {
			Usage struct {
				Input   int `json:"input_tokens"`
				Created int `json:"cache_creation_input_tokens"`
				Read    int `json:"cache_read_input_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(answer), &got); err != nil || status != http.StatusOK {
			t.Fatal(status, answer, err)
		}
		if u := got.Usage; u.Read > 900 != c.read || u.Created > 0 != c.created || u.Input+u.Created+u.Read < 1000 {
			t.Errorf("request %d: %+v", i, u)
		}
	}
}
