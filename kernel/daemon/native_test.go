package daemon_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// calls is a reply that calls functions, with a text before them.
func calls(said string, calls ...llmtest.Call) llmtest.Exchange {
	return llmtest.Exchange{Reply: said, Calls: calls}
}

// native is a configuration with a model that is asked with functions.
func native(model *llmtest.Server) string {
	return "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: " + model.URL() + "\n:MODEL: mine-1\n:DIALECT: native\n:API_KEY: env:ORG_AGENT_LLM_API_KEY\n:END:\n* Settings\n:PROPERTIES:\n:LLM: mine\n:END:\n"
}

// wire returns the messages of a request as a server gets them, and the functions that it offers.
func wire(t *testing.T, received llmtest.Received) (messages []map[string]any, functions []string) {
	t.Helper()
	var body struct {
		Messages []map[string]any
		Tools    []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(received.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, tool := range body.Tools {
		functions = append(functions, tool.Function.Name)
	}
	return body.Messages, functions
}

// A model that is asked with functions reads a skill, several at once, is told of what it does wrong, and
// answers in plain text. Nothing of property lists is shown to it, and nothing of functions to the person.
func TestFunctions(t *testing.T) {
	garden := llmtest.Call{ID: "call-1", Name: "use_skill", Arguments: `{"name":"garden"}`}
	roses := llmtest.Call{ID: "call-2", Name: "use_skill", Arguments: `{"name":"garden","section":"Roses"}`}
	listed := llmtest.Call{ID: "call-3", Name: "list_skills"}
	asked := llmtest.Call{ID: "call-4", Name: "ask_user", Arguments: `{"questions":[]}`}
	answer := llmtest.Exchange{Reply: "* Roses\nThey want water."}
	for name, test := range map[string]struct {
		exchanges []llmtest.Exchange
		shown     []string // what the last request has
		state     string
	}{
		"one":           {[]llmtest.Exchange{calls("I look into it.", garden), answer}, []string{`Water the roses \"daily\".`, `"content":"I look into it."`}, "answered"},
		"together":      {[]llmtest.Exchange{calls("", roses, listed), answer}, []string{`Water the roses`, "garden: What garden is for."}, "answered"},
		"one at a time": {[]llmtest.Exchange{calls("", asked, garden), answer}, []string{"The kernel says: One at a time: of your 2 calls only the first was made.", `"arguments":"{\"name\":\"garden\"}"`, "not made, because another call came before it"}, "answered"},
		"unknown":       {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "use_skil", Arguments: "{}"}), answer}, []string{`there is no function \"use_skil\"; use_skill is one`}, "answered"},
		"never offered": {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "tool_eval", Arguments: `{"code":"1"}`}), answer}, []string{`there is no function`}, "answered"},
		"not JSON":      {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "use_skill", Arguments: `{"name":"gar`}), answer}, []string{`the arguments are not JSON`, `unreadable`}, "answered"},
		"not an object": {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "use_skill", Arguments: `["garden"]`}), answer}, []string{`the arguments are not a JSON object`}, "answered"},
		"twice encoded": {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "use_skill", Arguments: `"{\"name\":\"garden\"}"`}), answer}, []string{`Water the roses`}, "answered"},
		"wrong types":   {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "use_skill", Arguments: `{"name":5}`}), answer}, []string{`the argument :name is a string`}, "answered"},
		"cut off":       {[]llmtest.Exchange{{Calls: []llmtest.Call{garden}, Ending: llmtest.Ending{Finish: "length"}}, answer}, []string{`in the middle of a call, so nothing was done`}, "answered"},
		"the same id":   {[]llmtest.Exchange{calls("", garden), calls("", roses), calls("", garden), answer}, []string{`Water the roses`}, "answered"},
		"twice wrong":   {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "nothing"}), calls("", llmtest.Call{ID: "y", Name: "use_skill", Arguments: "{"}), calls("", garden), answer}, []string{`Water the roses`}, "answered"},
		"never right":   {[]llmtest.Exchange{{Calls: []llmtest.Call{{ID: "x", Name: "nothing"}}, Times: -1}}, []string{`there is no function`}, "failed"},
		"empty, then":   {[]llmtest.Exchange{{}, answer}, []string{"with a call of a function that is offered"}, "answered"},
	} {
		t.Run(name, func(t *testing.T) {
			in, model := newInstanceAndModel(t, test.exchanges...)
			in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nWater the roses \"daily\".\n"))
			in.write(t, "config.org", native(model))
			delete(in.variables, "ORG_AGENT_LLM")
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			if got := ask(t, e, "q1", "What about the garden?"); string(got.state) != test.state {
				t.Errorf("the turn ended %+v", got)
			}
			if test.state == "answered" {
				wantBare(t, e, "* What about the garden?\n** Roses\nThey want water.\n* ")
			}
			// What was said beside a call was told at once, and stands by itself in the file.
			said, kept := e.Commentary(), strings.Contains(e.Text(), ":COMMENTARY:\n: I look into it.\n:END:\n:CALLS:\n")
			if name == "one" && (!slices.Equal(said, []string{"I look into it."}) || !kept) || name != "one" && len(said) > 0 {
				t.Errorf("beside the calls was said %q, and the file has\n%s", said, e.Text())
			}
			requests := model.Requests()
			for _, r := range requests {
				if body := string(r.Body); strings.Contains(body, ":type") || strings.Contains(body, "property list") {
					t.Errorf("a model with functions is told of property lists: %s", body)
				}
			}
			messages, functions := wire(t, requests[len(requests)-1])
			if offered := strings.Join(functions, " "); !strings.Contains(offered, "use_skill") || strings.Contains(offered, "insert") || strings.Contains(offered, "response") {
				t.Errorf("the functions are %s", offered)
			}
			encoded, err := json.Marshal(messages[1:])
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range test.shown {
				if !strings.Contains(string(encoded), part) {
					t.Errorf("the model was not shown %q:\n%s", part, encoded)
				}
			}
		})
	}
}

