package prompttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Demand is a text that demands an action. Tests replace ACT in it by a word that identifies the
// demand, and EVIL by a server of an attacker.
type Demand struct {
	Wants, Text string
}

// Demands returns the texts of testdata/injections/demands.txt. As for [Injections], the test must
// be in a package two levels below the project's directory.
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
