package daemon_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// What waits stands below its question, in buffer and file alike; decided, it is one heading.
func TestApprovalInTheConversation(t *testing.T) {
	tests := []struct {
		decision protocol.Decision
		reason   string
		heading  string
	}{
		{protocol.AllowOnce, "", "** DONE Approved once: Write into *org-agent-chat: other*"},
		{protocol.AllowSession, "", "** DONE Approved for the session: "},
		{protocol.Deny, "not\n* now", "** CANCELLED Refused: Write into *org-agent-chat: other*"},
	}
	for _, test := range tests {
		t.Run(string(test.decision), func(t *testing.T) {
			t.Parallel()
			in := newInstance(t, asking()...)
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			turn, approval := waiting(t, e, "q1")
			if approval.Summary != "Write into *org-agent-chat: other*" || approval.Text != "psst" || approval.Language != "text" || len(approval.Effects) == 0 {
				t.Errorf("it is shown as %+v", approval)
			}
			waits := "** TODO May I write into *org-agent-chat: other*?"
			if text := e.Text(); !strings.Contains(text, waits) || !strings.Contains(text, ":ID:       "+approval.ID) || !strings.Contains(text, "psst") {
				t.Errorf("the buffer has\n%s", text)
			}
			if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: test.decision, Reason: test.reason}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.WaitTurn(within(t), turn); err != nil {
				t.Fatal(err)
			}
			idle(t, e)
			for name, text := range map[string]string{"buffer": e.Text(), "file": in.conversation(t, "main")} {
				if strings.Contains(text, waits) || !strings.Contains(text, test.heading) || !strings.Contains(text, "\nYou, in Emacs, [") || test.reason != "" && !strings.Contains(text, "]: not * now\n") || strings.Contains(bare(text), "psst") || strings.Index(text, test.heading) > strings.Index(text, "** Well") {
					t.Errorf("the %s has\n%s", name, text)
				}
			}
		})
	}
}

// Without an Emacs the kernel writes the same, and closes it; with one that was away, the
// buffer gets it when it comes back.
func TestApprovalInTheFile(t *testing.T) {
	in := newInstance(t, asking()...)
	in.start(t)
	shell := in.editor(t, rpctest.Config{Name: "cli", View: protocol.ViewPlain})
	turn, approval := waiting(t, shell, "q1")
	waits, done := "** TODO May I write into", "** DONE Approved for the turn: Write into"
	until(t, "the approval in the file", func() bool { return strings.Contains(in.conversation(t, "main"), waits) })
	away := in.conversation(t, "main")
	if err := decide(t, shell, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowTurn}); err != nil {
		t.Fatal(err)
	}
	if _, err := shell.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	until(t, "its end in the file", func() bool {
		text := in.conversation(t, "main")
		return !strings.Contains(text, waits) && strings.Count(text, done) == 1 && strings.Contains(text, "\nYou, in a shell, [")
	})
	// An Emacs that had it open all the while, and was cut off.
	e := in.editor(t, rpctest.Config{Text: away})
	see(t, e, "its end in the buffer", func() bool { return !strings.Contains(e.Text(), waits) && strings.Count(e.Text(), done) == 1 })
	// One that never had it.
	e = in.editor(t, rpctest.Config{Text: "* "})
	see(t, e, "its end in another buffer", func() bool { return !strings.Contains(e.Text(), waits) && strings.Count(e.Text(), done) == 1 })
}