// The same by Anthropic's Messages, whose strict server refuses what is not in its order: each result in the
// message behind its call, also of calls that could not be made.
func TestFunctionsOfMessages(t *testing.T) {
	garden := llmtest.Call{ID: "toolu_1", Name: "use_skill", Arguments: `{"name":"garden"}`}
	roses := llmtest.Call{ID: "toolu_2", Name: "use_skill", Arguments: `{"name":"garden","section":"Roses"}`}
	asked := llmtest.Call{ID: "toolu_3", Name: "ask_user", Arguments: `{"questions":[]}`}
	answer := llmtest.Exchange{Reply: "* Roses\nThey want water."}
	for name, test := range map[string]struct {
		exchanges []llmtest.Exchange
		shown     []string // what the last request has
	}{
		"one":           {[]llmtest.Exchange{calls("I look into it.", garden), answer}, []string{`Water the roses \"daily\".`, `"input":{"name":"garden"}`}},
		"together":      {[]llmtest.Exchange{calls("", roses, garden), answer}, []string{`Water the roses`, `"section":"Roses"`}},
		"one at a time": {[]llmtest.Exchange{calls("", asked, garden), answer}, []string{"The kernel says: One at a time: of your 2 calls only the first was made.", "not made, because another call came before it"}},
		"not JSON":      {[]llmtest.Exchange{calls("", llmtest.Call{ID: "x", Name: "use_skill", Arguments: `{"name":"gar`}), answer}, []string{`the arguments are not JSON`, `"unreadable":"{\"name\":\"gar"`, `"is_error":true`}},
		"cut off":       {[]llmtest.Exchange{{Calls: []llmtest.Call{garden, roses}, Ending: llmtest.Ending{Finish: "max_tokens"}}, answer}, []string{`in the middle of a call, so nothing was done`}},
		"the same id":   {[]llmtest.Exchange{calls("", garden, garden), calls("", garden), answer}, []string{`Water the roses`}},
		"empty, then":   {[]llmtest.Exchange{{Unshown: true}, answer}, []string{"with a call of a function that is offered"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, model := newInstanceAndModel(t, test.exchanges...)
			in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nWater the roses \"daily\".\n"))
			in.write(t, "config.org", strings.Replace(native(model), ":DIALECT: native", ":DIALECT: native\n:DRIVER: anthropic", 1))
			delete(in.variables, "ORG_AGENT_LLM")
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			if got := ask(t, e, "q1", "What about the garden?"); got.state != "answered" {
				t.Fatalf("the turn ended %+v", got)
			}
			wantBare(t, e, "* What about the garden?\n** Roses\nThey want water.\n* ")
			requests := model.Requests()
			last := string(requests[len(requests)-1].Body)
			for _, part := range append(test.shown, `"name":"use_skill"`) {
				if !strings.Contains(last, part) {
					t.Errorf("the model was not shown %q:\n%s", part, last)
				}
			}
			if strings.Contains(last, ":type") {
				t.Errorf("a model with functions is told of property lists: %s", last)
			}
		})
	}
}

// A model that thinks gets its thoughts back, with the calls that came of them, also in later turns and after
// a new start. The strict server refuses thoughts that were changed, or stand elsewhere. Little of a later
// request is new to the server.
func TestThoughtsGoBack(t *testing.T) {
	for driver, thought := range map[string]string{"responses": `"encrypted_content":"`, "anthropic": `"signature":"`} {
		t.Run(driver, func(t *testing.T) { thoughtsGoBack(t, driver, thought) })
	}
}

