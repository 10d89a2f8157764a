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
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		return fmt.Errorf("make a directory for the text: %w", err)
	}
	defer os.RemoveAll(directory)
	path, text := filepath.Join(directory, "messages"), strings.Repeat(string(one), copies)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the text: %w", err)
	}
	for _, reader := range []struct {
		name, program string
		arguments     []string
	}{
		{"SBCL read", p.sbcl, []string{"--script", "testdata/bench/read.lisp", path}},
		{"Emacs read", p.emacs, []string{"-Q", "--batch", "-l", "testdata/bench/read.el", path}},
	} {
		took, err := figures(output(ctx, reader.program, reader.arguments...))
		if err != nil {
			return err
		}
		rates := make([]float64, len(took))
		for i, seconds := range took {
			rates[i] = float64(len(text)) / seconds
		}
		peers["Reader"] = append(peers["Reader"], peer{name: reader.name, values: rates})
	}
	return nil
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
