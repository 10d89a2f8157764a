package main

import (
	"context"
	"fmt"
	"strings"
)

// measureCode measures notes and their Lisp with the Benchmark functions of the packages. The peers are
// SBCL, which runs the same code, and Emacs, which runs a translation.
func measureCode(ctx context.Context, p programs) ([]row, error) {
	peers, err := lispPeers(ctx, p)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, b := range []struct {
		directory, name, benchtime, what, target string
		rate                                     bool
	}{
		{"lisp", "Fib25", "5x", "Lisp: (fib 25)", "60 ms", false},
		{"lisp", "Verify", "200ms", "Lisp: a note's verify", "5 µs", false},
		{"lisp", "Neuro", "200ms", "Lisp: its neuro", "20 µs", false},
		{"lisp", "Load", "200ms", "Lisp: its code read, compiled and evaluated in a new environment", "", false},
		{"skill", "LoadNote", "200ms", "loading it whole: Org scanned, tangled, code loaded, checked, trigger probed", "100 µs", false},
		{"lisp", "Reader", "200ms", "Lisp: reading into conses and symbols", "60 MB/s", true},
		{"skill", "ChatVerify", "200ms", "the shipped chat note's verify, guards and conversion with it", "", false},
		{"skill", "ThousandNotes/untested", "1x", "1,000 notes checked and loaded", "2 s", false},
		{"skill", "ThousandNotes/tested", "1x", "the same, and the tests of each run", "", false},
		{"prompt", "Compose", "200ms", "the system prompt of 100 skills and 50 tools", "2 ms", false},
		{"agent/history", "Show/later", "200ms", "what is shown of 200 earlier turns, to be added to that", "", false},
		{"org", "Parse/Note1MiB", "200ms", "scanning notes for their blocks", "20 MB/s", true},
	} {
		results, err := runBenchmark(ctx, p, b.directory, strings.ReplaceAll(b.name, "/", "$/")+"$", b.benchtime)
		if err != nil {
			return nil, err
		}
		result, found := results[b.name]
		if !found {
			return nil, fmt.Errorf("kernel/%s did not run %s", b.directory, b.name)
		}
		r := row{what: b.what, target: b.target, values: result.times, peers: peers[b.name]}
		if b.rate {
			r.unit, r.values = rate, result.rates
		}
		rows = append(rows, r)
	}
	return rows, nil
}
