package autorun_test

import (
	"strings"
	"testing"

	"org-agent/kernel/autorun"
)

// TestNames checks that each name occurs once, is the name of one file, and has a reason.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range autorun.Names {
		if n.Name == "" || strings.ContainsAny(n.Name, "/ *") || seen[n.Name] || len(n.Reason) < 15 || autorun.Has(n.Name) == n.Ordinary || n.Part != "" && !n.Ordinary {
			t.Errorf("%+v", n)
		}
		seen[n.Name] = true
	}
	for _, name := range []string{".claude", ".mcp.json", ".cursor", ".gemini", ".codex", ".opencode", "opencode.json", ".windsurf", ".eslintrc.js", "eslint.config.mjs", ".rubocop.yml", ".prettierrc.js", ".mailcap", ".gnus.el"} { // agents and checkers
		if !autorun.Has(name) {
			t.Errorf("%q is not among them", name)
		}
	}
	for _, name := range []string{"Makefile", "package.json", "", ".git"} { // ordinary, or guarded as a whole
		if autorun.Has(name) {
			t.Errorf("%q is among them", name)
		}
	}
}
