package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// streamTarget is a conversation into which answers are streamed.
type streamTarget struct {
	name         string
	earlierTurns int // how many turns of about 1.3 kB it has before
	// gptel is the time of gptel cd2cd73 (August 2026) on a similar machine, in seconds. It is the
	// reference if gptel is not installed.
	gptel float64
}

// streamTargets are the conversations that are measured, from the shortest.
func streamTargets() []streamTarget {
	return []streamTarget{
		{"an empty", 0, 0.76},
		{"a 260 kB", 200, 0.94},
		{"a 1.3 MB", 1000, 1.00},
	}
}

const (
	deltas      = 2000
	deltaLength = 7 // characters
	// streamTurns is how many answers each Emacs gets.
	streamTurns = 5
	// streamTimeout limits the time of one Emacs. An answer takes a bit more than ten seconds.
	streamTimeout = 100 * time.Second
	lastLine      = "These were all."
)

// measureStreams streams answers into real Emacsen, each on its own terminal and with the compiled
// package. The values are the processor times that Emacs used from sending the question to saving the
// conversation.
func measureStreams(ctx context.Context, p programs) ([]row, error) {
	elisp, err := compileElisp(ctx, p)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(elisp)
	var rows []row
	for _, s := range streamTargets() {
		values, err := s.measure(ctx, p, elisp)
		if err != nil {
			return nil, err
		}
		gptel, err := s.measureGptel(ctx, p)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{what: fmt.Sprintf("Emacs CPU, %d deltas into %s Org buffer", deltas, s.name),
			target: "0.2 s", unit: seconds, values: values, peers: []peer{gptel}})
	}
	return rows, nil
}

// compileElisp copies the package into a temporary directory and compiles it there. The caller must remove
// the directory.
func compileElisp(ctx context.Context, p programs) (string, error) {
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		return "", fmt.Errorf("make a directory for the compiled package: %w", err)
	}
	err = os.CopyFS(directory, os.DirFS("elisp"))
	if err == nil {
		var files []string
		if files, err = filepath.Glob(filepath.Join(directory, "*.el")); err == nil {
			_, err = runProgram(ctx, p.emacs, append([]string{"-Q", "--batch", "-L", directory, "-f", "batch-byte-compile"}, files...)...)
		}
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("compile the package: %w", err), os.RemoveAll(directory))
	}
	return directory, nil
}

// longText returns Markdown as models write it. Its length is about that of all deltas together.
func longText() string {
	var text strings.Builder
	text.WriteString("The Silk road, at length\n")
	for i := 0; text.Len() < deltas*deltaLength-500; i++ {
		fmt.Fprintf(&text, "\n## Station %d\n\nA caravan of **forty camels** came by, and the clerk noted `silk` and *paper* in his book; see [the map](https://example.org/%d).\n\n"+
			"- bales of silk, weighed twice\n- jade, and what it was exchanged for\n\n```python\ndef toll(bales):\n    return bales * %d\n```\n", i, i, i)
	}
	text.WriteString("\n" + lastLine)
	return text.String()
}

// measure fills a conversation with turns, and streams answers into it.
func (s streamTarget) measure(ctx context.Context, p programs, elisp string) ([]float64, error) {
	filler := "A short answer\n\n" + strings.Repeat("The road went by *Samarkand*, and who went by it wrote of it.\n", 19)
	answer := longText()
	in, err := newInstance(llmtest.Exchange{Match: "^fill", Times: -1, Reply: filler, Chunk: 1 << 16},
		llmtest.Exchange{Times: -1, Reply: answer, Chunk: (len(answer) + deltas - 1) / deltas, Delay: llmtest.Duration(5 * time.Millisecond)})
	if err != nil {
		return nil, err
	}
	defer in.close()
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	err = in.fill(ctx, s.earlierTurns)
	var used []float64
	if err == nil {
		used, err = in.streamIntoEmacs(ctx, p, elisp)
	}
	return used, errors.Join(err, k.stop())
}

// fill adds n turns to the main conversation. The kernel writes them into its file.
func (in *instance) fill(ctx context.Context, n int) error {
	c, err := in.connect(ctx, "main", false)
	if err != nil {
		return err
	}
	defer c.conn.Close()
	for i := range n {
		if _, err := c.ask(ctx, fmt.Sprintf("fill %d", i)); err != nil {
			return err
		}
	}
	return nil
}

