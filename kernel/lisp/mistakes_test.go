package lisp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMistakes loads what authors get wrong, each mistake as a note of its own, and
// compares what they are told with testdata/mistakes.out. With -update it writes that.
func TestMistakes(t *testing.T) {
	source, err := os.ReadFile("testdata/mistakes.lisp")
	if err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	for _, note := range strings.Split(string(source), ";;; ")[1:] {
		title, text, _ := strings.Cut(note, "\n")
		fmt.Fprintf(&told, ";;; %s\n", title)
		e := newEnvironment(t, noteConfig(nil))
		if err := e.Load(t.Context(), text, "note.org", 1); err != nil {
			fmt.Fprintf(&told, "%v\n", err)
		}
		problems, err := e.Problems(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			fmt.Fprintf(&told, "%v\n", p)
		}
		if strings.HasSuffix(told.String(), ";;; "+title+"\n") {
			t.Errorf("nothing is told of %s", title)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/mistakes.out", []byte(told.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/mistakes.out")
	if err != nil {
		t.Fatal(err)
	}
	firstDifference(t, "testdata/mistakes.lisp", told.String(), string(want))
}
