package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestReadingIsOfferedOnce checks that the read-only set of a project is offered with the first approval
// about reading there, whole, and not again after a decision, also after a restart. Who accepts it is not
// asked about reading there any more, and it can be seen in policy.org.
func TestReadingIsOfferedOnce(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	exchanges := []llmtest.Exchange{{Match: `This is a result`, Reply: insertion("Well"), Times: -1}}
	for _, name := range []string{"a", "b"} {
		if err := os.MkdirAll(filepath.Join(root, name, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(root, name, "text")
		if err := os.WriteFile(file, []byte("found\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		exchanges = append(exchanges, llmtest.Exchange{Match: "^" + name, Reply: calling("read", fmt.Sprintf(":path %q", file)).Reply, Times: -1})
	}
	in, _ := newInstanceAndModel(t, exchanges...)
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	offered := func(id, project string) (string, protocol.Ask) {
		t.Helper()
		turn, approval := asked(t, e, id, project)
		if got := approval.Reading != nil; got != strings.Contains(approval.Subtree, "reading here") {
			t.Errorf("%s: offered %v, but the conversation has\n%s", id, got, approval.Subtree)
		}
		return turn, approval
	}
	decided := func(turn string, p protocol.AskDecideParams) protocol.AskDecideResult {
		t.Helper()
		var result protocol.AskDecideResult
		if err := e.Call(within(t), protocol.MethodAskDecide, p, &result); err != nil {
			t.Fatal(err)
		}
		if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
			t.Fatalf("%+v, %v", finished, err)
		}
		return result
	}
	turn, approval := offered("q1", "a")
	if approval.Reading == nil || approval.Reading.Directory != filepath.Join(root, "a") {
		t.Fatalf("offered %+v", approval.Reading)
	}
	for _, row := range approval.Reading.Rows {
		if !strings.Contains(approval.Subtree, row.Rule+" | "+row.Matches+"\n") {
			t.Errorf("the conversation does not list %+v:\n%s", row, approval.Subtree)
		}
	}
	decided(turn, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.Deny})
	turn, approval = offered("q2", "a")
	if approval.Reading != nil {
		t.Error("it is offered again after a decision")
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowReading}); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Errorf("rules that were not offered: %v", err)
	}
	decided(turn, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce})

	turn, approval = offered("q3", "b")
	if approval.Reading == nil {
		t.Fatal("it is not offered for another project")
	}
	if result := decided(turn, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowReading}); result.Decision != protocol.AllowReading || result.Note != "" {
		t.Errorf("%+v", result)
	}
	source, err := os.ReadFile(filepath.Join(in.paths.Home, "policy.org"))
	if err != nil || !strings.Contains(string(source), "| runs in "+filepath.Join(root, "b")+" | cat **") {
		t.Errorf("policy.org is, %v\n%s", err, source)
	}
	if text := in.conversation(t, "main"); !strings.Contains(text, "Approved with reading in the project: ") {
		t.Errorf("the conversation is\n%s", text)
	}
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	sent, err := e.Send(within(t), "q4", "b")
	if err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered || len(e.Approvals()) > 0 {
		t.Errorf("reading that is allowed: %+v, %v", finished, err)
	}
	if _, approval = offered("q5", "a"); approval.Reading != nil {
		t.Error("it is offered again after a restart")
	}
}
