package orgquery_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/orgquery"
	"org-agent/kernel/withheld"
)

// seen returns a text without the withheld parts.
func seen(path, text string) string {
	var b strings.Builder
	end := 0
	for _, p := range withheld.File(path, text).Parts {
		b.WriteString(text[end:p.Start])
		end = p.End
	}
	return b.String() + text[end:]
}

// TestShownAsQueried checks that the shown parts of a text are exactly the entries that a query may
// find, and what stands before them.
func TestShownAsQueried(t *testing.T) {
	line := rapid.SampledFrom([]string{"* A", "** B", "*** C :home:", "* D :noagent:", "** E :x:@private:", "*** F :crypt:", "text", "#+begin_src org", "#+end_src", ":END:", "", "* :noagent:", "* TODO :noagent:"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
		shown := text
		if at := strings.Index("\n"+text, "\n*"); at >= 0 { // everything after it belongs to entries
			shown = text[:at]
			for _, e := range orgquery.Read(orgquery.Source{Path: "a.org", Text: text}).Entries {
				shown += text[e.Start:e.Next]
			}
		}
		if got := seen("a.org", text); got != shown {
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
		if err := orgquery.CheckWithheld("a.org", before, after); (err != nil) != refused {
			t.Errorf("%q: %v", after, err)
		}
		if err := orgquery.CheckWithheld("a.txt", before, after); err != nil {
			t.Errorf("no Org, %q: %v", after, err)
		}
	}
}
