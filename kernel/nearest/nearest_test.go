package nearest_test

import (
	"strings"
	"testing"

	"org-agent/kernel/nearest"
)

func TestOf(t *testing.T) {
	candidates := []string{"description", "license", "metadata", "größe"}
	for name, want := range map[string]string{
		"descripton": "description", "licence": "license", "meta-data": "metadata", "license": "license",
		"grösse": "größe", "colour": "", "": "", strings.Repeat("x", 1<<20): "",
	} {
		if got := nearest.Of(name, candidates); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"ß", "ss", 2}, {"abc", "abc", 0}} {
		if got := nearest.Distance(c.a, c.b); got != c.want || nearest.Distance(c.b, c.a) != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
