package lisp

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what SBCL says into the corpus")

// corpusCase is a form of testdata/forms.txt with its value in SBCL.
type corpusCase struct {
	category, form, want string
	// differs says why this evaluator is meant to give something else, and what.
	differs, why string
}

// readCorpus reads the forms, the values recorded beside them and the differences that
// are meant.
func readCorpus(t testing.TB) []corpusCase {
	t.Helper()
	forms, err := os.ReadFile("testdata/forms.txt")
	if err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile("testdata/values.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	recorded := strings.Split(string(values), "\n")
	var cases []corpusCase
	category := ""
	for line := range strings.Lines(string(forms)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# "):
			category = line[2:]
		case strings.HasPrefix(line, "=> "): // what we give instead of the form above
			last := &cases[len(cases)-1]
			last.differs, last.why, _ = strings.Cut(line[3:], " ;; ")
		case line != "":
			k := corpusCase{category: category, form: line}
			if len(cases) < len(recorded) {
				k.want = recorded[len(cases)]
			}
			cases = append(cases, k)
		}
	}
	return cases
}

// oracle is what SBCL answers to each form, in one process.
func oracle(t testing.TB, forms []string) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sbcl", "--script", "testdata/oracle.lisp")
	command.Stdin = strings.NewReader(strings.Join(forms, "\n") + "\n")
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
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
	got, err := evaluated(t, newEnvironment(t, Config{}), form)
	if err != nil {
		return "error", err
	}
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(got), nil
}

// TestCorpus compares with the values recorded from SBCL.
func TestCorpus(t *testing.T) {
	if *update {
		var forms []string
		for _, k := range readCorpus(t) {
			forms = append(forms, k.form)
		}
		if err := os.WriteFile("testdata/values.txt", []byte(strings.Join(oracle(t, forms), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	agreed, meant := map[string]int{}, 0
	for _, k := range readCorpus(t) {
		want := k.want
		if k.differs != "" {
			want = k.differs
			meant++
		}
		got, err := answer(t, k.form)
		if got != want {
			t.Errorf("%s: %s\n got %s (%v)\nwant %s", k.category, k.form, got, err, want)
			continue
		}
		agreed[k.category]++
	}
	t.Logf("agreement %v, of these %d differ from SBCL on purpose", agreed, meant)
}

// TestOracle makes sure that the recorded values are what SBCL says today.
func TestOracle(t *testing.T) {
	cases := readCorpus(t)
	var forms []string
	for _, k := range cases {
		forms = append(forms, k.form)
	}
	for i, got := range oracle(t, forms) {
		if got != cases[i].want {
			t.Errorf("%s\nsbcl now %s\nrecorded %s", cases[i].form, got, cases[i].want)
		}
	}
}
