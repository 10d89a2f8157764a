package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// full is a disk without room.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A result that could not be written is a failure, whatever the command.
func TestResultIsLost(t *testing.T) {
	environment := func(name string) string {
		if name == "HOME" {
			return t.TempDir()
		}
		return ""
	}
	for _, args := range [][]string{{"version"}, {"md2org"}, {"lisp", "--manual"}, {"lisp", "--apropos", "string"}} {
		err := run(t.Context(), args, strings.NewReader("# Title\n"), full{}, io.Discard, environment)
		if !errors.Is(err, errFull) || exitStatus(io.Discard, err) != 1 {
			t.Errorf("%s: %v", args, err)
		}
	}
}
