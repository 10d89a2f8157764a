package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPromisesAreHeld checks that each promise of README.org about what the agent may do is held by tests that
// exist. testdata/promises.tsv has a line for each: its words, a tab, and the names of the tests as
// PACKAGE.TestName, TestName of this package, or elisp.NAME of an ERT test. A promise of the section "What it may do" is a sentence of its
// first paragraph, a row of its table or an item of its list. A line that begins with * is a promise of another
// section. Whoever changes the words of a promise finds here which tests have to hold the new ones.
func TestPromisesAreHeld(t *testing.T) {
	readme, err := os.ReadFile("../README.org")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("testdata/promises.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(strings.Fields(string(readme)), " ")
	tests := existing(t)
	var written []string
	for line := range strings.Lines(string(table)) {
		promise, names, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !found || len(strings.Fields(names)) == 0 {
			t.Errorf("no test holds %q", promise)
		}
		for name := range strings.FieldsSeq(names) {
			if !tests[name] {
				t.Errorf("%q is held by %s, and there is no such test", promise, name)
			}
		}
		if elsewhere, found := strings.CutPrefix(promise, "* "); found {
			if !strings.Contains(all, elsewhere) {
				t.Errorf("README.org does not say %q any more", elsewhere)
			}
			continue
		}
		written = append(written, promise)
	}
	made := promises(t, string(readme))
	for _, promise := range made {
		if !slices.Contains(written, promise) {
			t.Errorf("README.org promises %q, and testdata/promises.tsv does not say which test holds that", promise)
		}
	}
	for _, promise := range written {
		if !slices.Contains(made, promise) {
			t.Errorf("README.org does not promise %q any more", promise)
		}
	}
	if len(made) < 20 {
		t.Errorf("README.org promises %q", made)
	}
}

// promises returns those of the section "What it may do", each in one line.
func promises(t *testing.T, readme string) (all []string) {
	t.Helper()
	_, section, found := strings.Cut(readme, "\n* What it may do\n")
	section, _, ended := strings.Cut(section, "\n* ")
	if !found || !ended {
		t.Fatal("README.org has no section \"What it may do\"")
	}
	for i, paragraph := range strings.Split(strings.TrimSpace(section), "\n\n") {
		switch {
		case i == 0:
			all = append(all, strings.SplitAfter(strings.Join(strings.Fields(paragraph), " "), ".")...)
		case strings.HasPrefix(paragraph, "|"):
			for _, row := range strings.Split(paragraph, "\n")[2:] {
				cells := strings.Split(strings.Trim(row, "| "), "|")
				if len(cells) != 2 {
					t.Fatalf("the row %s has %d cells", row, len(cells))
				}
				all = append(all, strings.TrimSpace(cells[0])+" -> "+strings.TrimSpace(cells[1]))
			}
		case strings.HasPrefix(paragraph, "- "):
			for item := range strings.SplitSeq("\n"+paragraph, "\n- ") {
				all = append(all, strings.Join(strings.Fields(item), " "))
			}
		}
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return slices.DeleteFunc(all, func(promise string) bool { return promise == "" })
}

var (
	goTest  = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(t \*testing\.T\)`)
	ertTest = regexp.MustCompile(`(?m)^\(ert-deftest ([^ ]+) `)
)

// existing returns the names of all tests.
func existing(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() == "testdata" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range goTest.FindAllStringSubmatch(string(text), -1) {
			tests[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path))+"."+found[1], "..")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../elisp/test/*.el")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range ertTest.FindAllStringSubmatch(string(text), -1) {
			tests["elisp."+found[1]] = true
		}
	}
	return tests
}
