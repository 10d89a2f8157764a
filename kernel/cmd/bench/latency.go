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

// The parameters of measureLatency.
const (
	latencyDeltas = 1000
	latencyTurns  = 6
	keyInterval   = 37 * time.Millisecond // not a multiple of the interval of the deltas
)

// gptelLatency returns the values of gptel cd2cd73 (August 2026) on a similar machine. They are the
// reference if gptel is not installed.
func gptelLatency() latencies { return latencies{deltas: []float64{0.025}, deltaP95: []float64{0.275}} }

// latencies holds what one Emacs measured. Times are in seconds: how old each delta was when it was drawn,
// and how long each key waited. pieceBytes has, for each turn, what Emacs allocated for a piece of its
// answer, in bytes.
type latencies struct {
	deltas, deltaP95, keys, keyP99, pieceBytes []float64
}

// measureLatency streams answers into a real Emacs on a terminal, and presses a key repeatedly meanwhile.
// Each delta contains the time at which it was sent.
func measureLatency(ctx context.Context, p programs) ([]row, error) {
	ours, err := measureOurLatency(ctx, p)
	if err != nil {
		return nil, err
	}
	gptel, reference := gptelLatency(), true
	if p.gptel != "" {
		reference = false
		if gptel, err = measureGptelLatency(ctx, p); err != nil {
			return nil, err
		}
	}
	rows := []row{
		{what: "a delta is drawn after it was sent, 5 ms a delta", target: "30 ms", unit: seconds, values: ours.deltas, peers: []peer{{"gptel", gptel.deltas, reference}}},
		{what: "p95 of these", target: "60 ms", unit: seconds, values: ours.deltaP95, peers: []peer{{"gptel", gptel.deltaP95, reference}}},
		{what: "a key is obeyed meanwhile", unit: seconds, values: ours.keys},
		{what: "p99 of these", target: "16 ms", unit: seconds, values: ours.keyP99},
		{what: "Emacs allocates meanwhile, for each piece of the answer that it shows", unit: size, values: ours.pieceBytes},
	}
	if len(gptel.keys) > 0 {
		rows[2].peers = []peer{{"gptel", gptel.keys, false}}
		rows[3].peers = []peer{{"gptel", gptel.keyP99, false}}
		rows[4].peers = []peer{{"gptel", gptel.pieceBytes, false}}
	}
	return rows, nil
}

func measureOurLatency(ctx context.Context, p programs) (latencies, error) {
	elisp, err := compileElisp(ctx, p)
	if err != nil {
		return latencies{}, err
	}
	in, err := newInstance(stampedExchange())
	if err != nil {
		return latencies{}, err
	}
	defer in.close()
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return latencies{}, err
	}
	measured, err := in.runLatency(ctx, p, []string{"-L", elisp, "-l", "testdata/bench/stream.el"})
	return measured, errors.Join(err, k.stop())
}

func measureGptelLatency(ctx context.Context, p programs) (latencies, error) {
	in, err := newInstance(stampedExchange())
	if err != nil {
		return latencies{}, err
	}
	defer in.close()
	return in.runLatency(ctx, p, p.gptelArguments(), "BENCH_URL="+in.model.URL(), "BENCH_FILL=0")
}

// stampedExchange returns an exchange whose reply has a time stamp in each delta.
func stampedExchange() llmtest.Exchange {
	const length = 20 // of a delta
	title := "A title "
	title += strings.Repeat("-", length-(len(title)+2)%length) + "\n\n"
	word := "w" + llmtest.StampPlace + " "
	var text strings.Builder
	text.WriteString(title)
	for i := range latencyDeltas {
		end := " "
		if i%4 == 3 {
			end = "\n"
		}
		text.WriteString(word + strings.Repeat("a", length-len(word)-len(end)) + end)
	}
	return llmtest.Exchange{Times: -1, Reply: text.String(), Chunk: length, Delay: llmtest.Duration(5 * time.Millisecond), Stamp: true}
}