// measureGptel streams the same text with gptel into a buffer of the same
// size. The history that gptel sends is only one message.
func (s streamTarget) measureGptel(ctx context.Context, p programs) (peer, error) {
	if p.gptel == "" {
		return peer{"gptel", []float64{s.gptel}, true}, nil
	}
	answer := longText()
	in, err := newInstance(llmtest.Exchange{Times: -1, Reply: answer, Chunk: (len(answer) + deltas - 1) / deltas, Delay: llmtest.Duration(5 * time.Millisecond)})
	if err != nil {
		return peer{}, err
	}
	defer in.close()
	text, err := in.emacsOnTerminal(ctx, p, p.gptelArguments(), "BENCH_URL="+in.model.URL(), "BENCH_FILL="+strconv.Itoa(s.earlierTurns*1300))
	if err != nil {
		return peer{}, err
	}
	values, err := readTimes(text)
	return peer{"gptel", values, false}, err
}

// gptelArguments returns the arguments of an Emacs that loads gptel and sends it messages.
func (p programs) gptelArguments() []string {
	var arguments []string
	for directory := range strings.SplitSeq(p.gptel, ":") {
		arguments = append(arguments, "-L", directory)
	}
	return append(arguments, "-l", "testdata/bench/gptel.el")
}

// streamIntoEmacs runs an Emacs with our package until all answers have arrived, and returns the processor
// time of each answer.
func (in *instance) streamIntoEmacs(ctx context.Context, p programs, elisp string) ([]float64, error) {
	elisp, err := filepath.Abs(elisp)
	if err != nil {
		return nil, fmt.Errorf("find the package: %w", err)
	}
	text, err := in.emacsOnTerminal(ctx, p, []string{"-L", elisp, "-l", "testdata/bench/stream.el"})
	if err != nil {
		return nil, err
	}
	return in.readResult(text)
}

// emacsOnTerminal runs Emacs in a terminal of tmux, so that it draws. It waits until Emacs has written its
// result, and returns that.
func (in *instance) emacsOnTerminal(ctx context.Context, p programs, arguments []string, variables ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, streamTimeout)
	defer stop()
	result := filepath.Join(in.directory, "result")
	terminal := filepath.Base(in.directory)
	tmux := func(ctx context.Context, args ...string) *exec.Cmd {
		command := tmuxCommand(ctx, terminal, args...)
		command.Env = append(append(in.environment(), "BENCH_RESULT="+result, "BENCH_TURNS="+strconv.Itoa(streamTurns)), variables...)
		return command
	}
	printed, err := tmux(ctx, append([]string{"new-session", "-d", "-x", "100", "-y", "40", p.emacs, "-nw", "-Q"}, arguments...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("start Emacs in tmux: %w: %s", err, printed)
	}
	defer func() { _ = tmux(context.WithoutCancel(ctx), "kill-server").Run() }() // an error means that Emacs, and tmux with it, has ended by itself
	for {
		select {
		case <-ctx.Done():
			screen, _ := tmux(context.WithoutCancel(ctx), "capture-pane", "-p").Output()
			return "", fmt.Errorf("wait for Emacs, which shows:\n%s: %w", screen, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
		if text, err := os.ReadFile(result); err == nil {
			return string(text), nil
		}
	}
}

// tmuxCommand returns a command of the tmux server with this name, which ignores the person's
// configuration.
func tmuxCommand(ctx context.Context, terminal string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "tmux", append([]string{"-L", terminal, "-f", "/dev/null"}, args...)...)
}

// readResult returns the processor times that Emacs wrote. It returns an error unless the conversation's
// file contains all answers completely.
func (in *instance) readResult(result string) ([]float64, error) {
	file, err := os.ReadFile(filepath.Join(in.paths.Sessions, "main.org"))
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	if got := strings.Count(string(file), lastLine); got != streamTurns {
		return nil, fmt.Errorf("%d of %d streamed answers are in the file; Emacs wrote %q", got, streamTurns, result)
	}
	return readTimes(result)
}

func readTimes(result string) ([]float64, error) {
	var used []float64
	for field := range strings.FieldsSeq(result) {
		value, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, fmt.Errorf("read what Emacs measured: %w", err)
		}
		used = append(used, value)
	}
	return used, nil
}