// A turn that is stopped closes what it asked, in both Emacsen and the file; a person's own
// words in the subtree stay, and editing it decides nothing.
func TestEditingDecidesNothing(t *testing.T) {
	in := newInstance(t, asking()...)
	in.start(t)
	first, second := in.editor(t, rpctest.Config{}), in.editor(t, rpctest.Config{})
	turn, approval := waiting(t, first, "q1")
	first.Edit(func(text string) string {
		return strings.Replace(text, "- you are asked", "- I wonder. - [X] allowed\n- you are asked", 1)
	})
	see(t, second, "what waits", func() bool { return strings.Contains(second.Text(), "TODO May I") })
	second.Edit(func(text string) string { return strings.Replace(text, "TODO May I", "DONE May I", 1) })
	if _, err := first.Send(within(t), "q2", "DONE approved C-c C-c"); err != nil {
		t.Fatal(err)
	}
	var list protocol.AskListResult
	if err := first.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list); err != nil || len(list.Asks) != 1 || list.Asks[0].ID != approval.ID || posted(t, in, "psst") > 0 {
		t.Fatalf("%+v waits, %v", list, err)
	}
	cancel(t, first, turn)
	see(t, first, "the end", func() bool { return strings.Contains(first.Text(), "** CANCELLED Not decided: ") })
	see(t, second, "the end", func() bool { return len(second.Approvals()) == 0 })
	if !strings.Contains(first.Text(), "I wonder.") || !strings.Contains(second.Text(), "** DONE May I ") {
		t.Errorf("what a person wrote is gone:\n%s\n%s", first.Text(), second.Text())
	}
	idle(t, first)
	until(t, "the same text in the file", func() bool { return in.conversation(t, "main") == first.Text() })
}

// A huge action is cut where it is shown, says so, and is had whole.
func TestHugeActionIsHadWhole(t *testing.T) {
	var numbered strings.Builder // a text that repeats itself for so long is a model's loop
	for i := range 70_000 {
		fmt.Fprintf(&numbered, "psst %d \\n* loud ", i)
	}
	long := numbered.String()
	in := newInstance(t,
		llmtest.Exchange{Match: "^send", Reply: strings.Replace(elsewhere, "psst", long, 1), Times: -1},
		llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	_, approval := waiting(t, e, "q1")
	if approval.Cut == 0 || len(approval.Text) > protocol.AskTextLimit || len(e.Text()) > 1<<16 || !strings.Contains(e.Text(), "Cut here: ") {
		t.Errorf("%d bytes are cut of %d, the buffer has %d", approval.Cut, len(approval.Text), len(e.Text()))
	}
	for _, action := range []bool{true, false} {
		var whole strings.Builder
		for from, parts := 0, 0; ; parts++ {
			var part protocol.AskGetResult
			if err := e.Call(within(t), protocol.MethodAskGet, protocol.AskGetParams{ID: approval.ID, Action: action, From: from}, &part); err != nil {
				t.Fatal(err)
			}
			whole.WriteString(part.Text)
			if from = part.Next; from == 0 {
				break
			}
		}
		want := strings.ReplaceAll(long, "\\n", "\n")
		if action {
			want = long
		}
		if !strings.Contains(whole.String(), want) {
			t.Errorf("of the action (%v) came %d bytes", action, whole.Len())
		}
	}
	var part protocol.AskGetResult
	if err := e.Call(within(t), protocol.MethodAskGet, protocol.AskGetParams{ID: approval.ID, From: 1 << 30}, &part); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Errorf("a place behind the end: %v", err)
	}
}

// A kernel that was killed between a decision and its file closes what waits there.
func TestKilledKernelLeavesNothingWaiting(t *testing.T) {
	in := newInstance(t, asking()...)
	k := in.spawn(t)
	shell := in.editor(t, rpctest.Config{Name: "cli", View: protocol.ViewPlain})
	turn, _ := waiting(t, shell, "q1")
	until(t, "the approval in the file", func() bool { return strings.Contains(in.conversation(t, "main"), "** TODO May I ") })
	waits, err := os.ReadFile(in.mainFile())
	if err != nil {
		t.Fatal(err)
	}
	cancel(t, shell, turn)
	until(t, "its end", func() bool { return strings.Contains(in.conversation(t, "main"), "CANCELLED") })
	k.kill()
	// As if it had been killed a moment earlier.
	if err := os.WriteFile(in.mainFile(), waits, 0o600); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e := in.editor(t, rpctest.Config{File: in.mainFile()})
	see(t, e, "its end in the buffer", func() bool { return strings.Contains(e.Text(), "** CANCELLED Not decided: ") })
}