func thoughtsGoBack(t *testing.T, driver, thought string) {
	listed := llmtest.Call{ID: "call-1", Name: "list_skills", Arguments: "{}"}
	garden := llmtest.Call{ID: "call-2", Name: "use_skill", Arguments: `{ "name": "garden" }`}
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Reasoning: "First the list.", Calls: []llmtest.Call{listed}}, llmtest.Exchange{Reasoning: "Now the garden.", Reply: "I look into it.", Calls: []llmtest.Call{garden}},
		llmtest.Exchange{Reply: "* Roses\nThey want water."}, llmtest.Exchange{Reply: "Every day."}, llmtest.Exchange{Reply: "In the evening."})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\n"+strings.Repeat("Water the roses.\n", 50)))
	model.Bind()
	settings := ":DIALECT: native\n:DRIVER: " + driver
	if driver == "anthropic" { // each message with calls must then begin with a thought
		settings += "\n:BODY: {\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2000}}"
	}
	in.write(t, "config.org", strings.Replace(native(model), ":DIALECT: native", settings, 1))
	delete(in.variables, "ORG_AGENT_LLM")
	k := in.start(t)
	for i, question := range []string{"What about the garden?", "How often?", "When?"} {
		if i == 2 {
			if err := k.end(); err != nil {
				t.Fatal(err)
			}
			in.start(t)
		}
		e := in.editor(t, rpctest.Config{})
		if got := ask(t, e, fmt.Sprint("q", i), question); got.state != "answered" {
			t.Fatalf("%s ended %+v", question, got)
		}
	}
	requests := model.Requests()
	if len(requests) != 5 {
		t.Fatalf("there were %d requests", len(requests))
	}
	for i, r := range requests[2:] {
		if n := strings.Count(string(r.Body), thought); n != 2 {
			t.Errorf("request %d has %d of 2 thoughts: %s", i+2, n, r.Body)
		}
	}
}

// Almost all of a request is what the server has kept of the one before, within a turn and from turn to turn,
// with functions and with text.
func TestTheBeginningIsCached(t *testing.T) {
	for _, c := range [][2]string{{"anthropic", "native"}, {"anthropic", "plist"}, {"openai", "native"}, {"responses", "native"}, {"openai", "plist"}, {"openai", "constrained"}, {"responses", "plist"}} {
		driver, dialect := c[0], c[1]
		t.Run(driver+" "+dialect, func(t *testing.T) {
			var script []llmtest.Exchange
			for turn := range 8 {
				garden := llmtest.Call{ID: fmt.Sprint("toolu_", turn), Name: "use_skill", Arguments: `{"name":"garden"}`}
				look := llmtest.Exchange{Reasoning: "Now the garden.", Calls: []llmtest.Call{garden}}
				if dialect != "native" {
					look = calling("use_skill", `:name "garden"`)
				}
				script = append(script, look, llmtest.Exchange{Reply: "They want water."})
			}
			in, model := newInstanceAndModel(t, script...)
			model.Bind()
			in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\n"+strings.Repeat("Water the roses.\n", 20)))
			in.write(t, "config.org", strings.Replace(native(model), ":DIALECT: native", (way{dialect, driver}).properties()+":EFFORT: high", 1))
			delete(in.variables, "ORG_AGENT_LLM")
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			for turn := range 8 {
				if got := ask(t, e, fmt.Sprint("q", turn), fmt.Sprint("What about the garden on day ", turn, "?")); got.state != "answered" {
					t.Fatalf("turn %d ended %+v", turn, got)
				}
			}
			requests := model.Requests()
			least := 100.0
			for i, r := range requests[1:] {
				if driver != "anthropic" { // whose server is told what to keep
					requests[i+1].Cached, requests[i].Prompt = r.Shared(requests[i]), requests[i].Shared(requests[i])
					requests[i+1].Prompt = r.Shared(r)
					r = requests[i+1]
				}
				least = min(least, 100*float64(r.Cached)/float64(requests[i].Prompt))
			}
			last := requests[len(requests)-1]
			if share := 100 * float64(last.Cached) / float64(last.Prompt); least < 95 {
				t.Errorf("of a request only %.1f %% were cached in the next", least)
			} else {
				t.Logf("of each request %.1f %% and more were cached in the next; of the last, %d bytes, %.1f %%", least, last.Prompt, share)
			}
		})
	}
}

// A model that is asked for text, and calls a function in the notation that it was trained to, is
// understood. The notation is shown to nobody.
func TestOtherNotations(t *testing.T) {
	for name, reply := range map[string]string{
		"hermes":   "I look into it.\n<tool_call>\n{\"name\": \"use_skill\", \"arguments\": {\"name\": \"garden\"}}\n</tool_call>",
		"function": "<function=use_skill>\n<parameter=name>\ngarden\n</parameter>\n</function>",
		"lisp":     `(use_skill :name "garden")`,
		"json":     `{"name": "use_skill", "parameters": {"name": "garden"}}`,
		"harmony":  "<|channel|>analysis<|message|>I must look.<|end|><|start|>assistant<|channel|>commentary to=functions.use_skill <|constrain|>json<|message|>{\"name\":\"garden\"}<|call|>",
		"python":   "```tool_code\nprint(use_skill(name=\"garden\"))\n```",
	} {
		t.Run(name, func(t *testing.T) {
			in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: reply, Chunk: 3}, llmtest.Exchange{Match: "Water the roses", Reply: "* Roses\nThey want water."})
			in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nWater the roses \"daily\".\n"))
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			if got := ask(t, e, "q1", "What about the garden?"); got.state != "answered" {
				t.Errorf("the turn ended %+v", got)
			}
			wantBare(t, e, "* What about the garden?\n** Roses\nThey want water.\n* ")
			if requests := model.Requests(); len(requests) != 2 {
				t.Errorf("there were %d requests", len(requests))
			}
		})
	}
}
