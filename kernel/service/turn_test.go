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

// talk is conversations with one turn, t1 in "now", which was called "once". It notes what it
// is asked to do.
type talk struct {
	running bool
	done    []string
}

func (h *talk) note(words ...string) { h.done = append(h.done, strings.Join(words, " ")) }

func (h *talk) taken() string {
	done := strings.Join(h.done, ", ")
	h.done = nil
	return done
}

func (h *talk) CurrentName(_ context.Context, session string) (string, error) {
	return strings.ReplaceAll(session, "once", "now"), nil
}

func (h *talk) Turn(_ context.Context, p protocol.TurnParams) (journal.Turn, error) {
	if p.Turn != "t1" && p.Event != "e1" {
		return journal.Turn{}, protocol.Errorf(protocol.CodeNotFound, "there is no such turn")
	}
	return journal.Turn{ID: "t1", Session: "now", Event: "e1"}, nil
}

func (h *talk) Cancel(_ context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	h.note("cancel", p.Session+p.Turn+p.Event)
	return protocol.TurnCancelResult{Turn: "t1", Cancelled: h.running}, nil
}

func (h *talk) Retry(_ context.Context, p protocol.TurnRetryParams, settings protocol.TurnSettings) (protocol.EventResult, error) {
	h.note("retry", p.Turn+p.Event, "with", settings.Value("SYSTEM"))
	return protocol.EventResult{Turn: "t2"}, nil
}

func (h *talk) ResolveAgain(_ context.Context, record journal.Turn, above string) (protocol.TurnSettings, error) {
	return protocol.TurnSettings{{Name: "SYSTEM", Value: record.ID + " below " + above}}, nil
}

func (h *talk) Find(name string) error { return (&typist{}).Find(name) }

// pool is subagents, of which one works for t1.
type pool struct{ *talk }

func (p pool) List(_ context.Context, session string) ([]protocol.Subagent, error) {
	p.note("list", session)
	return []protocol.Subagent{{ID: "s", Session: "now", Child: "child", Label: "digs"}}, nil
}

func (p pool) Cancel(_ context.Context, session, turn string) (int, error) {
	p.note("stop", session+"/"+turn)
	return 1, nil
}

func TestTurns(t *testing.T) {
	h := &talk{}
	conn := served(t, service.Turns{Sessions: h, Names: h, Models: h, Settings: h, Subagents: pool{h}}.Methods())("test")
	cancel := func(p protocol.TurnParams) (result protocol.TurnCancelResult) {
		t.Helper()
		if err := conn.Call(within(t), protocol.MethodTurnCancel, p, &result); err != nil {
			t.Error(err)
		}
		return result
	}
	// All of a conversation, under its former name: work that was handed on counts.
	if result := cancel(protocol.TurnParams{Session: "once"}); !result.Cancelled || h.taken() != "cancel once, stop now/" {
		t.Errorf("%+v, done %q", result, h.done)
	}
	// A turn that had ended has nothing to stop.
	if result := cancel(protocol.TurnParams{Turn: "t1"}); result.Cancelled || h.taken() != "cancel t1" {
		t.Errorf("%+v, done %q", result, h.done)
	}
	h.running = true
	if result := cancel(protocol.TurnParams{Event: "e1"}); !result.Cancelled || h.taken() != "cancel e1, stop now/t1" {
		t.Errorf("%+v, done %q", result, h.done)
	}
	retry := func(p protocol.TurnRetryParams) error { return conn.Call(within(t), protocol.MethodTurnRetry, p, nil) }
	if err := retry(protocol.TurnRetryParams{Event: "e1", Above: "* Bees"}); err != nil || h.taken() != "retry e1 with t1 below * Bees" {
		t.Errorf("%v, done %q", err, h.done)
	}
	refused(t, "a model that is none", retry(protocol.TurnRetryParams{Event: "e1", Model: "nobody"}), protocol.CodeNotFound, "nobody")
	refused(t, "a turn that is none", retry(protocol.TurnRetryParams{Event: "e2"}), protocol.CodeNotFound, "turn")
	if done := h.taken(); done != "" {
		t.Errorf("done is %q", done)
	}
	var list protocol.SubagentListResult
	if err := conn.Call(within(t), protocol.MethodSubagentList, protocol.SubagentListParams{Session: "once"}, &list); err != nil || len(list.Subagents) != 1 || h.taken() != "list now" {
		t.Errorf("%+v, %v", list, err)
	}
}

// counted is what turns and tools took.
type counted struct{ asked string }

func (c *counted) Sum(_ context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error) {
	c.asked = string(by) + session + since.Format("/2006-01-02")
	return []protocol.Usage{{What: "x"}}, nil
}

func (c *counted) EachToolStep(_ context.Context, session string, since time.Time, visit func(journal.ToolStep)) error {
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
	c := &counted{}
	conn := served(t, service.Usage{Turns: c, Steps: c}.Methods())("test")
	get := func(p protocol.UsageGetParams) (result protocol.UsageGetResult, err error) {
		err = conn.Call(within(t), protocol.MethodUsageGet, p, &result)
		return result, err
	}
	if result, err := get(protocol.UsageGetParams{Session: "main", Since: "2026-11-22T08:00:00Z"}); err != nil || len(result.Rows) != 1 || c.asked != "turnmain/2026-11-22" {
		t.Errorf("%+v, %v, asked %q", result, err, c.asked)
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
		refused(t, what, err, protocol.CodeInvalidParams, what)
	}
}
