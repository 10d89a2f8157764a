package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/llm/llmtest"
)

// talk is a conversation in the native dialect, whose calls are made as the model writes them.
type talk struct {
	t       *testing.T
	model   llm.Provider
	request llm.Request
	usages  []llm.Usage // of the requests
}

func newTalk(t *testing.T, model llm.Provider) *talk {
	request := llm.Request{Model: "test-model", Sections: llm.System(strings.Repeat("Be kind. ", 200)), Tools: offered().Tools}
	return &talk{t: t, model: llm.Rendered{Next: model, Dialect: dialect.NewNative(true)}, request: request}
}

// say adds a message of the person and answers calls until the model has none.
func (c *talk) say(text string) llm.Reply {
	c.t.Helper()
	c.request.Messages = append(c.request.Messages, llm.Message{Role: llm.RoleUser, Text: text})
	for {
		reply, err := llmtest.Ask(c.t, c.model, c.request)
		if err != nil {
			c.t.Fatal(err)
		}
		c.usages = append(c.usages, *reply.Usage)
		if len(reply.Calls) == 0 {
			c.request.Messages = append(c.request.Messages, llm.Message{Role: llm.RoleAssistant, Text: reply.Text})
			return reply
		}
		c.answer(reply)
	}
}

// answer adds the calls of a reply and their results.
func (c *talk) answer(reply llm.Reply) {
	said, outcome := llm.Message{Role: llm.RoleAssistant, Original: reply.Original}, &llm.Outcome{}
	for i, f := range reply.Calls {
		call := llm.Call{ID: fmt.Sprint(len(c.request.Messages), ".", i), Function: &f}
		said.Calls = append(said.Calls, call)
		outcome.Results = append(outcome.Results, llm.Result{Call: call, Verdict: "performed", Text: strings.Repeat("what is there ", 10)})
	}
	c.request.Messages = append(c.request.Messages, said, llm.Message{Role: llm.RoleKernel, Outcome: outcome})
}

// calls returns several calls.
func calls(turn, n int) (all []llmtest.Call) {
	for i := range n {
		all = append(all, llmtest.Call{ID: fmt.Sprintf("toolu_%d_%d", turn, i), Name: "read", Arguments: fmt.Sprintf(`{"path": "file-%d-%d", "big": 12345678901234567890}`, turn, i)})
	}
	return all
}

// thinking is a configuration with which the model must think, and the server sees that it did.
func thinking() llm.ServerConfig {
	return llm.ServerConfig{Body: map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}}
}

// TestThoughtsGoBack checks that a server which binds thoughts to what was before them takes a turn with
// several rounds of calls, whatever it shows of the thoughts.
func TestThoughtsGoBack(t *testing.T) {
	for name, thought := range map[string]llmtest.Exchange{
		"shown": {Reasoning: "Let me <think> 🙂 & \"look\"."}, "not shown": {Reasoning: "secret", Redacted: true}, "only signed": {Unshown: true},
	} {
		t.Run(name, func(t *testing.T) {
			first, second, last := thought, thought, thought
			first.Reply, first.Calls = "I look.\n", calls(1, 3)
			second.Calls = calls(2, 1)
			last.Reply = "That is it."
			server := start(t, llmtest.ServerScript{Bound: true, Exchanges: []llmtest.Exchange{first, second, last, {Reply: "You are welcome."}}})
			c := newTalk(t, provider(t, server, thinking()))
			if reply := c.say("Where is it?"); reply.Text != "That is it." || reply.Reasoning != thought.Reasoning && name == "shown" {
				t.Errorf("%+v", reply)
			}
			c.say("Thank you")
			if n := len(server.Requests()); n != 4 {
				t.Fatalf("%d requests", n)
			}
			if got := string(server.Requests()[2].Body); strings.Count(got, "thinking\",")+strings.Count(got, "thinking\"}") != 2 || !strings.Contains(got, `"id":"toolu_1_2"`) || !strings.Contains(got, `"big": 12345678901234567890`) && !strings.Contains(got, `"big":12345678901234567890`) {
				t.Errorf("the server got %s", got)
			}
			if body(t, server, 3)["thinking"] == nil {
				t.Error("the model does not think any more")
			}
		})
	}
}

