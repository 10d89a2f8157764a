package lisp_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"org-agent/kernel/lisp"
)

var update = flag.Bool("update", false, "write what SBCL says beside the corpus")

// The corpus is testdata/conformance: a file NAME.lisp for each category. A line is a
// case, one form or more, of which the last one's value counts; a line that begins with a
// semicolon is a comment. ";=> VALUE ;; REASON" below a case says that this evaluator is
// meant to give VALUE, and why. NAME.values has a line for each case: what SBCL says.
const corpus = "testdata/conformance"

// corpusCase is one line of the corpus.
type corpusCase struct {
	at   string // FILE:LINE
	form string
	// differs says what this evaluator is meant to give instead, and why.
	differs, why string
}

// category is a file of the corpus.
type category struct {
	name, directory string
	cases           []corpusCase
}

func (c category) forms() []string {
	var forms []string
	for _, k := range c.cases {
		forms = append(forms, k.form)
	}
	return forms
}

func (c category) values() string { return filepath.Join(c.directory, c.name+".values") }

// readCorpus reads all categories, without what SBCL says.
func readCorpus(t testing.TB) []category {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus, "*.lisp"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no corpus in %s: %v", corpus, err)
	}
	return readCategories(t, files)
}

func readCategories(t testing.TB, files []string) []category {
	t.Helper()
	var all []category
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := category{name: strings.TrimSuffix(filepath.Base(file), ".lisp"), directory: filepath.Dir(file)}
		for i, line := range strings.Split(string(text), "\n") {
			switch difference, found := strings.CutPrefix(line, ";=> "); {
			case found && len(c.cases) > 0:
				last := &c.cases[len(c.cases)-1]
				if last.differs, last.why, found = strings.Cut(difference, " ;; "); !found {
					t.Fatalf("%s:%d: no reason is given", file, i+1)
				}
			case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, ";"):
				c.cases = append(c.cases, corpusCase{at: fmt.Sprintf("%s:%d", file, i+1), form: line})
			}
		}
		all = append(all, c)
	}
	return all
}

// needSBCL skips a test that asks SBCL where none is to be started.
func needSBCL(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no SBCL")
	}
}

// sbcl is SBCL with a script.
func sbcl(t testing.TB, script ...string) *exec.Cmd {
	t.Helper()
	needSBCL(t)
	command := exec.CommandContext(t.Context(), "sbcl", append([]string{"--script"}, script...)...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	return command
}

// oracle is what SBCL answers to each form, in one process.
func oracle(t testing.TB, forms []string) []string {
	t.Helper()
	return askScript(t, "testdata/oracle.lisp", forms)
}

// askScript is what a script for SBCL answers to each form.
func askScript(t testing.TB, script string, forms []string) []string {
	t.Helper()
	command := sbcl(t, script)
	command.Stdin = strings.NewReader(strings.Join(forms, "\n") + "\n")
	var failures bytes.Buffer
	command.Stderr = &failures
	out, err := command.Output()
	if err != nil {
		t.Fatalf("sbcl: %v\n%s", err, failures.String())
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(forms) {
		t.Fatalf("sbcl gave %d answers to %d forms; stderr: %s", len(answers), len(forms), failures.String())
	}
	return answers
}

// answer is what this evaluator gives for a case, written as the oracle writes it.
func answer(t testing.TB, form string) (text string, err error) {
	t.Helper()
	got, err := evaluated(t, newEnvironment(t, lisp.Config{}), form)
	if err != nil {
		return "error " + standardName(t, err), err
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(got), nil
}

// standardName is the name of the error's class, ERROR if it is a note's own.
func standardName(t testing.TB, err error) string {
	var e *lisp.Error
	if !errors.As(err, &e) {
		return "of Go"
	}
	class := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(e.Class)
	standard, failure := evaluated(t, newEnvironment(t, lisp.Config{}), `(multiple-value-bind (name there) (find-symbol "`+class+`" "CL") (if (and there (find-class name nil)) t))`)
	if failure != nil {
		t.Fatal(failure)
	}
	if standard == "T" || e.Limit() {
		return strings.TrimPrefix(e.Class, "SIMPLE-")
	}
	return "ERROR"
}

// TestConformance compares this evaluator with SBCL, as recorded beside the corpus, and
// prints the agreement by category. With -update it asks SBCL anew.
func TestConformance(t *testing.T) {
	t.Parallel()
	var table, meant strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "category\tcases\tas SBCL\tmeant to differ\twrong")
	total := [4]int{}
	for _, c := range readCorpus(t) {
		if *update {
			if err := os.WriteFile(c.values(), []byte(strings.Join(oracle(t, c.forms()), "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		recorded, err := os.ReadFile(c.values())
		if err != nil {
			t.Fatalf("%v: make conformance writes it", err)
		}
		values := strings.Split(strings.TrimSuffix(string(recorded), "\n"), "\n")
		if len(values) != len(c.cases) {
			t.Fatalf("%s has %d values for %d cases: make conformance writes it anew", c.values(), len(values), len(c.cases))
		}
		counts := [4]int{len(c.cases)}
		var differing strings.Builder
		for i, k := range c.cases {
			got, err := answer(t, k.form)
			switch {
			case k.differs != "" && got == k.differs && got != values[i]:
				counts[2]++
				fmt.Fprintf(&differing, "  %s: %s\n      here %s, SBCL %s: %s\n", k.at, k.form, got, values[i], k.why)
			case k.differs != "":
				counts[3]++
				t.Errorf("%s: %s\n    got %s (%v)\n   want %s, unlike SBCL's %s", k.at, k.form, got, err, k.differs, values[i])
			case got == values[i]:
				counts[1]++
			default:
				counts[3]++
				t.Errorf("%s: %s\n    got %s (%v)\n   SBCL %s", k.at, k.form, got, err, values[i])
			}
		}
		if counts[2] > 0 {
			fmt.Fprintf(&meant, "%s, %d of %d\n%s", c.name, counts[2], counts[0], differing.String())
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", c.name, counts[0], counts[1], counts[2], counts[3])
		for i := range total {
			total[i] += counts[i]
		}
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\t%d\n", total[0], total[1], total[2], total[3])
	w.Flush()
	t.Logf("agreement with SBCL %.2f %%\n%s\nmeant to differ, %d of %d cases\n%s", 100*float64(total[1])/float64(total[0]), table.String(), total[2], total[0], meant.String())
}

// TestOracle makes sure that the recorded values are what SBCL says today.
func TestOracle(t *testing.T) {
	needSBCL(t)
	t.Parallel()
	for _, c := range readCorpus(t) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recorded, err := os.ReadFile(c.values())
			if err != nil {
				t.Fatal(err)
			}
			values := strings.Split(strings.TrimSuffix(string(recorded), "\n"), "\n")
			for i, got := range oracle(t, c.forms()) {
				if i >= len(values) || got != values[i] {
					t.Errorf("%s: %s\nSBCL now says %s", c.cases[i].at, c.cases[i].form, got)
				}
			}
		})
	}
}
