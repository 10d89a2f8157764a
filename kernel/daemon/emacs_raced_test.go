//go:build race

package daemon_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/daemon"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// An Emacs that is asked for a tool may be busy, may never answer, may die, may know nothing of it,
// and may not be there: the call ends, and says so.
func TestEmacsIsAsked(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func() func(ctx context.Context, method string, params any) (any, error)
		says   string
	}{
		{"answers when it is not busy any more", func() func(context.Context, string, any) (any, error) {
			var asked atomic.Int32
			return func(context.Context, string, any) (any, error) {
				if asked.Add(1) < 3 {
					return protocol.EmacsBuffers{Busy: true}, nil
				}
				return protocol.EmacsBuffers{Buffers: []protocol.EmacsBuffer{{Name: "a.org", Mode: "org-mode", Size: 3, Modified: true}}}, nil
			}
		}, `"a.org", org-mode, 3 characters, changed and not saved`},
		{"hangs", func() func(context.Context, string, any) (any, error) {
			return func(ctx context.Context, _ string, _ any) (any, error) {
				<-ctx.Done()
				return protocol.EmacsBuffers{}, nil
			}
		}, "Emacs did not answer within 500ms"},
		{"is always busy", func() func(context.Context, string, any) (any, error) {
			return func(context.Context, string, any) (any, error) { return protocol.EmacsBuffers{Busy: true}, nil }
		}, "Emacs did not answer within 500ms"},
		{"is older", nil, "no Emacs is connected that answers this"},
		{"refuses", func() func(context.Context, string, any) (any, error) {
			return func(context.Context, string, any) (any, error) {
				return nil, protocol.Errorf(protocol.CodeForbidden, "not that")
			}
		}, ": failed, refused ---"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, calling("emacs_buffers", ""), llmtest.Exchange{Reply: insertion("* Done"), Times: -1})
			timeout := timeout
			if strings.Contains(c.says, "within 500ms") {
				timeout = 500 * time.Millisecond
			}
			in.startWith(t, daemon.Config{EmacsTimeout: timeout})
			config := rpctest.Config{}
			if c.answer != nil {
				config.Answer = c.answer()
			}
			e := in.editor(t, config)
			if got := ask(t, e, "q1", "What is open?"); got.state != "answered" {
				t.Errorf("the turn ended %+v", got)
			}
			if _, lasts := systems(model); len(lasts) != 2 || !strings.Contains(lasts[1], c.says) {
				t.Errorf("the model was told %q", lasts)
			}
		})
	}
}

// Without an Emacs a query is answered from the files, and what only Emacs has is refused.
func TestWithoutEmacs(t *testing.T) {
	in, model := newInstanceAndModel(t,
		calling("emacs_read", `:buffer "a.org"`), calling("org_query", `:files ("plan.org") :todo :open`), llmtest.Exchange{Reply: insertion("* Done"), Times: -1})
	in.write(t, "plan.org", "* TODO Roses\n* TODO Secret :@private:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{Name: "cli"})
	ask(t, e, "q1", "hi")
	_, lasts := systems(model)
	if len(lasts) != 3 || !strings.Contains(lasts[1], "no Emacs is connected") || !strings.Contains(lasts[2], "1 entry matches in 1 file:") || strings.Contains(lasts[2], "Secret") {
		t.Errorf("the model was told %q", lasts)
	}
}

// An Emacs that dies while it is asked is as none: a query is answered from the files.
func TestEmacsDiesWhileAsked(t *testing.T) {
	in, model := newInstanceAndModel(t,
		calling("emacs_buffers", ""), llmtest.Exchange{Reply: insertion("* None")},
		calling("org_query", `:files ("plan.org") :todo :open`), llmtest.Exchange{Reply: insertion("* Done")})
	in.write(t, "plan.org", "* TODO Roses\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{Name: "cli"})
	dying := func() {
		var emacs *rpctest.Editor
		connected := make(chan struct{})
		emacs = in.editor(t, rpctest.Config{Answer: func(ctx context.Context, _ string, _ any) (any, error) {
			<-connected
			_ = emacs.Wire().Close() // as when it is killed
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		close(connected)
	}
	dying()
	ask(t, e, "q1", "What is open?")
	dying()
	ask(t, e, "q2", "What is to be done?")
	_, lasts := systems(model)
	if all := strings.Join(lasts, "\n"); !strings.Contains(all, "no Emacs is connected any more: it went before it answered") || !strings.Contains(all, "1 entry matches in 1 file:") {
		t.Errorf("the model was told %q", lasts)
	}
}

// A change of an entry waits for the person; one that is stale by then is not made, and waits on. What is
// made can be taken back.
func TestEntryIsChanged(t *testing.T) {
	in, model := newInstanceAndModel(t,
		calling("org_edit", `:file "plan.org" :heading "Roses" :todo "DONE"`), llmtest.Exchange{Reply: insertion("* Done"), Times: -1})
	in.write(t, "plan.org", "* TODO Roses\ntext\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := asked(t, e, "q1", "do it")
	if approval.Summary != "Change Roses" || !strings.Contains(approval.Text, "-* TODO Roses\n+* DONE Roses\n") {
		t.Errorf("it is shown as %+v", approval)
	}
	in.write(t, "plan.org", "* TODO Roses :new:\ntext\n")
	err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce})
	if protocol.ErrorCode(err) != protocol.CodeStale || !strings.Contains(err.Error(), "is not what it was when this was proposed") {
		t.Errorf("a stale one was decided: %v", err)
	}
	in.write(t, "plan.org", "* TODO Roses\ntext\n")
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	var changes protocol.TurnChangesResult
	if err := e.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: turn}, &changes); err != nil {
		t.Fatal(err)
	}
	if len(changes.Changes) != 1 || changes.Changes[0].Old != "TODO" || changes.Changes[0].New != "DONE" || changes.Changes[0].Before != "* " || len(changes.Stays) != 0 {
		t.Errorf("it is taken back by %+v", changes)
	}
	if _, lasts := systems(model); !strings.Contains(lasts[len(lasts)-1], "it becomes DONE") {
		t.Errorf("the model was told %q", lasts)
	}
	if rows := in.rows(t, journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindReceipt}}); len(rows) == 0 {
		t.Error("no receipt is kept")
	}
}
