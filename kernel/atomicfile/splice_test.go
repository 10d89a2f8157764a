package atomicfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	spliceRole = "WHOLEFILE_TEST_SPLICE" // the file that this program writes until it is killed
	turnText   = "** an answer\nof two lines\n"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(spliceRole); path != "" {
		fmt.Fprintln(os.Stderr, spliceForEver(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// spliceForEver puts answers before the draft, as many lines as there were answers in each.
func spliceForEver(path string) error {
	for {
		if err := Mend(path); err != nil {
			return err
		}
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		at := len(old) - len("* draft")
		if err := Splice(path, old, at, []byte(strings.Repeat(turnText, 500)+"* draft")); err != nil {
			return err
		}
	}
}

// TestKilledWhileSplicing checks that the file has the old or the new content after [Mend],
// whenever the process was killed.
func TestKilledWhileSplicing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.org")
	for round := range 12 {
		if err := os.WriteFile(path, []byte("* draft"), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), spliceRole+"="+path)
		command.Stderr = os.Stderr
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(path); err == nil && info.Size() > 1500*int64(len(turnText)) { // the first answers are complete by now
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the child writes nothing")
			}
		}
		time.Sleep(time.Duration(round) * 1300 * time.Microsecond)
		if err := command.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the child was not killed: %v", err)
		}
		if err := MendAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		text := content(t, path)
		turns := strings.Count(text, turnText)
		if turns%500 != 0 || turns == 0 || text != strings.Repeat(turnText, turns)+"* draft" {
			t.Fatalf("round %d: %d bytes, %d turns, end %q", round, len(text), turns, text[max(0, len(text)-100):])
		}
	}
}

// TestMend checks that a part of a new end is undone, however long it is, and that a complete end
// and changes by others stay.
func TestMend(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a.org")
	const head, old, end = "* question\n", "* draft of a person\n", "** answer\n:ID: x\n* draft of a person\n"
	left := func(text, record string) string {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o640), os.WriteFile(splicePath(path), []byte(record), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := Mend(path); err != nil {
			t.Fatal(err)
		}
		alone(t, directory, "a.org")
		return content(t, path)
	}
	data, err := json.Marshal(splice{int64(len(head)), []byte(old), []byte(end)})
	if err != nil {
		t.Fatal(err)
	}
	record := string(data)
	for written := range len(end) {
		text := head + end[:written]
		if written < len(old) {
			text += old[written:]
		}
		if got := left(text, record); got != head+old {
			t.Errorf("%d bytes of it: %q", written, got)
		}
	}
	for _, text := range []string{head + end, "", "another text of a git checkout", head + end + "more", head + "* draft of another\n", head} {
		if got := left(text, record); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := left(head+old, record[:20]); got != head+old {
		t.Errorf("with half a record: %q", got)
	}
	if err := os.WriteFile(splicePath(filepath.Join(directory, "gone")), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MendAll(directory); err != nil {
		t.Error(err)
	}
	alone(t, directory, "a.org")
}

func TestSplice(t *testing.T) {
	directory := t.TempDir()
	path, link := filepath.Join(directory, "a.org"), filepath.Join(directory, "link.org")
	if err := errors.Join(os.WriteFile(path, []byte("* one\n* draft"), 0o640), os.Symlink("a.org", link)); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Splice(link, []byte("* one\n* draft"), 6, []byte("** two\n* draft")); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "* one\n** two\n* draft" || !os.SameFile(before, now) || now.Mode() != before.Mode() {
		t.Errorf("it is %q, %v, the same file: %v", got, now.Mode(), os.SameFile(before, now))
	}
	for _, other := range []string{"* one\n** two\n* drafT", "* one\n** two\n* draft ", "", "* One\n** two\n* draft"} {
		if err := Splice(path, []byte(other), 0, bytes.Repeat([]byte("x"), 100)); !errors.Is(err, ErrChanged) {
			t.Errorf("taken to be %q: %v", other, err)
		}
	}
	if err := Splice(filepath.Join(directory, "none"), nil, 0, []byte("x")); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that was removed: %v", err)
	}
	if err := Splice(path, []byte("* one\n** two\n* draft"), 6, []byte("short")); err == nil {
		t.Error("the file became shorter")
	}
	if got := content(t, path); got != "* one\n** two\n* draft" {
		t.Errorf("it became %q", got)
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	if err := Splice(path, []byte("* one\n** two\n* draft"), 6, bytes.Repeat([]byte("x"), 100)); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a read-only file: %v", err)
	}
	alone(t, directory, "a.org", "link.org")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := errors.Join(os.Rename(path, path+".former"), os.WriteFile(path, []byte("new"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := checkSame(file, path); !errors.Is(err, ErrChanged) {
		t.Errorf("another file in its place: %v", err)
	}
}
