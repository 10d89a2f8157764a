package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/sandbox"
)

// TestProgram checks that a program has its own output and standard error, the variables that it is
// given and none that could be a key, and that everything that it started ends with it.
func TestProgram(t *testing.T) {
	mark := fmt.Sprintf("75432.%d", time.Now().UnixNano()%1e9)
	environment := func(name string) string {
		return map[string]string{"PATH": "relative:" + os.Getenv("PATH"), "HOME": "/home/x", "API_KEY": "sk-canary", "SSH_AUTH_SOCK": "/canary"}[name]
	}
	out, output, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	complained, complaints, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := sandbox.StartProgram(t.Context(), sandbox.Program{
		Arguments: []string{"sh", "-c", "setsid sleep " + mark + " & env; echo $1 >&2; read line; exit 4", "sh", "a b"}, Directory: "/",
		Environment: environment, Variables: []string{"OWN=1 2"},
	}, nil, output, complaints)
	if err != nil {
		t.Fatal(err)
	}
	output.Close()
	complaints.Close()
	outcome, err := p.Wait()
	text, _ := io.ReadAll(out)
	written, _ := io.ReadAll(complained)
	if err != nil || outcome.Status != 4 || string(written) != "a b\n" {
		t.Errorf("it ended %v, %v, and complained %q", outcome, err, written)
	}
	if got := string(text); !strings.Contains(got, "OWN=1 2\n") || !strings.Contains(got, "HOME=/home/x\n") || strings.Contains(got, "canary") || strings.Contains(got, "relative") {
		t.Errorf("its environment is\n%s", got)
	}
	if left := processesWith(mark); len(left) > 0 {
		t.Errorf("what it started runs on: %v", left)
	}
	for name, want := range map[string]string{"no-such-program": "there is no program no-such-program", "/etc/passwd": "is no program", "/no/such": "cannot be run"} {
		if _, err := sandbox.StartProgram(t.Context(), sandbox.Program{Arguments: []string{name}, Environment: environment}, nil, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
