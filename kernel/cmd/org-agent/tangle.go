package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"org-agent/kernel/org"
)

// tangleCommand is "org-agent tangle".
type tangleCommand struct {
	Dir   string   `help:"The directory of relative targets (default: the note's own)." placeholder:"DIR"`
	Files []string `arg:"" help:"Notes." name:"file"`
}

func (c *tangleCommand) Run(proc *process) error {
	failed := 0
	for _, file := range c.Files {
		ok, err := c.tangle(proc, file)
		if err != nil {
			return err
		}
		if !ok {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d notes were not tangled", failed, len(c.Files))
	}
	return nil
}

// tangle writes the files of one note and prints their names. It prints faults of the note on stderr, and
// returns false if it did not write all files.
func (c *tangleCommand) tangle(proc *process, file string) (bool, error) {
	request, err := c.request(proc, file)
	if err != nil {
		fmt.Fprintf(proc.stderr, "%s:1:1: error: %v\n", file, err)
		return false, nil
	}
	files, diagnostics := org.Tangle(request)
	ok := printDiagnostics(proc, file, diagnostics)
	if !ok {
		return false, nil
	}
	written, faults := org.WriteTangled(files)
	for _, path := range written {
		if _, err := fmt.Fprintln(proc.stdout, path); err != nil {
			return false, err
		}
	}
	return printDiagnostics(proc, file, faults), nil
}

// request reads a note, and finds the directory of its relative targets.
func (c *tangleCommand) request(proc *process, file string) (org.TangleRequest, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return org.TangleRequest{}, fmt.Errorf("find the note: %w", err)
	}
	directory := filepath.Dir(path)
	if c.Dir != "" {
		if directory, err = filepath.Abs(c.Dir); err != nil {
			return org.TangleRequest{}, fmt.Errorf("find the directory: %w", err)
		}
	}
	source, err := readNote(path)
	if err != nil {
		return org.TangleRequest{}, err
	}
	return org.TangleRequest{Path: path, Directory: directory, Home: proc.env("HOME"), Source: source, Read: readNote}, nil
}

// readNote reads a regular file, up to the size limit of notes.
func readNote(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, plainError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("this is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainError(err)
	}
	defer f.Close()
	source, err := io.ReadAll(io.LimitReader(f, org.MaxSource+1))
	if err != nil {
		return nil, plainError(err)
	}
	if len(source) > org.MaxSource {
		return nil, fmt.Errorf("the note is larger than %d MiB", org.MaxSource>>20)
	}
	return source, nil
}

// plainError returns the error without the path, because the caller prints that.
func plainError(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s the note: %w", at.Op, at.Err)
	}
	return err
}

// printDiagnostics prints the diagnostics of a file. It returns true if none is an error.
func printDiagnostics(proc *process, file string, diagnostics []org.Diagnostic) bool {
	ok := true
	for _, d := range diagnostics {
		ok = ok && d.Severity != org.Error
		fmt.Fprintf(proc.stderr, "%s:%s\n", file, d)
	}
	return ok
}
