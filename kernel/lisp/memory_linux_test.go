package lisp_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/lisp"
)

// heaviest are what takes most beside what it is charged for: by garbage, by the stack, by numbers in
// vectors, by frames that closures hold.
var heaviest = []string{
	hogs[0].source, `(loop collect 1)`, `(defun f (x) (1+ (f (list x)))) (f 1)`,
	`(let ((l (list 1))) (setf (cdr l) l) (mapcar (lambda (x) x) l))`,
	`(let ((v (make-array 11000000)) (x 0.5d0)) (dotimes (i 11000000) (setf (aref v i) (incf x))) v)`,
	`(let (l) (loop (catch 'a (handler-case (push (list 1) l) (error () 1)))))`,
	`(defmacro many (n) (list* 'list (append (loop for i below n collect i) '((f))))) (defun f () (many 5000)) (f)`,
}

// heavy are the heaviest that are tried: some of them, unless -thorough is given.
func heavy() []string {
	if *thorough {
		return heaviest
	}
	return []string{heaviest[0], heaviest[2], heaviest[4]}
}

// TestPeakOfAProcess evaluates what takes most in processes of their own, with the limits that programs
// have by default, and asks the system for the most each ever had.
func TestPeakOfAProcess(t *testing.T) {
	if source := os.Getenv(hogVariable); source != "" {
		e := newEnvironment(t, lisp.Config{})
		_, err := evaluated(t, e, source)
		fmt.Println("ending:", ending(err))
		printStatus(t)
		return
	}
	for _, source := range heavy() {
		most, _ := hogProcess(t, "^TestPeakOfAProcess$", source)
		t.Logf("%4d MB: %s", most, source)
		if limit := 256; most > limit+limit/2 {
			t.Errorf("%s: %d MB were resident at the limit of %d MB", source, most, limit)
		}
	}
}

// TestPeakOfThree evaluates three programs at once that fill what they may, in processes of their own.
// They share a memory, which bounds what the process ever has; afterwards it gives that back.
func TestPeakOfThree(t *testing.T) {
	const shared = 96
	if source := os.Getenv(hogVariable); source != "" {
		memory := lisp.NewMemory(shared << 20)
		var group sync.WaitGroup
		for range 3 {
			e := newEnvironment(t, lisp.Config{Memory: memory})
			group.Go(func() {
				_, err := evaluated(t, e, source)
				fmt.Println("ending:", ending(err), err)
			})
		}
		group.Wait()
		printStatus(t)
		return
	}
	for _, source := range heavy() {
		most, after := hogProcess(t, "^TestPeakOfThree$", source)
		t.Logf("%4d MB, %d MB afterwards: %s", most, after, source)
		if most > 2*shared {
			t.Errorf("%s: %d MB were resident where three share %d MB", source, most, shared)
		}
		if after > shared {
			t.Errorf("%s: %d MB are resident when all have ended", source, after)
		}
	}
}

const hogVariable = "ORG_AGENT_TEST_HOG"

// printStatus prints what the system knows of this process.
func printStatus(t *testing.T) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(status))
}

// hogProcess runs one test in a process of its own, with a source. It returns the most megabytes
// that were ever resident, and those at the end.
func hogProcess(t *testing.T, test, source string) (most, after int) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no process that fills its memory")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", test, "-test.v")
	command.Env = append(os.Environ(), hogVariable+"="+source)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	for name, field := range map[string]*int{"VmHWM:": &most, "VmRSS:": &after} {
		_, rest, _ := strings.Cut(string(out), name)
		if _, err := fmt.Sscan(rest, field); err != nil {
			t.Fatalf("%s: %v\n%s", source, err, out)
		}
		*field >>= 10
	}
	return most, after
}
