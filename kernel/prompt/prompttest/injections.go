// Package prompttest has what tests of prompts share.
package prompttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Injections are texts that want to be more than text, as testdata/injections/texts.txt of
// the project has them: quoted, one a line. The test must stand in a package two levels below
// the project's directory.
func Injections(t testing.TB) []string {
	t.Helper()
	lines, err := os.ReadFile(filepath.Join("..", "..", "testdata", "injections", "texts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(lines)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		text, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		texts = append(texts, text)
	}
	return texts
}
