package daemon_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// Ollama leaves out the oldest messages of a request that is too long, without an error. The person is told once in a
// conversation, whether the window was unknown or set too large, and estimates are not corrected by what was counted.
// Where nothing is set, the requests fit from the next message on.
func TestCutByOllama(t *testing.T) {
	const context = 6000
	for name, set := range map[string]int{"unknown": 0, "set too large": 32_768} {
		t.Run(name, func(t *testing.T) {
			model := llmtest.StartOllama(t, llmtest.Ollama{Context: context, Trained: 131_072}, llmtest.Exchange{Match: summarising, Status: 500, Times: -1}, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
			in := newInstance(t)
			in.variables["ORG_AGENT_LLM_BASE_URL"], in.variables["ORG_AGENT_LLM_MODEL"] = model.URL(), llmtest.OllamaModel
			if set > 0 {
				in.small(set)
			}
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			sendWith(t, e, message("q0", "What is it?", item("a.org", strings.Repeat("word ", 9000))))
			for i := range 3 {
				if got := ask(t, e, fmt.Sprint("q", i+1), fmt.Sprint("question ", i, " ", strings.Repeat("word ", 200))); got.state != "answered" {
					t.Fatalf("%+v", got)
				}
			}
			notices := strings.Join(e.Notices(), "\n")
			if strings.Count(notices, "has left out the oldest messages") != 1 || !strings.Contains(notices, llmtest.OllamaModel+" was shown ") ||
				!strings.Contains(notices, "OLLAMA_CONTEXT_LENGTH") || !strings.Contains(notices, "set WINDOW in config.org to the 6000 tokens that it has") {
				t.Errorf("the notices are %q", notices)
			}
			requests := turnsOf(model)
			for i, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindUsage}}) {
				var spent journal.ReplyUsage
				if err := json.Unmarshal(row.Data, &spent); err != nil {
					t.Fatal(err)
				}
				cut := len(shownTo(requests[i])) > 4*context
				if cut != (i == 0 || set > 0) || cut != (spent.Estimate == 0) || spent.Input > context {
					t.Errorf("request %d of %d bytes: %+v", i, len(shownTo(requests[i])), spent)
				}
			}
		})
	}
}

// A server that counts few tokens for a text is no server that cuts: its window says that the request fits.
func TestSparingTokensAreNotCut(t *testing.T) {
	usage := json.RawMessage(`{"prompt_tokens":5000,"completion_tokens":5}`)
	model := llmtest.StartOllama(t, llmtest.Ollama{Context: 32_768}, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1, Ending: llmtest.Ending{Usage: usage}})
	in := newInstance(t)
	in.variables["ORG_AGENT_LLM_BASE_URL"], in.variables["ORG_AGENT_LLM_MODEL"] = model.URL(), llmtest.OllamaModel
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sendWith(t, e, message("q1", "What is it?", item("a.org", strings.Repeat("word ", 9000))))
	if notices := strings.Join(e.Notices(), "\n"); strings.Contains(notices, "oldest messages") {
		t.Errorf("the notices are %q", notices)
	}
	var spent journal.ReplyUsage
	if rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindUsage}}); len(rows) != 1 || json.Unmarshal(rows[0].Data, &spent) != nil || spent.Estimate < 10_000 {
		t.Errorf("the usage is %+v", spent)
	}
}
