package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/mcp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// mcpProcesses returns the ids of the MCP servers of the tests that have a mark in their arguments.
func mcpProcesses(mark string) (ids []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, _ := os.ReadFile(name); strings.HasSuffix(string(line), "\x00"+mark+"\x00") && !strings.Contains(string(line), "\x00sandbox\x00") {
			ids = append(ids, filepath.Base(filepath.Dir(name)))
		}
	}
	return ids
}

// TestMCPServersAreReloaded: servers come and go with config.org, however it is saved; a call that is on
// its way is answered, one that stays the same is not started again, and nothing is left of those that
// went.
func TestMCPServersAreReloaded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, model := newInstanceAndModel(t, llmtest.Exchange{Match: `This is a result`, Reply: insertion("* Done"), Times: -1},
		llmtest.Exchange{Match: "^wait", Reply: `(:type :request :target :tool :action :call :tool "slow_wait" :digest "0")`, Times: -1})
	mark := filepath.Join(in.paths.Home, "mark")
	server := func(name, more string) string {
		return fmt.Sprintf("** %s\n:PROPERTIES:\n:COMMAND: %q %q\n:ENVIRONMENT: %s=1\n%s:END:\n", name, self, mark, mcpVariable, more)
	}
	in.write(t, "config.org", "* Models\n** COMMENT other\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	servers := func() string {
		var status protocol.StatusResult
		if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
			t.Fatal(err)
		}
		if len(status.Faults) > 0 {
			t.Errorf("the faults are %q", status.Faults)
		}
		var all []string
		for _, s := range status.MCP {
			all = append(all, s.Name+" "+string(s.State))
		}
		return strings.Join(all, ", ")
	}
	in.write(t, "config.org", "* MCP\n"+server("Slow", ""))
	until(t, "the server is ready", func() bool { return servers() == "slow "+string(mcp.Ready) })
	first := mcpProcesses(mark)
	if len(first) != 1 {
		t.Fatalf("the processes are %q", first)
	}

	path := filepath.Join(in.paths.Home, "config.org")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	time.Sleep(250 * time.Millisecond)
	in.write(t, "config.org", "* MCP\n")
	in.write(t, "config.org", "Prose.\n* MCP\n"+server("Slow", ""))
	time.Sleep(1500 * time.Millisecond)
	if got := mcpProcesses(mark); servers() != "slow "+string(mcp.Ready) || !slices.Equal(got, first) {
		t.Errorf("a file that was gone for a moment: %q, and the processes are %q, before %q", servers(), got, first)
	}

	for i := range 10 {
		in.write(t, "config.org", fmt.Sprintf("* MCP\n%s%s", server("Slow", ""), server(fmt.Sprint("Other", i), "")))
		time.Sleep(100 * time.Millisecond)
	}
	until(t, "the last one counts", func() bool { return servers() == "slow "+string(mcp.Ready)+", other9 "+string(mcp.Ready) })
	until(t, "two processes are left", func() bool { return len(mcpProcesses(mark)) == 2 })

	turn, approval := asked(t, e, "q1", "wait for it")
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	until(t, "the call is on its way", func() bool { _, err := os.Stat(mark + ".begun"); return err == nil })
	in.write(t, "config.org", "* Models\n** COMMENT other\n")
	until(t, "the servers are gone", func() bool { return servers() == "" })
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	if _, lasts := systems(model); !strings.Contains(lasts[len(lasts)-1], "it came") {
		t.Errorf("the model is told %s", lasts[len(lasts)-1])
	}
	until(t, "no process is left", func() bool { return len(mcpProcesses(mark)) == 0 })
}

// TestSettingsCountAtOnce: what a kernel could once not take over while it runs counts when config.org is
// saved, from nothing to something and back.
func TestSettingsCountAtOnce(t *testing.T) {
	vectors, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Alike: [][]string{{"car", "automobile"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vectors.Close)
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "the conversation ---", Times: -1, Reply: `(:type :memory :changes ((:action :add :title "Roses")))`},
		llmtest.Exchange{Reply: insertion("* Answer"), Times: -1})
	in.write(t, "memory/2025-06-01.org", "* The automobile\nIt stands in Oslo.\n")
	in.write(t, "mine/tea.org", "* Tea\nThe samovar hums.\n")
	const off = "* Settings\n:PROPERTIES:\n:SUBAGENTS: off\n:PROPOSE_AFTER: off\n:END:\n"
	in.write(t, "config.org", off)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	until(t, "the files are indexed", func() bool { return find(t, e, "automobile") != "" })
	asks := 0
	offered := func() string {
		asks++
		ask(t, e, fmt.Sprint("q", asks), "I grow roses")
		prompts, _ := systems(model)
		prompt := prompts[len(prompts)-1]
		var all []string
		for _, name := range []string{"start_subagent", "web_search"} {
			if strings.Contains(prompt, name+" (") {
				all = append(all, name)
			}
		}
		return strings.Join(all, " ")
	}
	if got := offered() + find(t, e, "samovar") + find(t, e, "car"); got != "" {
		t.Errorf("before there is %q", got)
	}
	in.write(t, "config.org", fmt.Sprintf("* Settings\n:PROPERTIES:\n:SUBAGENTS: 2\n:NOTES: %s\n:END:\n* Web\n** Search\n:PROPERTIES:\n:KIND: searxng\n:BASE_URL: http://127.0.0.1:9\n:END:\n"+
		"* Memory\n** Embeddings\n:PROPERTIES:\n:BASE_URL: %s\n:MODEL: vectors\n:LIKENESS: 0.4\n:END:\n", filepath.Join(in.paths.Home, "mine"), vectors.URL()))
	until(t, "the notes are found", func() bool { return find(t, e, "samovar") == "Tea" })
	until(t, "what they mean is known", func() bool { return find(t, e, "car") == "The automobile" })
	if got := offered(); got != "start_subagent web_search" {
		t.Errorf("the tools are %q", got)
	}
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:SUBAGENTS: off\n:PROPOSE_AFTER: 40ms\n:NOTES: ~/nowhere\n:END:\n")
	noticed(t, e, "NOTES in config.org names ~/nowhere, which does not exist")
	if got := offered() + find(t, e, "samovar") + find(t, e, "car"); got != "" {
		t.Errorf("after it was taken back there is %q", got)
	}
	in.formed(t, 1)
	in.write(t, "config.org", off)
	until(t, "nothing is at fault", func() bool {
		var status protocol.StatusResult
		return e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status) == nil && len(status.Faults) == 0
	})
}
