package lisp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

// wholePrograms is testdata/programs: NAME.lisp is what an author might write in a note, and
// NAME.out all that SBCL prints when it loads it.
const wholePrograms = "testdata/programs"

// TestPrograms runs programs whole and compares what they print with what SBCL prints.
// With -update it asks SBCL anew.
func TestPrograms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(wholePrograms, "*.lisp"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no programs in %s: %v", wholePrograms, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".lisp"), func(t *testing.T) {
			recorded := strings.TrimSuffix(file, ".lisp") + ".out"
			if *update {
				if err := os.WriteFile(recorded, oracleOutput(t, file), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(recorded)
			if err != nil {
				t.Fatalf("%v: make conformance writes it", err)
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			e := newEnvironment(t, lisp.Config{Output: func(text string) { got.WriteString(text) }})
			if err := e.Load(t.Context(), string(source), file, 1); err != nil {
				t.Error(err)
			}
			if problems, err := e.Problems(t.Context()); err != nil || len(problems) > 0 {
				t.Errorf("problems %v, %v", problems, err)
			}
			firstDifference(t, file, got.String(), string(want))
		})
	}
}

// firstDifference tells the first line in which two texts differ.
func firstDifference(t *testing.T, file, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	mine, theirs := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(mine), len(theirs)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(mine) {
			a = mine[i]
		}
		if i < len(theirs) {
			b = theirs[i]
		}
		if a != b {
			t.Errorf("%s prints in line %d\n     %q\nSBCL %q", file, i+1, a, b)
			return
		}
	}
}

// oracleOutput is what SBCL prints when it loads a file.
func oracleOutput(t *testing.T, file string) []byte {
	t.Helper()
	command := sbcl(t, "testdata/load.lisp", file)
	var failures bytes.Buffer
	command.Stderr = &failures
	out, err := command.Output()
	if err != nil {
		told, _, _ := strings.Cut(failures.String(), "Backtrace for")
		t.Fatalf("sbcl: %v\n%s", err, told)
	}
	return out
}
