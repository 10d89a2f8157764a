package org_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

const annotated = "** Two                                                                  :agent:\n:PROPERTIES:\n:ID:       a1\n:END:\nBoth.\n:END:\n"

func TestAnnotate(t *testing.T) {
	got := org.Annotate(annotated, []org.Property{{Key: "TOKENS", Value: "3/4"}},
		[]org.Drawer{{Name: "THOUGHTS", Text: "\nIs it?\n\n* Yes\n:END:\n"}, {Name: "CALLS"}}, []org.Remark{{By: "You, meanwhile", Text: "be\n* short"}})
	want := strings.Replace(annotated, ":END:\nBoth", ":TOKENS:   3/4\n:END:\n:THOUGHTS:\n: Is it?\n:\n: * Yes\n: :END:\n:END:\n- You, meanwhile :: be * short\nBoth", 1)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := org.Annotate(annotated, nil, nil, nil); got != annotated {
		t.Errorf("nothing added makes\n%s", got)
	}
}

// TestThoughtsAreInert checks that the model's thoughts are inert, that the answer around them
// stays, and that the drawer ends where it should.
func TestThoughtsAreInert(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", " ", "\n", "\r", "\t", "\x00", "\u2028", "* h", ":END:", ":THOUGHTS:", ":PROPERTIES:", "#+begin_src sh\n", "#+end_src", "[[elisp:(f)]]", "[[shell:ls][x]]",
		"src_sh{ls}", "call_f()", "{{{m}}}", "<2026-11-22>", "<<t>>", "@@html:x@@", "# Local Variables:", "%%(f)", "SCHEDULED: <2026-11-22>", "| a |", "|=1|", "`x`", "**b**", "$x$", "\\[", "[fn:1] x", "\xff", "=", "~", "file:/ssh:x:y", "-*- eval: (f) -*-", "<think>",
	})
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces, 1, 12).Draw(r, "text"), "")
		got := org.Annotate(annotated[:strings.Index(annotated, "Both")]+"Both.\n", []org.Property{{Key: "TOKENS", Value: "3/4"}}, []org.Drawer{{Name: "THOUGHTS", Text: text}, {Name: "CALLS", Text: text}}, []org.Remark{{By: "You, meanwhile", Text: text}})
		if ok, reason := org.IsInert(got); !ok {
			r.Fatalf("%s in\n%s", reason, got)
		}
		if n := strings.Count(got, "\n:END:\n"); n != 3 || !strings.HasSuffix(got, "Both.\n") {
			r.Fatalf("%d drawers in\n%s", n, got)
		}
		document := org.Parse(got)
		if len(document.Headings) != 1 {
			r.Fatalf("%d headings in\n%s", len(document.Headings), got)
		}
	})
}