// runLatency runs an Emacs, and presses a key in it until all answers have arrived.
func (in *instance) runLatency(ctx context.Context, p programs, arguments []string, variables ...string) (latencies, error) {
	wait := func(ctx context.Context) { // until Emacs asks, and so obeys the key
		for ctx.Err() == nil && len(in.model.Requests()) == 0 {
			time.Sleep(keyInterval)
		}
	}
	text, pressed, err := in.emacsUnderKeys(ctx, p, keyInterval, wait, arguments,
		append(variables, "BENCH_LATENCY=t", "BENCH_TURNS="+strconv.Itoa(latencyTurns))...)
	if err != nil {
		return latencies{}, err
	}
	return parseLatencies(text, pressed)
}

// emacsUnderKeys runs Emacs as emacsOnTerminal does. When wait has returned, it presses a key in each
// interval until Emacs has written its result. It also returns the times of the key presses.
func (in *instance) emacsUnderKeys(ctx context.Context, p programs, interval time.Duration, wait func(context.Context),
	arguments []string, variables ...string) (string, []time.Time, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type presses struct {
		times []time.Time
		err   error
	}
	keys := make(chan presses, 1)
	go func() { // ends with ctx
		wait(ctx)
		times, err := pressKey(ctx, filepath.Base(in.directory), interval)
		keys <- presses{times, err}
	}()
	text, err := in.emacsOnTerminal(ctx, p, arguments, variables...)
	stop()
	pressed := <-keys
	return text, pressed.times, errors.Join(err, pressed.err)
}

// pressKey presses F5 in the terminal in each interval, until ctx or the terminal ends. It returns the
// times of the key presses.
func pressKey(ctx context.Context, terminal string, interval time.Duration) ([]time.Time, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	command := tmuxCommand(ctx, terminal, "-C", "attach-session", "-f", "ignore-size")
	commands, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("write to tmux: %w", err)
	}
	command.Stdout = io.Discard
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("attach to tmux: %w", err)
	}
	defer func() { _ = command.Wait() }() // tmux ends with ctx or with Emacs, and then always reports an error
	var times []time.Time
	for {
		select {
		case <-ctx.Done():
			return times, nil
		case <-time.After(interval):
		}
		now := time.Now()
		if _, err := io.WriteString(commands, "send-keys F5\n"); err != nil {
			return times, nil // Emacs has ended
		}
		times = append(times, now)
	}
}

// parseLatencies parses the result that Emacs wrote. The nth key in it is the nth that was sent, because
// Emacs loses only keys at the end. Keys that were pressed between two answers do not count: what makes
// Emacs busy then is the question, and that this program has it collect its garbage.
func parseLatencies(text string, sent []time.Time) (latencies, error) {
	var measured latencies
	var obeyed []float64
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		kind, rest, _ := strings.Cut(lines.Text(), " ")
		var values [2]float64
		for i, number := range strings.Fields(rest) {
			value, err := strconv.ParseFloat(number, 64)
			if err != nil || i == len(values) {
				return latencies{}, fmt.Errorf("read what Emacs measured: %q: %w", lines.Text(), err)
			}
			values[i] = value
		}
		switch kind {
		case "delta":
			measured.deltas = append(measured.deltas, values[0]/1e3)
		case "bytes":
			measured.pieceBytes = append(measured.pieceBytes, values[0])
		case "key":
			obeyed = append(obeyed, values[0])
		case "answer": // after all keys
			for i, at := range sent[:min(len(sent), len(obeyed))] {
				if pressed := float64(at.UnixMicro()) / 1e6; values[0] <= pressed && pressed <= values[1] {
					measured.keys = append(measured.keys, obeyed[i]-pressed)
				}
			}
		}
	}
	if len(measured.deltas) < latencyTurns*latencyDeltas/2 || len(measured.keys) == 0 || len(measured.pieceBytes) != latencyTurns {
		return latencies{}, fmt.Errorf("emacs recorded only %d deltas and %d keys in %d turns", len(measured.deltas), len(measured.keys), len(measured.pieceBytes))
	}
	measured.deltaP95 = []float64{quantile(measured.deltas, 0.95)}
	measured.keyP99 = []float64{quantile(measured.keys, 0.99)}
	return measured, nil
}
