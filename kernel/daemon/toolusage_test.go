package daemon_test

import (
	"encoding/json"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestUsageByTool: what the results of tools brought in is summed by tool as the rounds have
// them, each once, also when a fork has copies of them; what was refused was no call.
func TestUsageByTool(t *testing.T) {
	in := newInstance(t, calling("List-Skills", ""),
		llmtest.Exchange{Reply: `(:type :request :target :tool :action :batch :calls ((:tool "list_skills") (:tool "use_skill" :args (:name "garden")) (:tool "use_skill" :args (:name "no"))))`},
		calling("use_skil", `:name "garden"`), llmtest.Exchange{Reply: insertion("* Roses"), Times: -1})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nÄußerst dornig.\n"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	usage := func(params protocol.UsageGetParams) (sums map[string]protocol.ToolUsage) {
		t.Helper()
		params.By = protocol.UsageByTool
		var got protocol.UsageGetResult
		if err := e.Call(within(t), protocol.MethodUsageGet, params, &got); err != nil {
			t.Fatal(err)
		}
		sums = map[string]protocol.ToolUsage{}
		for _, u := range got.Tools {
			sums[u.Tool] = u
		}
		return sums
	}
	if sums := usage(protocol.UsageGetParams{}); len(sums) != 0 {
		t.Errorf("before any call there is %+v", sums)
	}
	ask(t, e, "q1", "hi")
	var calls, bytes, tokens int
	count := func(text string) { calls, bytes, tokens = calls+1, bytes+len(text), tokens+prompt.Tokens(text) }
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindToolStep}}) {
		var round journal.ToolStep
		if err := json.Unmarshal(row.Data, &round); err != nil {
			t.Fatal(err)
		}
		for _, call := range round.Calls {
			count(call.Text)
		}
		if len(round.Calls) == 0 && round.Verdict == "performed" {
			count(round.Text)
		}
	}
	if err := e.Call(within(t), protocol.MethodSessionFork, protocol.SessionForkParams{Session: "main", To: "fork"}, nil); err != nil {
		t.Fatal(err)
	}
	sums := usage(protocol.UsageGetParams{})
	if list, use := sums["list_skills"], sums["use_skill"]; len(sums) != 2 || list.Calls != 2 || use.Calls != 2 || calls != 4 ||
		list.Bytes+use.Bytes != bytes || list.Tokens+use.Tokens != tokens || bytes == 0 || tokens == 0 {
		t.Errorf("by tool there is %+v, and the rounds have %d calls, %d bytes, about %d tokens", sums, calls, bytes, tokens)
	}
	if sums := usage(protocol.UsageGetParams{Session: "main"}); len(sums) != 2 {
		t.Errorf("of the conversation there is %+v", sums)
	}
	for _, none := range []protocol.UsageGetParams{{Session: "fork"}, {Session: "other"}, {Since: "2999-01-01T00:00:00Z"}} {
		if sums := usage(none); len(sums) != 0 {
			t.Errorf("%+v has %+v", none, sums)
		}
	}
}
