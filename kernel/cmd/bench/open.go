package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// The parameters of measureOpening.
const (
	openTurns    = 1000 // of about 1.5 kB
	openings     = 5
	openInterval = 10 * time.Millisecond // between two keys
	// feltWait is how long a key waits before a person notices. A key that waits longer is blocked.
	feltWait = 50 * time.Millisecond
)

// opening is how one Emacs obeyed keys while it opened a large file, in seconds.
type opening struct {
	untilGood float64 // from the command that opens until no key is blocked any more
	again     float64 // how long keys were blocked again after they had been obeyed for the first time
}

// measureOpening opens a large conversation in a real Emacs on a terminal, whose kernel runs and which has
// shown another conversation before, and presses a key repeatedly meanwhile. The peer is Org, which opens
// the same file.
func measureOpening(ctx context.Context, p programs) ([]row, error) {
	elisp, err := compileElisp(ctx, p)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(elisp)
	if elisp, err = filepath.Abs(elisp); err != nil {
		return nil, fmt.Errorf("find the package: %w", err)
	}
	in, err := newInstance(llmtest.Exchange{Times: -1, Reply: openAnswer(), Reasoning: "What was it?\nIt was long ago.\n", Chunk: 1 << 16})
	if err != nil {
		return nil, err
	}
	defer in.close()
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	err = in.fill(ctx, openTurns)
	file := filepath.Join(in.paths.Sessions, "main.org")
	info, statErr := os.Stat(file)
	err = errors.Join(err, statErr)
	var good, again, org []float64
	for i := 0; i < openings && err == nil; i++ {
		var ours, theirs opening
		if theirs, err = in.openInEmacs(ctx, p, file, "-l", "testdata/bench/open.el"); err != nil {
			break
		}
		ours, err = in.openInEmacs(ctx, p, file, "-L", elisp, "-l", "org-agent", "-l", "testdata/bench/open.el")
		good, again, org = append(good, ours.untilGood), append(again, ours.again), append(org, theirs.untilGood)
	}
	if err := errors.Join(err, k.stop()); err != nil {
		return nil, err
	}
	return []row{
		{what: fmt.Sprintf("a conversation of %.1f MB opened until all keys are obeyed", float64(info.Size())/1e6), target: "200 ms", unit: seconds, values: good, peers: []peer{{"Org", org, false}}},
		{what: "keys blocked a second time meanwhile", target: "0", unit: seconds, values: again},
	}, nil
}

// openAnswer returns Markdown of which Emacs has loaded the modes.
func openAnswer() string {
	var text strings.Builder
	text.WriteString("A short answer\n")
	for i := 0; text.Len() < 1200; i++ {
		fmt.Fprintf(&text, "\n## Station %d\n\nA caravan of **forty camels** came by; see [the map](https://example.org/%d).\n\n"+
			"- bales of silk, weighed twice\n- jade, and what it was exchanged for\n\n```emacs-lisp\n(defun toll (bales) (* bales %d))\n```\n", i, i, i)
	}
	return text.String()
}

// openInEmacs runs an Emacs that opens the file of the main conversation, and presses a key in it from the
// time when it is ready to do so.
func (in *instance) openInEmacs(ctx context.Context, p programs, file string, arguments ...string) (opening, error) {
	ready, result := filepath.Join(in.directory, "ready"), filepath.Join(in.directory, "result")
	defer os.Remove(result)
	defer os.Remove(ready)
	text, pressed, err := in.emacsUnderKeys(ctx, p, openInterval, func(ctx context.Context) {
		for ctx.Err() == nil {
			if _, err := os.Stat(ready); err == nil {
				return
			}
			time.Sleep(openInterval)
		}
	}, arguments, "BENCH_FILE="+file, "BENCH_READY="+ready)
	if err != nil {
		return opening{}, err
	}
	return parseOpening(text, pressed)
}

// parseOpening parses what Emacs wrote: when it opened the file, and when it obeyed each key. The nth key
// in it is the nth that was sent.
func parseOpening(text string, sent []time.Time) (opening, error) {
	var opened, blockEnd float64
	var o opening
	blocks, keys := 0, 0
	for line := range strings.Lines(text) {
		kind, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return opening{}, fmt.Errorf("read what Emacs measured: %w", err)
		}
		if kind == "open" {
			opened = at
			continue
		}
		if keys++; keys > len(sent) {
			return opening{}, fmt.Errorf("emacs obeyed more keys than the %d that were sent", len(sent))
		}
		began := float64(sent[keys-1].UnixMicro()) / 1e6
		if opened == 0 || at-began <= feltWait.Seconds() {
			continue
		}
		if began >= blockEnd {
			blocks++
		}
		if blocks > 1 {
			o.again += at - max(began, blockEnd)
		}
		blockEnd = at
		o.untilGood = at - opened
	}
	if opened == 0 || keys == 0 {
		return opening{}, fmt.Errorf("emacs recorded only %d keys and opened at %g", keys, opened)
	}
	return o, nil
}
