package outline_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/outline"
)

// seen is a text without what is kept, each part as "~".
func seen(path, text string) string {
	var b strings.Builder
	end := 0
	for _, p := range outline.Kept(path, text) {
		b.WriteString(text[end:p.Start] + "~")
		end = p.End
	}
	return b.String() + text[end:]
}

func TestKept(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"a.org", "* A\nx\n* B :noagent:\ny\n** C\nz\n* D\n", "* A\nx\n~* D\n"},
		{"a.org", "* A :@private:\nx\n** B\n* C :home:crypt:\n* D\n*no heading\n", "~* D\n*no heading\n"},
		{"a.org", "* A\n** B :NoAgent:\ny\n*** C\n** D\n** E :noagent:\nend", "* A\n~** D\n~"},
		{"a.org", "* A\r\n* B :noagent:\r\ny\r\n* C\r\n", "* A\r\n~* C\r\n"},
		{"a.org", "\ufeff* A :noagent:\nx\n* B\n", "~* B\n"},
		{"a.org", "x\n* A\n  #+FileTags: :home:noagent:\n", "~"},
		{"a.org", "\ufeff#+filetags: crypt\nx", "~"},
		{"a.org", "#+FILETAGS: :home:\nx :noagent:\n* about :noagent: things\n", "#+FILETAGS: :home:\nx :noagent:\n* about :noagent: things\n"},
		{"a.org", "", ""},
		{"a.org~", "* A :noagent:\nx\n", "~"},
		{"#a.org#", "* A :noagent:\nx\n", "~"},
		{"a.org.~3~", "* A :noagent:\nx\n", "~"},
		{"a.org_archive", "* A :noagent:\nx\n", "~"},
		{"notes", "# -*- mode: Org; fill-column: 70 -*-\n* A :noagent:\nx\n", "# -*- mode: Org; fill-column: 70 -*-\n~"},
		{"notes", "#!/bin/sh\n# -*- org -*-\n* A :noagent:\n", "#!/bin/sh\n# -*- org -*-\n~"},
		{"a.go", "/*\n* A :noagent:\n*/\n", "/*\n* A :noagent:\n*/\n"},
		{"a.organ", "* A :noagent:\n", "* A :noagent:\n"},
	} {
		if got := seen(c.path, c.text); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.path, c.text, got, c.want)
		}
	}
}

// What is not given whole may be anything.
func TestVeilOfCutLines(t *testing.T) {
	var v outline.Veil
	if v.Hides("* "+strings.Repeat("x", 50), false) || !v.Hides("** "+strings.Repeat("x", 50), true) || !v.Hides("below", false) || v.Hides("* next", false) {
		t.Error("a heading that is cut is not kept")
	}
	long := "#+FILETAGS: " + strings.Repeat("a:", 1<<16) + "noagent:\n"
	if v, err := outline.NewVeil(strings.NewReader(long)); err != nil || !v.Hides("x", false) {
		t.Errorf("a long line with tags of the file: %v", err)
	}
	if v, err := outline.NewVeil(strings.NewReader(strings.Repeat("x", 64<<10) + "#+FILETAGS: :noagent:\n")); err != nil || v.Hides("x", false) {
		t.Errorf("within a line there are no tags of the file: %v", err)
	}
}

// What is shown of a text are exactly the entries that a query may find, and what is before them.
func TestKeptAsQueried(t *testing.T) {
	line := rapid.SampledFrom([]string{"* A", "** B", "*** C :home:", "* D :noagent:", "** E :x:@private:", "*** F :crypt:", "text", "#+begin_src org", "#+end_src", ":END:", "", "* :noagent:", "* TODO :noagent:"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
		shown := text
		if at := strings.Index("\n"+text, "\n*"); at >= 0 { // behind it all belongs to entries
			shown = text[:at]
			for _, e := range outline.Read(outline.Source{Path: "a.org", Text: text}).Entries {
				shown += text[e.Start:e.Next]
			}
		}
		if got := strings.ReplaceAll(seen("a.org", text), "~", ""); got != shown {
			t.Fatalf("%q: %q is shown, %q is found", text, got, shown)
		}
	})
}

func TestIntact(t *testing.T) {
	before := "* A\nx\n* B :noagent:\ny\n* C\n"
	for after, refused := range map[string]bool{
		"* A\nz\n* B :noagent:\ny\n* C\nmore\n": false,
		"* A\nx* B :noagent:\ny\n* C\n":         true,
		"* A\nx\n* B :noagent:\nz\n* C\n":       true,
		"* A\nx\n* B :noagent:\ny\n** C\n":      true,
		"* A\nx\n* B\ny\n* C\n":                 true,
		"* A\nx\n* C\n":                         true,
		"* A :noagent:\nx\n* C\n":               true,
		"":                                      true,
	} {
		if err := outline.Intact("a.org", before, after); (err != nil) != refused {
			t.Errorf("%q: %v", after, err)
		}
		if err := outline.Intact("a.txt", before, after); err != nil {
			t.Errorf("no Org, %q: %v", after, err)
		}
	}
}
