package policy_test

import (
	"strings"
	"testing"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// shed is a list of tools: what calling each takes.
type shed map[string]protocol.ToolEffect

func (s shed) Find(name string) (string, protocol.ToolEffect, bool) {
	effect, found := s[strings.ToLower(name)]
	return strings.ToLower(name), effect, found
}

func (s shed) Nearest(string) string { return "read" }

func TestToolRule(t *testing.T) {
	p := policy.Policy{Tools: shed{"read": protocol.ToolReads, "grep": protocol.ToolReads, "write": "", "ask": protocol.ToolAsks}}
	for _, c := range []struct {
		action string
		kind   policy.Kind
		reason string
		judged string
	}{
		{`(:type :request :target :tool :action :call :tool "READ" :args (:path "x"))`, policy.Allow, "only reads", `(:type :request :target :tool :payload (:action :call :tool "read" :args (:path "x")))`},
		{`(:type :request :target :tool :action :call :tool :read)`, policy.Allow, "only reads", `(:type :request :target :tool :payload (:action :call :tool "read"))`},
		{`(:type :request :target :tool :action :call :tool "ask" :args (:approved t))`, policy.Allow, "who alone answers", ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "ask")))`, policy.Refuse, "ask does more than read; call it by itself", ``},
		{`(:type :request :target :tool :action :call :tool "write")`, policy.Ask, "more than read", `(:type :request :target :tool :payload (:action :call :tool "write"))`},
		{`(:type :request :target :tool :action :call :tool 5)`, policy.Refuse, "names no tool", ``},
		{`(:type :request :target :tool :action :call :tool "raed")`, policy.Refuse, `did you mean "read"?`, ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "READ") (:tool :grep :args (:x 1))))`, policy.Allow, "only read", `(:type :request :target :tool :payload (:action :batch :calls ((:tool "read") (:tool "grep" :args (:x 1)))))`},
		{`(:type :request :target :tool :action :batch :calls ((:tool "read") (:tool "write")))`, policy.Refuse, "call 2 of the batch: write does more", ``},
		{`(:type :request :target :tool :action :batch :calls ((:tool "read") (:args (:tool "read"))))`, policy.Refuse, "call 2 of the batch: it names no tool", ``},
		{`(:type :request :target :tool :action :batch :calls nil)`, policy.Refuse, "1 to 16 calls", ``},
		{`(:type :request :target :tool :action :batch :calls (` + strings.Repeat(`(:tool "read")`, 17) + `))`, policy.Refuse, "not 17", ``},
	} {
		got := p.Judge(read(t, c.action), policy.Where{})
		if got.Kind != c.kind || !strings.Contains(got.Reason, c.reason) || c.judged != "" && plist.Print(got.Action) != c.judged {
			t.Errorf("%s: %s, %q, %s", c.action, got.Kind, got.Reason, plist.Print(got.Action))
		}
	}
}