// A model that thinks only at the beginning of a turn goes on to think in the next.
func TestThoughtsAtTheBeginning(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reasoning: "I think.", Calls: calls(1, 1)}, llmtest.Exchange{Calls: calls(2, 1)}, llmtest.Exchange{Times: 2, Reply: "Done."})
	c := newTalk(t, provider(t, server, thinking()))
	c.say("Where is it?")
	c.say("Thank you")
	for i := range server.Requests() {
		if body(t, server, i)["thinking"] == nil {
			t.Errorf("request %d is to be answered without thinking", i)
		}
	}
}

// A server that wants thoughts where there are none is asked without thinking. What the person has set wrong
// is told.
func TestThoughtsThatAreMissed(t *testing.T) {
	server := llmtest.Start(t, status(400, "invalid_request_error", "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."), llmtest.Exchange{Reply: "Done."})
	if reply, err := llmtest.Ask(t, provider(t, server, thinking()), llmtest.Hello()); err != nil || reply.Text != "Done." || body(t, server, 1)["thinking"] != nil {
		t.Errorf("%+v, %v", reply, err)
	}
	wrong := llm.ServerConfig{Body: map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 5}}}
	if _, err := llmtest.Ask(t, provider(t, llmtest.Start(t), wrong), llmtest.Hello()); llm.ClassOf(err) != llm.ClassBadRequest || !strings.Contains(err.Error(), "budget_tokens") {
		t.Errorf("%v", err)
	}
}

// Thoughts go to no other model, and a turn that another model began goes on without thinking.
func TestThoughtsOfAnotherModel(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reasoning: "I think.", Calls: calls(1, 1)}, llmtest.Exchange{Times: 2, Reply: "Done."})
	model := provider(t, server, thinking())
	c := newTalk(t, model)
	c.request.Messages = []llm.Message{{Role: llm.RoleUser, Text: "Where is it?"}}
	reply, err := llmtest.Ask(t, c.model, c.request)
	if err != nil || reply.Original == nil || reply.Original.Writer != llm.Writer("test", "test-model") {
		t.Fatalf("%+v, %v", reply, err)
	}
	c.answer(reply)
	c.request.Model = "other-model"
	if _, err := llmtest.Ask(t, c.model, c.request); err != nil {
		t.Fatal(err)
	}
	if got := body(t, server, 1); strings.Contains(string(server.Requests()[1].Body), "signature") || got["thinking"] != nil {
		t.Errorf("the other model got %v", got)
	}
	c.request.Messages = append(c.request.Messages, llm.Message{Role: llm.RoleAssistant, Text: "Done."}, llm.Message{Role: llm.RoleUser, Text: "Next"})
	if _, err := llmtest.Ask(t, c.model, c.request); err != nil {
		t.Fatal(err)
	}
	if body(t, server, 2)["thinking"] == nil {
		t.Error("the next turn does not think")
	}
}

// A conversation whose beginning has changed is sent without the thoughts that were bound to it.
func TestThoughtsThatAreRefused(t *testing.T) {
	server := start(t, llmtest.ServerScript{Bound: true, Exchanges: []llmtest.Exchange{{Reasoning: "I think.", Calls: calls(1, 2)}, {Reply: "Done."}}})
	c := newTalk(t, provider(t, server, llm.ServerConfig{Effort: "high"}))
	c.request.Messages = []llm.Message{{Role: llm.RoleUser, Text: "Where is it?"}}
	reply, err := llmtest.Ask(t, c.model, c.request)
	if err != nil {
		t.Fatal(err)
	}
	c.answer(reply)
	c.request.Sections = llm.System("Be brief.")
	if reply, err := llmtest.Ask(t, c.model, c.request); err != nil || reply.Text != "Done." {
		t.Fatalf("%+v, %v", reply, err)
	}
	if got := string(server.Requests()[1].Body); strings.Contains(got, "signature") || !strings.Contains(got, "tool_use") {
		t.Errorf("the server got %s", got)
	}
}

