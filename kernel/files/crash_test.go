package files_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

// contents are what the writing process gives the file in turn.
var contents = [...]string{strings.Repeat("first\n", 50_000), strings.Repeat("second\n", 60_000)}

// TestMain is also the process that writes a file repeatedly until it is killed or, if the size of
// files is limited, once.
func TestMain(m *testing.M) {
	path := os.Getenv("FILES_TEST_WRITE")
	if path == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("FILES_TEST_SMALL") != "" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 4096, Max: 4096}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(write(path, 0))
		return
	}
	for i := 0; ; i++ {
		if err := write(path, i%2); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

func write(path string, which int) error {
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c, err := files.Rewriting(context.Background(), path, files.Hash(now), []byte(contents[which]))
	if err == nil {
		err = c.Make()
	}
	return err
}

// TestKilled checks that a process that is killed at any moment leaves a complete file.
func TestKilled(t *testing.T) {
	path := put(t, directory(t)+"/x", contents[1])
	for n := range 8 {
		writer := exec.Command(os.Args[0])
		writer.Env = append(os.Environ(), "FILES_TEST_WRITE="+path)
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+13*n) * time.Millisecond)
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := writer.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != contents[0] && string(got) != contents[1] {
			t.Fatalf("killed: %d bytes, %v", len(got), err)
		}
	}
}

// TestNoRoom checks that a file that cannot be written completely is not written, and leaves
// nothing beside it.
func TestNoRoom(t *testing.T) {
	home := directory(t)
	path := put(t, home+"/x", "before")
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), "FILES_TEST_WRITE="+path, "FILES_TEST_SMALL=t")
	out, err := writer.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "file too large") {
		t.Errorf("it said %q, %v", out, err)
	}
	got, err := os.ReadFile(path)
	entries, listed := os.ReadDir(home)
	if err != nil || listed != nil || string(got) != "before" || len(entries) != 1 {
		t.Errorf("%q, %v, %v", got, entries, err)
	}
}

// TestFullDisk checks that the error for a full disk says so.
func TestFullDisk(t *testing.T) {
	err := files.SystemError("x", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	wantCode(t, "a full disk", err, protocol.ToolNoSpace, "the disk is full")
}
