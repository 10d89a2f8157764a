package service_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// formerRules is a store with former decisions that are no rules.
type formerRules struct{ asks []protocol.Ask }

func (f *formerRules) Uses(context.Context) (map[string]journal.RuleUse, error) {
	return map[string]journal.RuleUse{"runs ls": {Count: 3, Last: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}}, nil
}

func (f *formerRules) FormerAlways(context.Context) ([]protocol.Ask, error) { return f.asks, nil }

func (f *formerRules) ForgetFormer(_ context.Context, hash string) error {
	f.asks = slices.DeleteFunc(f.asks, func(a protocol.Ask) bool { return a.Hash == hash })
	return nil
}

// Rules are listed with their uses and revoked. Former decisions are kept as rules or dropped.
func TestRules(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "policy.org")
	if err := os.WriteFile(path, []byte("* Rules\n| rule | matches | verdict | why | since |\n| runs | ls | allow | looks | [2026-11-01 Sun] |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, dropped := strings.Repeat("a", 64), strings.Repeat("b", 64)
	former := &formerRules{asks: []protocol.Ask{
		{PendingAction: protocol.PendingAction{Hash: kept, Summary: "Run make"}, Closed: "2026-10-01T10:00:00Z"},
		{PendingAction: protocol.PendingAction{Hash: dropped, Summary: "Run rm"}, Closed: "2026-10-02T10:00:00Z"},
	}}
	changed := 0
	rules := service.Rules{File: &policy.RuleFile{Path: path, Home: home}, Uses: former, Changed: func() { changed++ }, Now: func() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) }}
	conn := serve(t, rules.Methods())("ann")
	call := func(method string, params any) (list protocol.PolicyListResult, err error) {
		return list, conn.Call(t.Context(), method, params, &list)
	}
	list, err := call(protocol.MethodPolicyList, protocol.Empty{})
	want := protocol.PolicyRule{Line: 3, Rule: "runs", Matches: "ls", Verdict: "allow", Why: "looks", Since: "[2026-11-01 Sun]", Uses: 3, Last: "2026-11-26T12:00:00Z"}
	if err != nil || len(list.Rules) != 1 || list.Rules[0] != want || len(list.Former) != 2 || list.Former[0].Summary != "Run make" || list.File != path {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err = call(protocol.MethodPolicyKeep, protocol.PolicyKeepParams{Hash: kept, Keep: true}); err != nil || len(list.Rules) != 2 || list.Rules[1].Rule != "action" || list.Rules[1].Matches != kept || len(list.Former) != 1 {
		t.Fatalf("kept: %+v, %v", list, err)
	}
	if list, err = call(protocol.MethodPolicyKeep, protocol.PolicyKeepParams{Hash: dropped}); err != nil || len(list.Rules) != 2 || len(list.Former) != 0 {
		t.Fatalf("dropped: %+v, %v", list, err)
	}
	if _, err = call(protocol.MethodPolicyKeep, protocol.PolicyKeepParams{Hash: dropped, Keep: true}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("kept again: %v", err)
	}
	if _, err = call(protocol.MethodPolicyRevoke, protocol.PolicyRevokeParams{Line: 3, Rule: "runs", Matches: "rm"}); protocol.ErrorCode(err) != protocol.CodeStale {
		t.Errorf("another row: %v", err)
	}
	if list, err = call(protocol.MethodPolicyRevoke, protocol.PolicyRevokeParams{Line: 3, Rule: "runs", Matches: "ls"}); err != nil || len(list.Rules) != 1 {
		t.Errorf("revoked: %+v, %v", list, err)
	}
	if changed != 2 {
		t.Errorf("clients were told %d times that the file changed", changed)
	}
}
