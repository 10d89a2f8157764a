package sandbox

import (
	"bufio"
	"fmt"
	"os/exec"
	"slices"
	"testing"
)

// TestOrder checks that a process is signalled after the process that started it, at any depth.
func TestOrder(t *testing.T) {
	const deep = 12 // processes, each started by the one before
	command := exec.Command("/bin/bash", "-c", fmt.Sprintf("f() { echo $BASHPID; if [ $1 = 1 ]; then read -r; else (f $(($1-1)); true); fi; }; f %d", deep))
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := fmt.Fprintln(input); err != nil {
			t.Error(err)
		}
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	}()
	reader, last := bufio.NewReader(output), -1
	pids := make([]int, deep)
	for i := range pids {
		if _, err := fmt.Fscanln(reader, &pids[i]); err != nil {
			t.Fatal(err)
		}
	}
	all := descendants()
	for _, pid := range pids {
		at := slices.Index(all, pid)
		if at <= last {
			t.Errorf("%d of %v is not behind those that led to it: %v", pid, pids, all)
		}
		last = at
	}
}
