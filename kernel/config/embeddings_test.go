package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// TestEmbeddingServer checks that a server for embeddings with a fault is left out as a whole.
func TestEmbeddingServer(t *testing.T) {
	for name, c := range map[string]struct{ drawer, fault string }{
		"whole":          {":BASE_URL: http://localhost:1/v1\n:MODEL: m\n:API_KEY: env:K\n:LIKENESS: 0.4", ""},
		"no address":     {":MODEL: m", "needs a property BASE_URL"},
		"no model":       {":BASE_URL: http://localhost:1/v1", "needs a property MODEL"},
		"no likeness":    {":BASE_URL: http://localhost:1/v1\n:MODEL: m\n:LIKENESS: 2", "is not a number between 0 and 1"},
		"a misspelt one": {":BASE_URL: http://localhost:1/v1\n:MODLE: m", "did you mean MODEL"},
	} {
		got := config.Parse("config.org", "* Memory\n** Embeddings\n:PROPERTIES:\n"+c.drawer+"\n:END:\n")
		faults := fmt.Sprint(got.Diagnostics)
		if (got.Embeddings == nil) != (c.fault != "") || !strings.Contains(faults, c.fault) {
			t.Errorf("%s: %+v %s", name, got.Embeddings, faults)
		}
		if c.fault == "" && (got.Embeddings.Likeness != 0.4 || !slices.Contains(got.KeyVariables(), "K")) {
			t.Errorf("%s: %+v", name, got.Embeddings)
		}
	}
	if got := fmt.Sprint(config.Parse("config.org", "* Memory\n** Embedings\n").Diagnostics); !strings.Contains(got, "only Embeddings is") {
		t.Errorf("a misspelt heading: %s", got)
	}
}
