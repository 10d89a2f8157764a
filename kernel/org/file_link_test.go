package org_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

// TestFileLink checks how a file is led to: a picture without a description, and a path that would be something else to Org
// or to Emacs as it is.
func TestFileLink(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ada/report.pdf":  "[[file:/home/ada/report.pdf][report.pdf]]",
		"/home/ada/a b (1).txt": "[[file:/home/ada/a b (1).txt][a b (1).txt]]",
		"/home/ada/Plot.PNG":    "[[file:/home/ada/Plot.PNG]]",
		"/home/ada/[draft].txt": ": /home/ada/[draft].txt",
		"/ssh:host:/x":          ": /ssh:host:/x",
		"relative.txt":          ": relative.txt",
		"/tmp/a\n* heading":     ": /tmp/a␊* heading",
		"/tmp/$(rm).txt":        ": /tmp/$(rm).txt",
	} {
		if got := org.FileLink(path); got != want {
			t.Errorf("%q is %q, not %q", path, got, want)
		}
	}
	pieces := rapid.SampledFrom([]string{"/", "a", " ", "]]", "[", "src_sh{x}", "call_f()", "*b*", "\n", "\u2028", "::", ".png", "|", "%", "=", "<2026-11-22>", "#+x:", "\xff", ":END:"})
	rapid.Check(t, func(r *rapid.T) {
		path := "/" + strings.Join(rapid.SliceOfN(pieces, 1, 8).Draw(r, "path"), "")
		link := org.FileLink(path)
		if ok, why := org.IsInert(link + "\n"); !ok || strings.Contains(link, "\n") {
			r.Errorf("%q is %q: %s", path, link, why)
		}
	})
}
