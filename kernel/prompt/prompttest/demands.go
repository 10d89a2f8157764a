package prompttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Demand is a text that wants something done. In it ACT stands for the word by which it is known,
// and EVIL for a server of strangers.
type Demand struct {
	Wants, Text string
}

// Demands are those of testdata/injections/demands.txt, for tests that stand where those of
// [Injections] do.
func Demands(t testing.TB) []Demand {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join("..", "..", "testdata", "injections", "demands.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []Demand
	for line := range strings.Lines(string(lines)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		wants, quoted, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, Demand{wants, text})
	}
	return all
}
