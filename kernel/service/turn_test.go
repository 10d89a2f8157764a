package service_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// fakeSessions has one turn, t1 in the conversation "now", which was renamed from "once". It records its
// calls.
type fakeSessions struct {
	running bool
	calls   []string
}

func (h *fakeSessions) record(words ...string) { h.calls = append(h.calls, strings.Join(words, " ")) }

func (h *fakeSessions) takeCalls() string {
	done := strings.Join(h.calls, ", ")
	h.calls = nil
	return done
}

func (h *fakeSessions) CurrentName(_ context.Context, session string) (string, error) {
	return strings.ReplaceAll(session, "once", "now"), nil
}

func (h *fakeSessions) Turn(_ context.Context, p protocol.TurnParams) (journal.Turn, error) {
	if p.Turn != "t1" && p.Event != "e1" {
		return journal.Turn{}, protocol.Errorf(protocol.CodeNotFound, "there is no such turn")
	}
	return journal.Turn{ID: "t1", Session: "now", Event: "e1"}, nil
}

func (h *fakeSessions) Cancel(_ context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	h.record("cancel", p.Session+p.Turn+p.Event)
	return protocol.TurnCancelResult{Turn: "t1", Cancelled: h.running}, nil
}

func (h *fakeSessions) Retry(_ context.Context, p protocol.TurnRetryParams, settings protocol.TurnSettings) (protocol.EventResult, error) {
	h.record("retry", p.Turn+p.Event, "with", settings.Value("SYSTEM"))
	return protocol.EventResult{Turn: "t2"}, nil
}

func (h *fakeSessions) ResolveAgain(_ context.Context, record journal.Turn, above string) (protocol.TurnSettings, error) {
	return protocol.TurnSettings{{Name: "SYSTEM", Value: record.ID + " below " + above}}, nil
}

func (h *fakeSessions) Find(name string) error { return (&fakeCompleter{}).Find(name) }

// fakeSubagents has one subagent.
type fakeSubagents struct{ *fakeSessions }

func (p fakeSubagents) List(_ context.Context, session string) ([]protocol.Subagent, error) {
	p.record("list", session)
	return []protocol.Subagent{{ID: "s", Session: "now", Child: "child", Label: "digs"}}, nil
}

func (p fakeSubagents) Cancel(_ context.Context, session, turn string) (int, error) {
	p.record("stop", session+"/"+turn)
	return 1, nil
}

func TestTurns(t *testing.T) {
	h := &fakeSessions{}
	conn := serve(t, service.Turns{Sessions: h, Names: h, Models: h, Settings: h, Subagents: fakeSubagents{h}}.Methods())("test")
	cancel := func(p protocol.TurnParams) (result protocol.TurnCancelResult) {
		t.Helper()
		if err := conn.Call(within(t), protocol.MethodTurnCancel, p, &result); err != nil {
			t.Error(err)
		}
		return result
	}
	// Cancelling a conversation under its former name also stops its subagents.
	if result := cancel(protocol.TurnParams{Session: "once"}); !result.Cancelled || h.takeCalls() != "cancel once, stop now/" {
		t.Errorf("%+v, done %q", result, h.calls)
	}
	// For a turn that has ended there is nothing to stop.
	if result := cancel(protocol.TurnParams{Turn: "t1"}); result.Cancelled || h.takeCalls() != "cancel t1" {
		t.Errorf("%+v, done %q", result, h.calls)
	}
	h.running = true
	if result := cancel(protocol.TurnParams{Event: "e1"}); !result.Cancelled || h.takeCalls() != "cancel e1, stop now/t1" {
		t.Errorf("%+v, done %q", result, h.calls)
	}
	retry := func(p protocol.TurnRetryParams) error { return conn.Call(within(t), protocol.MethodTurnRetry, p, nil) }
	if err := retry(protocol.TurnRetryParams{Event: "e1", Above: "* Bees"}); err != nil || h.takeCalls() != "retry e1 with t1 below * Bees" {
		t.Errorf("%v, done %q", err, h.calls)
	}
	wantError(t, "a model that is none", retry(protocol.TurnRetryParams{Event: "e1", Model: "nobody"}), protocol.CodeNotFound, "nobody")
	wantError(t, "a turn that is none", retry(protocol.TurnRetryParams{Event: "e2"}), protocol.CodeNotFound, "turn")
	if done := h.takeCalls(); done != "" {
		t.Errorf("done is %q", done)
	}
	var list protocol.SubagentListResult
	if err := conn.Call(within(t), protocol.MethodSubagentList, protocol.SubagentListParams{Session: "once"}, &list); err != nil || len(list.Subagents) != 1 || h.takeCalls() != "list now" {
		t.Errorf("%+v, %v", list, err)
	}
}

// fakeUsage returns the usage of turns and the steps of tools, and records the query.
type fakeUsage struct{ query string }

func (c *fakeUsage) Sum(_ context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error) {
	c.query = string(by) + session + since.Format("/2006-01-02")
	return []protocol.Usage{{What: "x"}}, nil
}

func (c *fakeUsage) EachToolStep(_ context.Context, session string, since time.Time, visit func(journal.ToolStep)) error {
	call := func(tool string) string { return `(:type :request :target :tool :action :call :tool "` + tool + `")` }
	for _, step := range []journal.ToolStep{
		{Action: call("read"), Verdict: "performed", Text: "four"},
		{Action: call("read"), Verdict: "failed", Text: "gone"},
		{Action: call("grep"), Verdict: "refused", Text: "not counted"},
		{Action: `(:type :request :target :tool :action :batch)`, Verdict: "performed", Text: "2 calls were made",
			Calls: []journal.StepCall{{Tool: "grep", Text: "0123456789"}, {Tool: "read", Text: "more"}}},
	} {
		visit(step)
	}
	return nil
}

func TestUsage(t *testing.T) {
	c := &fakeUsage{}
	conn := serve(t, service.Usage{Turns: c, Steps: c}.Methods())("test")
	get := func(p protocol.UsageGetParams) (result protocol.UsageGetResult, err error) {
		err = conn.Call(within(t), protocol.MethodUsageGet, p, &result)
		return result, err
	}
	if result, err := get(protocol.UsageGetParams{Session: "main", Since: "2026-11-22T08:00:00Z"}); err != nil || len(result.Rows) != 1 || c.query != "turnmain/2026-11-22" {
		t.Errorf("%+v, %v, asked %q", result, err, c.query)
	}
	result, err := get(protocol.UsageGetParams{By: protocol.UsageByTool})
	if err != nil || len(result.Rows) != 0 || len(result.Tools) != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	for i, want := range []protocol.ToolUsage{{Tool: "read", Calls: 3, Bytes: 12}, {Tool: "grep", Calls: 1, Bytes: 10}} { // the largest first
		if got := result.Tools[i]; got.Tool != want.Tool || got.Calls != want.Calls || got.Bytes != want.Bytes || got.Tokens == 0 {
			t.Errorf("%+v and not %+v", got, want)
		}
	}
	for what, p := range map[string]protocol.UsageGetParams{"2026-11-22T08:00:00Z": {Since: "yesterday"}, "of a day at most": {East: 1e6}, "not a valid session name": {Session: "../x"}} {
		_, err := get(p)
		wantError(t, what, err, protocol.CodeInvalidParams, what)
	}
}
