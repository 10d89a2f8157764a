package access_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/channel/access"
)

// BenchmarkDecide measures a decision by a file with a thousand people, as it is made for each message.
func BenchmarkDecide(b *testing.B) {
	var rows strings.Builder
	rows.WriteString(people)
	for i := range 1000 {
		fmt.Fprintf(&rows, "| telegram | %d | somebody | friend | |\n", i)
	}
	path := filepath.Join(b.TempDir(), "channels.org")
	write(b, path, rows.String())
	guard := access.Guard{File: &access.File{Path: path}, Usage: &used{}}
	m := message("999")
	for b.Loop() {
		if d := guard.Decide(b.Context(), "telegram", m); d.Verdict != access.Answer {
			b.Fatal(d)
		}
	}
}
