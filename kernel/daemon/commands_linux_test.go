package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/daemon"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// startWithCommands runs a kernel that runs commands.
func (in *instance) startWithCommands(t *testing.T) *kernel {
	t.Helper()
	return in.startWith(t, daemon.Config{Commands: true})
}

// TestCommandIsRun: a command that a model wants to run is shown whole, with what it could do, is
// run when a person allows it, in the directory that was shown, and the model is told what
// came of it. As a tool and as :shell it is the same.
func TestCommandIsRun(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "a"), []byte("found\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	call := func(match, form string) llmtest.Exchange {
		return llmtest.Exchange{Match: match, Reply: form}
	}
	in, model := newInstanceAndModel(t,
		call("^by the tool", fmt.Sprintf(`(:type :request :target :tool :action :call :tool "exec" :args (:command "cat a; echo changed >b; exit 4" :cwd %q :writes t))`, link)),
		call("^by the shell", fmt.Sprintf(`(:type :request :target :shell :cmd "cat a; echo again >b" :cwd %q)`, link)),
		llmtest.Exchange{Match: `This is a result`, Reply: insertion("* Done"), Times: -1})
	in.startWithCommands(t)
	e := in.editor(t, rpctest.Config{})
	for _, c := range []struct {
		question, summary, effect, told, b string
	}{
		{"by the tool", "Run cat a; echo changed >b; exit 4", "it runs in " + project + " and can change everything there", `[exit status 4 after `, "changed\n"},
		{"by the shell", "Run cat a; echo again >b", "it runs in " + project + ", can read everything there and change nothing", `[exit status 1 after `, "changed\n"},
	} {
		_, approval := asked(t, e, strings.ReplaceAll(c.question, " ", "-"), c.question)
		if approval.Summary != c.summary || !strings.Contains(strings.Join(approval.Effects, "\n"), c.effect) || !strings.Contains(approval.Text, "cat a; echo") {
			t.Errorf("%s: a person is shown %+v", c.question, approval)
		}
		if strings.Contains(approval.Action, link) {
			t.Errorf("%s: what is asked about is not resolved: %s", c.question, approval.Action)
		}
		if _, err := os.Stat(filepath.Join(project, "b")); err == nil && c.question == "by the tool" {
			t.Error("it ran before anybody decided")
		}
		if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
			t.Fatal(err)
		}
		see(t, e, "the answer", func() bool { return strings.Count(e.Text(), "Done") > 0 && len(e.Approvals()) == 0 })
		until(t, "the model is told", func() bool {
			_, lasts := systems(model)
			return strings.Contains(lasts[len(lasts)-1], c.told) && strings.Contains(lasts[len(lasts)-1], "found\n")
		})
		if text, err := os.ReadFile(filepath.Join(project, "b")); err != nil || string(text) != c.b {
			t.Errorf("%s: it left %q, %v", c.question, text, err)
		}
	}
}

// sleeping is how many processes sleep for that time, by which they are known.
func sleeping(mark string) (count int) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, _ := os.ReadFile(name); strings.HasPrefix(string(line), "sleep\x00"+mark) {
			count++
		}
	}
	return count
}

// TestCommandsOfSubagentsEnd: a command of a subagent is asked about as any other, and is gone when
// the turn is stopped that handed on the work.
func TestCommandsOfSubagentsEnd(t *testing.T) {
	mark := fmt.Sprintf("65432.%d", time.Now().UnixNano()%1e9)
	in, _ := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^part", Reply: `(:type :request :target :shell :cmd "setsid sleep ` + mark + ` & sleep ` + mark + `")`, Times: -1},
		llmtest.Exchange{Match: "go on", Reply: batchOf("part 1", "part 2", "part 3")})
	in.write(t, "policy.org", handingOn)
	in.startWithCommands(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "go on")
	if err != nil {
		t.Fatal(err)
	}
	var list protocol.AskListResult
	until(t, "each of them asks", func() bool {
		return e.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list) == nil && len(list.Asks) == 3
	})
	for _, approval := range list.Asks {
		if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the commands run", func() bool { return sleeping(mark) == 6 })
	if err := e.Call(within(t), protocol.MethodTurnCancel, protocol.TurnParams{Turn: sent.Turn}, &protocol.TurnCancelResult{}); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	until(t, "the commands are gone", func() bool { return sleeping(mark) == 0 })
	t.Logf("they were gone after %v", time.Since(stopped))
	until(t, "all being stopped", func() bool {
		return !slices.ContainsFunc(subagentsOf(t, e, "main"), func(s protocol.Subagent) bool { return s.State != protocol.SubagentCancelled })
	})
}

// TestCommandsEnd: a command is gone within a second when its turn is stopped, and with the
// kernel.
func TestCommandsEnd(t *testing.T) {
	mark := fmt.Sprintf("76543.%d", time.Now().UnixNano()%1e9)
	runs := func() bool { return sleeping(mark) > 0 }
	in, _ := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^wait", Reply: `(:type :request :target :shell :cmd "sleep ` + mark + ` & setsid sleep ` + mark + `")`},
		llmtest.Exchange{Match: "^begin", Reply: `(:type :request :target :tool :action :call :tool "process" :args (:action :start :command "sleep ` + mark + `"))`},
		llmtest.Exchange{Match: `This is a result`, Reply: insertion("* Done"), Times: -1})
	k := in.startWithCommands(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := asked(t, e, "q1", "wait")
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	until(t, "the command runs", runs)
	if err := e.Call(within(t), protocol.MethodTurnCancel, protocol.TurnParams{Turn: turn}, &protocol.TurnCancelResult{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the command is gone with its turn", func() bool { return !runs() })
	_, approval = asked(t, e, "q2", "begin")
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "Done") })
	until(t, "the command runs on", runs)
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if runs() {
		t.Error("the command survived the kernel")
	}
}
