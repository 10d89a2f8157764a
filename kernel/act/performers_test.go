package act_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// performers returns the actions in the list of our own Emacs client, org-agent-performers.
func performers(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "elisp", "org-agent.el"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(source), "(defvar org-agent-performers\n  '")
	if !found {
		t.Fatal("org-agent.el has no list of performers")
	}
	depth, end := 0, 0
	for i, c := range list {
		if c == '(' {
			depth++
		} else if c == ')' {
			depth--
		}
		if depth == 0 {
			end = i + 1
			break
		}
	}
	read, err := plist.Read(list[:end])
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range read.(sexp.List) {
		pair, ok := entry.(*plist.Pair)
		if !ok {
			t.Fatalf("%s is no pair of an action and a function", plist.Print(entry))
		}
		names = append(names, strings.TrimPrefix(plist.Print(pair.Car), ":"))
	}
	return names
}

// TestPerformers checks that our Emacs performs exactly the kinds that a client performs.
func TestPerformers(t *testing.T) {
	want := builtIn().ByClient()
	got := performers(t)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("Emacs performs %q, the kinds are %q", got, want)
	}
}
