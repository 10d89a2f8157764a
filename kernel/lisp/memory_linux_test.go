package lisp

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPeakOfAProcess evaluates what takes most in a process of its own, with the limits that
// notes have, and asks the system for the most it ever had.
func TestPeakOfAProcess(t *testing.T) {
	if source := os.Getenv("ORG_AGENT_TEST_HOG"); source != "" {
		e := newEnvironment(t, Config{})
		_, err := evaluated(t, e, source)
		fmt.Println("ending:", ending(err))
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(string(status))
		return
	}
	if testing.Short() {
		t.Skip("-short starts no process that fills its memory")
	}
	for _, source := range []string{hogs[0].source, hogs[1].source, `(loop collect 1)`, `(let ((h (make-hash-table)) (i 0)) (loop (setf (gethash (incf i) h) i)))`} {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestPeakOfAProcess$", "-test.v")
		command.Env = append(os.Environ(), "ORG_AGENT_TEST_HOG="+source)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		var most uint64
		_, after, _ := strings.Cut(string(out), "VmHWM:")
		if _, err := fmt.Sscan(after, &most); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		t.Logf("%4d MB: %s", most>>10, source)
		if limit := uint64(256); most>>10 > limit+limit/2 {
			t.Errorf("%s: %d MB were resident at the limit of %d MB", source, most>>10, limit)
		}
	}
}
