package org_test

import (
	"strings"
	"testing"

	"org-agent/kernel/org"
)

// TestConvertDeepNesting checks that a line of markers alone, which a model may be made to write,
// does not take a level of the stack for each. The kernel would die of that.
func TestConvertDeepNesting(t *testing.T) {
	for _, unit := range []string{">", "> ", "- ", "1. ", "> - ", "- > ", "* + - "} {
		text := strings.Repeat(unit, 1<<19/len(unit)) + "end"
		converted := org.MarkdownToOrg(text)
		if text, _, _ := strings.Cut(converted[len(converted)-40:], "\n"); !strings.HasSuffix(text, "end") {
			t.Errorf("%q: the end is lost: …%q", unit, converted[max(0, len(converted)-60):])
		}
		if ok, reason := org.IsInert(converted); !ok {
			t.Errorf("%q is not inert: %s", unit, reason)
		}
		if got := cut(text, org.Options{Dialect: org.Markdown}, 1, 2, 3, 64, 65, 4000, 1<<18); got != converted {
			t.Errorf("%q depends on the cuts", unit)
		}
	}
}