// A call that was changed before it was made is shown as it was made, behind the thoughts.
func TestChangedCalls(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reasoning: "I think.", Reply: "I look.", Calls: calls(1, 1)}, llmtest.Exchange{Reply: "Done."})
	c := newTalk(t, provider(t, server, thinking()))
	c.request.Messages = []llm.Message{{Role: llm.RoleUser, Text: "Where is it?"}}
	reply, err := llmtest.Ask(t, c.model, c.request)
	if err != nil {
		t.Fatal(err)
	}
	reply.Calls[0].Arguments = `{"path":"elsewhere"}`
	c.answer(reply)
	if _, err := llmtest.Ask(t, c.model, c.request); err != nil {
		t.Fatal(err)
	}
	if got := string(server.Requests()[1].Body); !strings.Contains(got, "I think.") || !strings.Contains(got, "elsewhere") || strings.Contains(got, "file-1-0") {
		t.Errorf("the server got %s", got)
	}
}

// TestTheBeginningIsCached checks how much of a long conversation the server has from the request before,
// within turns, over their ends, and where one reply has more calls than the server looks back.
func TestTheBeginningIsCached(t *testing.T) {
	var script []llmtest.Exchange
	for turn := range 10 {
		for round := range turn % 3 {
			script = append(script, llmtest.Exchange{Reasoning: "Hm.", Calls: calls(10*turn+round, 1+5*(turn+round)%13)})
		}
		script = append(script, llmtest.Exchange{Reply: "The answer is here. " + strings.Repeat("word ", 30)})
	}
	server := start(t, llmtest.ServerScript{Bound: true, Exchanges: script})
	c := newTalk(t, provider(t, server, llm.ServerConfig{Effort: "high"}))
	for turn := range 10 {
		c.say(fmt.Sprintf("Question %d: where is it?", turn))
	}
	least := 100.0
	for i, used := range c.usages[1:] {
		share := 100 * float64(used.Cached) / float64(c.usages[i].Input)
		if least = min(least, share); share < 95 {
			t.Errorf("of the %d tokens of request %d only %.1f %% were cached in the next", c.usages[i].Input, i+1, share)
		}
	}
	last := c.usages[len(c.usages)-1]
	t.Logf("of each request %.1f %% and more were cached in the next; of the last request, %d tokens, %.1f %%", least, last.Input, 100*float64(last.Cached)/float64(last.Input))
	requests := server.Requests()
	if marks := strings.Count(string(requests[len(requests)-1].Body), `"cache_control"`); marks != 4 {
		t.Errorf("%d marks", marks)
	}
}

// What changes from request to request stands behind the mark of the system prompt, and tools without a
// system prompt have a mark of their own.
func TestMarks(t *testing.T) {
	request := offered()
	request.Sections = []llm.Section{{Text: "stays", Stable: true}, {Text: "also", Stable: true}, {Text: "changes"}, {Text: "with it", Stable: true}}
	marked := map[string]any{"type": "ephemeral"}
	system, ok := sent(t, llm.ServerConfig{}, request)["system"].([]any)
	if !ok || len(system) != 2 || fmt.Sprint(system[0]) != fmt.Sprint(map[string]any{"type": "text", "text": "stays\n\nalso", "cache_control": marked}) ||
		fmt.Sprint(system[1]) != fmt.Sprint(map[string]any{"type": "text", "text": "changes\n\nwith it"}) {
		t.Errorf("the system prompt is %v", system)
	}
	request.Sections = nil
	got := sent(t, llm.ServerConfig{}, request)
	if tools, ok := got["tools"].([]any); !ok || !strings.Contains(fmt.Sprint(tools[1]), "cache_control") || strings.Contains(fmt.Sprint(tools[0]), "cache_control") || got["system"] != nil {
		t.Errorf("without a system prompt: %v", got)
	}
}
