package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// What a person feels of a stream: how old text is when it is drawn, and how long a key waits
// meanwhile.
const (
	latencyDeltas = 1000
	latencyTurns  = 3
	keyInterval   = 37 * time.Millisecond // no multiple of the time of a delta
)

// gptel cd2cd73 (August 2026) on another machine of this kind, for when there is none to be measured.
var gptelLatency = lateness{deltas: []float64{0.025}, oldest: []float64{0.275}}

// lateness is what one Emacs measured, in seconds. Oldest is the 95th percentile of the deltas.
type lateness struct {
	deltas, oldest, keys, slowest []float64
}

// measureLatency streams answers whose every delta has the time at which it was sent into a real
// Emacs on a terminal, and presses a key again and again meanwhile.
func measureLatency(ctx context.Context, p programs) ([]row, error) {
	ours, err := measureOurLatency(ctx, p)
	if err != nil {
		return nil, err
	}
	theirs, reference := gptelLatency, true
	if p.gptel != "" {
		reference = false
		if theirs, err = measureGptelLatency(ctx, p); err != nil {
			return nil, err
		}
	}
	rows := []row{
		{what: "a delta is drawn after it was sent, 5 ms a delta", target: "30 ms", unit: seconds, values: ours.deltas, peers: []peer{{"gptel", theirs.deltas, reference}}},
		{what: "p95 of these", target: "60 ms", unit: seconds, values: ours.oldest, peers: []peer{{"gptel", theirs.oldest, reference}}},
		{what: "a key is obeyed meanwhile", unit: seconds, values: ours.keys},
		{what: "p99 of these", target: "16 ms", unit: seconds, values: ours.slowest},
	}
	if len(theirs.keys) > 0 {
		rows[2].peers = []peer{{"gptel", theirs.keys, false}}
		rows[3].peers = []peer{{"gptel", theirs.slowest, false}}
	}
	return rows, nil
}

func measureOurLatency(ctx context.Context, p programs) (lateness, error) {
	elisp, err := compileElisp(ctx, p)
	if err != nil {
		return lateness{}, err
	}
	head, tail, _ := strings.Cut(envelope("TEXT"), "TEXT")
	in, err := newInstance(stampedExchange(head, tail, `\n`))
	if err != nil {
		return lateness{}, err
	}
	defer in.close()
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return lateness{}, err
	}
	measured, err := in.measureLateness(ctx, p, []string{"-L", elisp, "-l", "testdata/bench/stream.el"})
	return measured, errors.Join(err, k.end())
}

func measureGptelLatency(ctx context.Context, p programs) (lateness, error) {
	in, err := newInstance(stampedExchange("", "", "\n"))
	if err != nil {
		return lateness{}, err
	}
	defer in.close()
	return in.measureLateness(ctx, p, p.gptelArguments(), "BENCH_URL="+in.model.URL(), "BENCH_FILL=0")
}

// stampedExchange is a reply each delta of which has its time. It stands between head and tail, and
// lineEnd is how a line end is written in it.
func stampedExchange(head, tail, lineEnd string) llmtest.Exchange {
	const length = 20 // of a delta
	title := "A title "
	title += strings.Repeat("-", length-(len(head)+len(title)+2*len(lineEnd))%length) + lineEnd + lineEnd
	word := "w" + llmtest.StampPlace + " "
	var text strings.Builder
	text.WriteString(head + title)
	for i := range latencyDeltas {
		end := " "
		if i%4 == 3 {
			end = lineEnd
		}
		text.WriteString(word + strings.Repeat("a", length-len(word)-len(end)) + end)
	}
	text.WriteString(tail)
	return llmtest.Exchange{Times: -1, Reply: text.String(), Chunk: length, Delay: llmtest.Duration(5 * time.Millisecond), Stamp: true}
}

// measureLateness runs an Emacs and presses its key until it has had its answers.
func (in *instance) measureLateness(ctx context.Context, p programs, arguments []string, variables ...string) (lateness, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type pressed struct {
		at  []time.Time
		err error
	}
	keys := make(chan pressed, 1)
	go func() { // ends with ctx
		at, err := pressKey(ctx, filepath.Base(in.directory))
		keys <- pressed{at, err}
	}()
	text, err := in.emacsOnTerminal(ctx, p, arguments, append(variables, "BENCH_LATENCY=t", "BENCH_TURNS="+strconv.Itoa(latencyTurns))...)
	stop()
	sent := <-keys
	if err := errors.Join(err, sent.err); err != nil {
		return lateness{}, err
	}
	return readLateness(text, sent.at)
}

// pressKey presses F5 in the terminal every keyInterval until the context or the terminal ends. It
// returns the times.
func pressKey(ctx context.Context, terminal string) ([]time.Time, error) {
	select {
	case <-ctx.Done():
		return nil, nil
	case <-time.After(2 * time.Second): // Emacs starts
	}
	command := tmuxCommand(ctx, terminal, "-C", "attach-session", "-f", "ignore-size")
	orders, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("write to tmux: %w", err)
	}
	command.Stdout = io.Discard
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("attach to tmux: %w", err)
	}
	defer func() { _ = command.Wait() }() // it ends with ctx or with Emacs, in an error of tmux
	var at []time.Time
	for {
		select {
		case <-ctx.Done():
			return at, nil
		case <-time.After(keyInterval):
		}
		now := time.Now()
		if _, err := io.WriteString(orders, "send-keys F5\n"); err != nil {
			return at, nil // Emacs has ended
		}
		at = append(at, now)
	}
}

// readLateness reads what Emacs wrote. The keys that it obeyed are the first of those that were sent.
func readLateness(text string, sent []time.Time) (lateness, error) {
	var measured lateness
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		kind, number, _ := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return lateness{}, fmt.Errorf("read what Emacs measured: %w", err)
		}
		switch kind {
		case "delta":
			measured.deltas = append(measured.deltas, value/1e3)
		case "key":
			if len(measured.keys) < len(sent) {
				at := sent[len(measured.keys)]
				measured.keys = append(measured.keys, value-float64(at.UnixMicro())/1e6)
			}
		}
	}
	if len(measured.deltas) < latencyTurns*latencyDeltas/2 || len(measured.keys) == 0 {
		return lateness{}, fmt.Errorf("emacs noted %d deltas and %d keys only", len(measured.deltas), len(measured.keys))
	}
	measured.oldest = []float64{quantile(measured.deltas, 0.95)}
	measured.slowest = []float64{quantile(measured.keys, 0.99)}
	return measured, nil
}
