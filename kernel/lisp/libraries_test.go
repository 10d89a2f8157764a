package lisp_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/lisp"
)

// The libraries are compared with the originals as the language is with SBCL: a file
// NAME.lisp for each in testdata/libraries, of the same form as the corpus, and what the
// original gives in NAME.values: all values of a case, or the class of its error. To
// record them anew, with the originals where ASDF finds them (see oracle.lisp there):
//
//	go test ./kernel/lisp -run 'TestLibraries$' -update
const libraryCorpus = "testdata/libraries"

// TestLibraries compares the libraries with the originals, as recorded, and prints the
// agreement.
func TestLibraries(t *testing.T) {
	t.Setenv("LIBRARY_CASE", "value")
	t.Setenv("LIBRARY_EMPTY", "")
	files, err := filepath.Glob(filepath.Join(libraryCorpus, "[a-np-z]*.lisp"))
	if err != nil || len(files) < 5 {
		t.Fatalf("there are no cases in %s: %v", libraryCorpus, err)
	}
	for _, c := range readCategories(t, files) {
		t.Run(c.name, func(t *testing.T) {
			if *update {
				answers := askScript(t, filepath.Join(libraryCorpus, "oracle.lisp"), c.forms())
				if err := os.WriteFile(c.values(), []byte(strings.Join(answers, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			recorded, err := os.ReadFile(c.values())
			if err != nil {
				t.Fatal(err)
			}
			values := strings.Split(strings.TrimSuffix(string(recorded), "\n"), "\n")
			if len(values) != len(c.cases) {
				t.Fatalf("%s has %d values for %d cases", c.values(), len(values), len(c.cases))
			}
			same, meant := 0, 0
			for i, k := range c.cases {
				got, err := libraryAnswer(t, k.form)
				switch {
				case k.differs != "" && got == k.differs && got != values[i]:
					meant++
				case k.differs == "" && got == values[i]:
					same++
				case k.differs != "":
					t.Errorf("%s: %s\n    got %s (%v)\n   want %s, unlike the original's %s", k.at, k.form, got, err, k.differs, values[i])
				default:
					t.Errorf("%s: %s\n    got %s (%v)\noriginal %s", k.at, k.form, got, err, values[i])
				}
			}
			t.Logf("%d cases, %d as the original, %d meant to differ", len(c.cases), same, meant)
		})
	}
}

// libraryAccess grants what the cases of uiop read.
func libraryAccess(t testing.TB) lisp.Access {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return lisp.Access{Read: []string{filepath.Join(directory, libraryCorpus)}, Environment: []string{"LIBRARY_CASE", "LIBRARY_EMPTY"}, Directory: directory}
}

// libraryAnswer is what this evaluator gives for a case, written as the oracle writes it:
// all values, or the class of the error.
func libraryAnswer(t testing.TB, form string) (string, error) {
	t.Helper()
	config := lisp.Config{Access: libraryAccess(t), Now: func() time.Time { return time.Date(2026, 11, 22, 10, 30, 5, 123456789, time.UTC) }}
	e := newEnvironment(t, config)
	var parts []string
	err := e.LoadEach(t.Context(), form, "case.lisp", 1, func(c *lisp.Call, v lisp.Value) {
		parts = nil
		for _, one := range lisp.Every(v) {
			parts = append(parts, c.Printed(one, true))
		}
	})
	var failed *lisp.Error
	if errors.As(err, &failed) {
		return fmt.Sprintf("error %s", strings.TrimPrefix(failed.Class, "SIMPLE-")), err
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", "").Replace(strings.Join(parts, " ")), err
}
