package policy_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// shed is a list of tools with the effect of a call of each.
type shed map[string]protocol.ToolEffect

func (s shed) Find(name string) (string, protocol.ToolEffect, bool) {
	effect, found := s[strings.ToLower(name)]
	return strings.ToLower(name), effect, found
}

func (s shed) Reach(_ context.Context, _ string, arguments protocol.Object) (protocol.Object, []protocol.Reach, error) {
	return arguments, nil, nil
}

func (shed) Digest(string) string { return "" }

func (shed) Trust(string) (string, string) { return "", "" }

func (shed) Guard(context.Context, string, protocol.Object) (string, error) { return "", nil }

func (s shed) Nearest(string) string { return "read" }

func TestToolRule(t *testing.T) {
	p := policy.Policy{Kinds: kinds, Tools: shed{"read": protocol.ToolReads, "grep": protocol.ToolReads, "write": "", "ask": protocol.ToolAsks, "keep": protocol.ToolKeeps}}
	for _, c := range []struct {
		action string
		kind   policy.Kind
		reason string
		judged string
	}{
		{`(:type :request :target :tool :action :call :tool "READ" :args (:path "x"))`, policy.Allow, "only reads", `(:type :request :target :tool :payload (:action :call :tool "read" :args (:path "x")))`},
		{`(:type :request :target :tool :action :call :tool :read)`, policy.Allow, "only reads", `(:type :request :target :tool :payload (:action :call :tool "read"))`},
		{`(:type :request :target :tool :action :call :tool "ask" :args (:approved t))`, policy.Allow, "who alone answers", ``},
		{`(:type :request :target :tool :action :call :tool "keep" :args (:text "x"))`, policy.Allow, "can take back", ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "keep")))`, policy.Refuse, "keep does more than read; call it by itself", ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "ask")))`, policy.Refuse, "ask does more than read; call it by itself", ``},
		{`(:type :request :target :tool :action :call :tool "write")`, policy.Ask, "more than read", `(:type :request :target :tool :payload (:action :call :tool "write"))`},
		{`(:type :request :target :tool :action :call :tool "read" :path "x")`, policy.Refuse, `a call has its arguments in :args, as in (:tool "read" :args (:path …)); here is :path beside it`, ``},
		{`(:type :request :target :tool :payload (:action :call :tool "read" :arguments (:path "x")))`, policy.Refuse, `(:tool "read" :args (:NAME VALUE)); here is :arguments beside it`, ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "read" :path "x")))`, policy.Refuse, "call 1 of the batch: a call has its arguments in :args", ``},
		{`(:type :request :target :tool :action :call :tool "read" :args (:path "x") :why "to see")`, policy.Allow, "only reads", ``},
		{`(:type :request :target :tool :action :call :tool 5)`, policy.Refuse, "names no tool", ``},
		{`(:type :request :target :tool :action :call :tool "raed")`, policy.Refuse, `did you mean "read"?`, ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "READ") (:tool :grep :args (:x 1))))`, policy.Allow, "only read", `(:type :request :target :tool :payload (:action :batch :calls ((:tool "read") (:tool "grep" :args (:x 1)))))`},
		{`(:type :request :target :tool :action :batch :calls ((:tool "read") (:tool "write")))`, policy.Refuse, "call 2 of the batch: write does more", ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "read") (:args (:tool "read"))))`, policy.Refuse, "call 2 of the batch: it names no tool", ``},
		{`(:type :request :target :tool :action :batch :calls nil)`, policy.Refuse, "1 to 16 calls", ``},
		{`(:type :request :target :tool :action :batch :calls (` + strings.Repeat(`(:tool "read")`, 17) + `))`, policy.Refuse, "not 17", ``},
	} {
		got := p.Judge(t.Context(), read(t, c.action), policy.Where{})
		if got.Kind != c.kind || !strings.Contains(got.Reason, c.reason) || c.judged != "" && got.Action.Canonical() != c.judged {
			t.Errorf("%s: %s, %q, %s", c.action, got.Kind, got.Reason, got.Action.Canonical())
		}
	}
}

// TestKeepsAfterOthers checks that adding to the memory asks after text by others entered the turn,
// unless a row allows it.
func TestKeepsAfterOthers(t *testing.T) {
	const head = "* Rules\n| rule | matches | verdict | why | since |\n"
	for _, c := range []struct {
		outside, rules string
		kind           policy.Kind
		reason         string
	}{
		{"", "", policy.Allow, "can take back"},
		{"what read returned", "", policy.Ask, "what read returned came into this one"},
		{"what read returned", head + "| tool keep | | allow | mine | |\n", policy.Allow, "policy.org:3 says allow, mine"},
		{"", head + "| tool keep | | ask | | |\n", policy.Ask, "policy.org:3 says ask"},
	} {
		path := filepath.Join(t.TempDir(), "policy.org")
		if err := os.WriteFile(path, []byte(c.rules), 0o600); err != nil {
			t.Fatal(err)
		}
		p := policy.Policy{Kinds: kinds, Tools: shed{"keep": protocol.ToolKeeps}, Rules: &policy.RuleFile{Path: path}}
		got := p.Judge(t.Context(), read(t, `(:type :request :target :tool :action :call :tool "keep")`), policy.Where{Outside: c.outside})
		if got.Kind != c.kind || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%q, %q: %s, %q", c.outside, c.rules, got.Kind, got.Reason)
		}
	}
}
