package diff_test

import (
	"math/rand"
	"strings"
	"testing"

	"org-agent/kernel/diff"
)

func TestUnified(t *testing.T) {
	tests := []struct {
		name, old, new string
		options        diff.Options
		want           string
	}{
		{"equal", "a\n", "a\n", diff.Options{}, ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", diff.Options{}, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"fragments without line ends", "word", "deed", diff.Options{}, "@@ -1 +1 @@\n-word\n+deed\n"},
		{"from nothing", "", "a\nb\n", diff.Options{}, "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"to nothing", "a\n", "", diff.Options{}, "@@ -1 +0,0 @@\n-a\n"},
		{"a line end comes", "a", "a\n", diff.Options{}, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"names and numbers", "a\n", "b\n", diff.Options{OldName: "x", NewName: "y", First: 10}, "--- x\n+++ y\n@@ -10 +10 @@\n-a\n+b\n"},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1!\n2\n3\n4\n5\n6\n7\n8\n9!\n", diff.Options{Context: 1},
			"@@ -1,2 +1,2 @@\n-1\n+1!\n 2\n@@ -8,2 +8,2 @@\n 8\n-9\n+9!\n"},
	}
	for _, test := range tests {
		if got := diff.Unified(test.old, test.new, test.options); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestBothTextsAreInIt checks that the lines of a diff with all its context are both texts.
func TestBothTextsAreInIt(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	text := func() string {
		var b strings.Builder
		for range random.Intn(30) {
			b.WriteString(strings.Repeat(string(rune('a'+random.Intn(4))), 1+random.Intn(2)) + "\n")
		}
		return b.String()
	}
	for range 500 {
		before, after := text(), text()
		var old, new strings.Builder
		for line := range strings.Lines(diff.Unified(before, after, diff.Options{Context: 100})) {
			if strings.HasPrefix(line, "@") {
				continue
			}
			if line[0] != '+' {
				old.WriteString(line[1:])
			}
			if line[0] != '-' {
				new.WriteString(line[1:])
			}
		}
		if before != after && (old.String() != before || new.String() != after) {
			t.Fatalf("the diff of %q and %q has %q and %q", before, after, old.String(), new.String())
		}
	}
}

// TestBound checks that large texts with nothing in common are compared without the table.
func TestBound(t *testing.T) {
	a, b := strings.Repeat("a\n", 1<<20), strings.Repeat("b\n", 1<<20)
	if got := diff.Unified(a, b, diff.Options{}); strings.Count(got, "\n") != 1+2<<20 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}
