package lisp_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	programs   = flag.Int("programs", 300, "how many random programs are compared with SBCL")
	randomSeed = flag.Bool("random", false, "take other random programs than last time")
)

// TestRandomPrograms runs programs that nobody would write through SBCL and through this
// evaluator. A difference is shrunk to the smallest program that shows it.
func TestRandomPrograms(t *testing.T) {
	ask := conversation(t)
	// SBCL's compiler drops calls that it need not make, with the errors they would signal.
	ask(`(setf sb-ext:*evaluator-mode* :interpret)`)
	setFlag(t, "rapid.nofailfile", "true")
	const round = 100 // what rapid checks at once
	for first := 0; first < *programs; first += round {
		if !*randomSeed {
			setFlag(t, "rapid.seed", fmt.Sprint(first+1))
		}
		rapid.Check(t, func(r *rapid.T) {
			program := randomProgram(r)
			got, err := answer(t, program)
			if want := ask(program); got != want {
				r.Fatalf("%s\n got %s (%v)\nSBCL %s", program, got, err, want)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// setFlag sets a flag for the time of the test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Value.Set(before) })
}

// conversation starts SBCL and returns what asks it for the value of one case at a time.
func conversation(t testing.TB) (ask func(form string) string) {
	t.Helper()
	command := sbcl(t, "testdata/oracle.lisp")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		command.Wait()
	})
	answers := bufio.NewReader(out)
	return func(form string) string {
		if _, err := io.WriteString(in, strings.ReplaceAll(form, "\n", " ")+"\n"); err != nil {
			t.Fatalf("ask SBCL: %v", err)
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("SBCL did not answer %s: %v", form, err)
		}
		return strings.TrimSuffix(line, "\n")
	}
}
