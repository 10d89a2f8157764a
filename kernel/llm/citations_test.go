package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm"
)

// Sources stand behind a reply as links, each once, and nothing of them can be more than a link.
func TestCitations(t *testing.T) {
	var c llm.Citations
	c.Wrote("Roses want water, see [here](https://a.example/roses).")
	c.Add("https://a.example/roses", "Roses")
	c.Add("https://b.example/x_(y)", "On [roses]\n* and more")
	c.Add("https://b.example/x_(y)", "again")
	c.Add("https://c.example/", "")
	for _, bad := range []string{"file:///etc/passwd", "elisp:(x)", "javascript:x", "https://", "", "https://d.example/" + strings.Repeat("x", 3000)} {
		c.Add(bad, "bad")
	}
	want := "\n\nSources:\n\n- [On roses * and more](https://b.example/x_%28y%29)\n- [https://c.example/](https://c.example/)"
	if got := c.Text(); got != want {
		t.Errorf("%q\nis not\n%q", got, want)
	}
	for _, reply := range []string{"", " (:type :log)", `{"a":1}`} {
		var c llm.Citations
		c.Wrote(reply)
		c.Add("https://c.example/", "")
		if got := c.Text(); got != "" {
			t.Errorf("%q has the sources %q", reply, got)
		}
	}
	var many llm.Citations
	many.Wrote("x")
	for i := range 1000 {
		many.Add(fmt.Sprintf("https://a.example/%d", i), "")
	}
	if n := strings.Count(many.Text(), "\n- "); n != 50 {
		t.Errorf("%d sources are kept", n)
	}
}
