package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The peers of the Lisp, as the table names them.
const (
	sbclPeer  = "SBCL, compiled"
	emacsPeer = "Emacs, byte-compiled"
)

// lispPeers is what SBCL and Emacs take for what the benchmarks of kernel/lisp do, by the
// benchmark's name. One that a peer cannot do is missing. The peers load the code alone.
func lispPeers(ctx context.Context, p programs) (map[string][]peer, error) {
	const code, message = "kernel/lisp/testdata/chat.lisp", "kernel/lisp/testdata/message.lisp"
	peers := map[string][]peer{}
	if err := fibPeers(ctx, p, peers); err != nil {
		return nil, err
	}
	sbcl, err := namedFigures(output(ctx, p.sbcl, "--script", "testdata/bench/note.lisp", code))
	if err != nil {
		return nil, err
	}
	emacs, err := namedFigures(output(ctx, p.emacs, "-Q", "--batch", "-l", "testdata/bench/note.el"))
	if err != nil {
		return nil, err
	}
	for name, word := range map[string]string{"Verify": "verify", "Neuro": "neuro"} {
		if len(sbcl[word]) > 0 { // else it has no cl-ppcre
			peers[name] = append(peers[name], peer{name: sbclPeer, values: sbcl[word]})
		}
		peers[name] = append(peers[name], peer{name: emacsPeer, values: emacs[word]})
	}
	peers["LoadNote"] = []peer{{name: "SBCL load", values: sbcl["load"]}, {name: "Emacs load", values: emacs["load"]}}
	peers["Load"] = peers["LoadNote"]
	return peers, readerPeers(ctx, p, message, peers)
}

func fibPeers(ctx context.Context, p programs, peers map[string][]peer) error {
	sbcl, err := figures(output(ctx, p.sbcl, "--script", "testdata/bench/fib.lisp"))
	if err != nil {
		return err
	}
	emacs, err := figures(output(ctx, p.emacs, "-Q", "--batch", "-l", "testdata/bench/fib.el"))
	peers["Fib25"] = []peer{{name: sbclPeer, values: sbcl}, {name: emacsPeer, values: emacs}}
	return err
}

// readerPeers have the peers read the text that the benchmark Reader reads.
func readerPeers(ctx context.Context, p programs, message string, peers map[string][]peer) error {
	const copies = 9000
	one, err := os.ReadFile(message)
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	text := strings.Repeat(string(one), copies)
	path, remove, err := fileOf(text)
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
		values, err := rates(ctx, len(text), reader.program, reader.arguments...)
		if err != nil {
			return err
		}
		peers["Reader"] = append(peers["Reader"], peer{name: reader.name, values: values})
	}
	return nil
}

// fileOf writes a text to a note in a directory of its own, which remove takes away.
func fileOf(text string) (path string, remove func(), err error) {
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		return "", nil, fmt.Errorf("make a directory for the text: %w", err)
	}
	remove = func() { _ = os.RemoveAll(directory) } // it is in the system's directory for what nobody keeps
	path = filepath.Join(directory, "note.org")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		remove()
		return "", nil, fmt.Errorf("write the text: %w", err)
	}
	return path, remove, nil
}

// rates has a program read a text of that size again and again, printing the seconds each
// time took, and returns the bytes per second.
func rates(ctx context.Context, size int, program string, arguments ...string) ([]float64, error) {
	values, err := figures(output(ctx, program, arguments...))
	for i, took := range values {
		values[i] = float64(size) / took
	}
	return values, err
}

// figures reads the numbers that a peer's program printed.
func figures(printed string, err error) ([]float64, error) {
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

// namedFigures reads lines of a name and a number.
func namedFigures(printed string, err error) (map[string][]float64, error) {
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
