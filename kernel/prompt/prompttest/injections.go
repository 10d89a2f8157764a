// Package prompttest contains texts for tests of prompts in several packages.
package prompttest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Injections returns the texts of testdata/injections/texts.txt, which try to be taken for
// instructions. In the file they are quoted, one on each line. The test must be in a package two
// levels below the project's directory.
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
