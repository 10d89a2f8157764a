package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// fullDisk fails every write, as a full disk does.
type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// Every command fails if its result cannot be written.
func TestFailedWriteIsAnError(t *testing.T) {
	environment := func(name string) string {
		if name == "HOME" {
			return t.TempDir()
		}
		return ""
	}
	for _, args := range [][]string{{"version"}, {"md2org"}, {"lisp", "--manual"}, {"lisp", "--apropos", "string"}} {
		err := run(t.Context(), args, strings.NewReader("# Title\n"), fullDisk{}, io.Discard, environment)
		if !errors.Is(err, errFull) || exitStatus(io.Discard, err) != 1 {
			t.Errorf("%s: %v", args, err)
		}
	}
}
