package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names of the peers of the Lisp.
const (
	sbclPeer  = "SBCL, compiled"
	emacsPeer = "Emacs, byte-compiled"
)

// lispPeers measures SBCL and Emacs with the code of the benchmarks of kernel/lisp. The keys of the result
// are the names of the benchmarks. A benchmark that a peer cannot run is missing. For the loading of a
// note, the peers load only its code.
func lispPeers(ctx context.Context, p programs) (map[string][]peer, error) {
	const code, message = "kernel/lisp/testdata/chat.lisp", "kernel/lisp/testdata/message.lisp"
	peers := map[string][]peer{}
	if err := fibPeers(ctx, p, peers); err != nil {
		return nil, err
	}
	sbcl, err := parseNamedFigures(runProgram(ctx, p.sbcl, "--script", "testdata/bench/note.lisp", code))
	if err != nil {
		return nil, err
	}
	emacs, err := parseNamedFigures(runProgram(ctx, p.emacs, "-Q", "--batch", "-l", "testdata/bench/note.el"))
	if err != nil {
		return nil, err
	}
	for name, word := range map[string]string{"Verify": "verify", "Neuro": "neuro"} {
		if len(sbcl[word]) > 0 { // an SBCL without cl-ppcre cannot run it
			peers[name] = append(peers[name], peer{name: sbclPeer, values: sbcl[word]})
		}
		peers[name] = append(peers[name], peer{name: emacsPeer, values: emacs[word]})
	}
	peers["LoadNote"] = []peer{{name: "SBCL load", values: sbcl["load"]}, {name: "Emacs load", values: emacs["load"]}}
	peers["Load"] = peers["LoadNote"]
	return peers, readerPeers(ctx, p, message, peers)
}

func fibPeers(ctx context.Context, p programs, peers map[string][]peer) error {
	sbcl, err := parseFigures(runProgram(ctx, p.sbcl, "--script", "testdata/bench/fib.lisp"))
	if err != nil {
		return err
	}
	emacs, err := parseFigures(runProgram(ctx, p.emacs, "-Q", "--batch", "-l", "testdata/bench/fib.el"))
	peers["Fib25"] = []peer{{name: sbclPeer, values: sbcl}, {name: emacsPeer, values: emacs}}
	return err
}

// readerPeers measures the readers of the peers with the text of the benchmark Reader.
func readerPeers(ctx context.Context, p programs, message string, peers map[string][]peer) error {
	const copies = 9000
	one, err := os.ReadFile(message)
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	text := strings.Repeat(string(one), copies)
	path, remove, err := writeNote(text)
	if err != nil {
		return err
	}
	defer remove()
	for _, reader := range []struct {
		name, program string
		arguments     []string
	}{
		{"SBCL read", p.sbcl, []string{"--script", "testdata/bench/read.lisp", path}},
		{"Emacs read", p.emacs, []string{"-Q", "--batch", "-l", "testdata/bench/read.el", path}},
	} {
		values, err := readRates(ctx, len(text), reader.program, reader.arguments...)
		if err != nil {
			return err
		}
		peers["Reader"] = append(peers["Reader"], peer{name: reader.name, values: values})
	}
	return nil
}

// writeNote writes a text into a note in a new temporary directory, which remove removes.
func writeNote(text string) (path string, remove func(), err error) {
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the text: %w", err)
	}
	remove = func() { _ = os.RemoveAll(directory) } // files that stay are in the system's temporary directory
	path = filepath.Join(directory, "note.org")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		remove()
		return "", nil, fmt.Errorf("write the text: %w", err)
	}
	return path, remove, nil
}

// readRates runs a program that reads a text of this size repeatedly, and prints the seconds of each time.
// It returns the bytes per second of each time.
func readRates(ctx context.Context, size int, program string, arguments ...string) ([]float64, error) {
	values, err := parseFigures(runProgram(ctx, program, arguments...))
	for i, took := range values {
		values[i] = float64(size) / took
	}
	return values, err
}

// parseFigures parses the numbers that a peer's program printed. It returns err if that is not nil.
func parseFigures(printed string, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	var values []float64
	for field := range strings.FieldsSeq(printed) {
		value, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, fmt.Errorf("read what the peer printed: %w", err)
		}
		values = append(values, value)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the peer printed nothing")
	}
	return values, nil
}

// parseNamedFigures parses lines of a name and a number. It returns err if that is not nil.
func parseNamedFigures(printed string, err error) (map[string][]float64, error) {
	if err != nil {
		return nil, err
	}
	values := map[string][]float64{}
	for line := range strings.Lines(printed) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, fmt.Errorf("read what the peer printed: %w", err)
		}
		values[name] = append(values[name], value)
	}
	return values, nil
}
