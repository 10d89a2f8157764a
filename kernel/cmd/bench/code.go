package main

import (
	"context"
	"fmt"
	"strings"
)

// measureCode measures notes and their Lisp with the Benchmark functions of the
// packages, and its peers on the same function.
func measureCode(ctx context.Context, p programs) ([]row, error) {
	sbcl, err := figures(output(ctx, p.sbcl, "--script", "testdata/bench/fib.lisp"))
	if err != nil {
		return nil, err
	}
	emacs, err := figures(output(ctx, p.emacs, "-Q", "--batch", "-l", "testdata/bench/fib.el"))
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, b := range []struct {
		room, name, time, what, target string
		rate                           bool
		peers                          []peer
	}{
		{"lisp", "Fib25", "5x", "Lisp: (fib 25)", "60 ms", false,
			[]peer{{"SBCL, compiled", sbcl, false}, {"Emacs, byte-compiled", emacs, false}}},
		{"lisp", "Verify", "200ms", "Lisp: a seed-like note's verify", "5 µs", false, nil},
		{"lisp", "Neuro", "200ms", "Lisp: its neuro", "20 µs", false, nil},
		{"lisp", "Load", "200ms", "Lisp: loading it", "100 µs", false, nil},
		{"lisp", "Reader", "200ms", "Lisp: reading into conses and symbols", "60 MB/s", true, nil},
		{"skill", "ChatVerify", "200ms", "the shipped chat note's verify, guards and conversion with it", "", false, nil},
		{"skill", "ThousandNotes/untested", "1x", "1,000 notes checked and loaded", "2 s", false, nil},
		{"org", "Parse/Note1MiB", "200ms", "scanning notes for their blocks", "20 MB/s", true, nil},
		{"org", "Convert/1MiB", "1x", "Markdown to Org", "", true, nil},
	} {
		results, err := runBenchmark(ctx, p, b.room, strings.ReplaceAll(b.name, "/", "$/")+"$", b.time)
		if err != nil {
			return nil, err
		}
		result, found := results[b.name]
		if !found {
			return nil, fmt.Errorf("kernel/%s did not run %s", b.room, b.name)
		}
		r := row{what: b.what, target: b.target, values: result.times, peers: b.peers}
		if b.rate {
			r.unit, r.values = rate, result.rates
		}
		rows = append(rows, r)
	}
	return rows, nil
}
