package sandbox

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestEnded checks that a process whose main thread has ended has not ended as long as another
// thread runs, because it still holds its files and its namespace.
func TestEnded(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(program, "main-thread-ends")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	pid := process.Process.Pid
	before := identity(pid)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if state, _ := status(pid); state == "Z" {
			break
		}
		if time.Since(began) > 30*time.Second {
			t.Fatal("the main thread does not end")
		}
	}
	if before == "" || !runs(before) {
		t.Errorf("%q counts as ended although its threads run", before)
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if runs(before) {
		t.Errorf("%q counts as running although it was killed", before)
	}
}
