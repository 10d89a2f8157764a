package composer

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/prompt"
)

// TestCache: a prompt depends on its facts only, whatever the cache has, and the cache is bounded.
func TestCache(t *testing.T) {
	library, faults := prompt.Load("")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	other, _ := prompt.Load("")
	var c cache
	of := func(library *prompt.Library, extra string, tools ...prompt.Tool) prompt.Prompt {
		facts := prompt.Facts{Extra: extra, Tools: tools}
		got, want := c.compose(library, facts), library.Compose(facts)
		if got.Text != want.Text || !strings.Contains(got.Text, extra) || len(got.Parts) != len(want.Parts) {
			t.Fatalf("of %q came\n%s\nnot\n%s", extra, got.Text, want.Text)
		}
		return got
	}
	for round := range 3 {
		for i := range 2 * cacheSize {
			of(library, fmt.Sprintf("extra %d", i/(round+1)))
		}
	}
	of(library, "tools", prompt.Tool{Name: "read", Line: "read: reads"})
	of(library, "tools", prompt.Tool{Name: "read", Line: "read: reads more"})
	of(other, "tools", prompt.Tool{Name: "read", Line: "read: reads more"})
	if len(c.entries) != cacheSize || c.entries[0].library != other || c.entries[1].library != library {
		t.Errorf("%d prompts are kept", len(c.entries))
	}
	first := &of(library, "again").Parts[0]
	if second := &c.compose(library, prompt.Facts{Extra: "again"}).Parts[0]; first != second {
		t.Error("it was composed twice")
	}
}
