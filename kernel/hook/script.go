package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
)

// How long a script waits until it may run, and how much of its output is read.
const (
	scriptTimeout = 10 * time.Second
	outputLimit   = 64 << 10
)

// run runs a script with the event on its input, in an empty directory of its own. It has no
// network and no file but those of the system.
func (h *Hooks) run(ctx context.Context, script string, event protocol.Object) (answer, error) {
	input, err := json.Marshal(event)
	if err != nil {
		return answer{}, fmt.Errorf("write the event: %w", err)
	}
	timeout := time.NewTimer(scriptTimeout)
	defer timeout.Stop()
	select {
	case h.scripts <- struct{}{}:
		defer func() { <-h.scripts }()
	case <-timeout.C:
		return answer{}, fmt.Errorf("%d other scripts ran for %v", scriptLimit, scriptTimeout)
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
	kind := h.config.Kind()
	if !kind.Fenced() {
		return answer{}, errors.New("this system has no sandbox, without which no script is run: write the hook in Lisp")
	}
	limited, cancel := context.WithTimeout(ctx, h.config.ScriptTime)
	defer cancel()
	outcome, output, err := h.runFenced(limited, kind, script, input)
	switch {
	case ctx.Err() != nil:
		return answer{}, context.Cause(ctx)
	case limited.Err() != nil:
		return answer{}, fmt.Errorf("it took longer than %v", h.config.ScriptTime)
	case err != nil:
		return answer{}, err
	case outcome.Signal != "":
		return answer{}, errors.New(outcome.String())
	}
	return scriptAnswer(outcome.Status, output)
}

// runFenced runs a script to its end and returns its output, as far as that is read.
func (h *Hooks) runFenced(ctx context.Context, kind sandbox.Kind, script string, input []byte) (outcome sandbox.Outcome, output string, err error) {
	childInput, inputWriter, err := os.Pipe()
	if err != nil {
		return outcome, "", fmt.Errorf("connect the script: %w", err)
	}
	defer inputWriter.Close()
	outputReader, childOutput, err := os.Pipe()
	if err != nil {
		childInput.Close()
		return outcome, "", fmt.Errorf("connect the script: %w", err)
	}
	defer outputReader.Close()
	process, err := sandbox.Start(ctx, kind, sandbox.Command{
		Text: script, Home: h.config.Home, Hidden: h.config.Hidden, Environment: h.config.Environment}, childInput, childOutput)
	childInput.Close()
	childOutput.Close()
	if err != nil {
		return outcome, "", err
	}
	written := make(chan struct{})
	go func() { // ends when the script has read everything, or has ended; it is waited for below
		defer close(written)
		_, _ = inputWriter.Write(input) // a script may exit without reading its input
		inputWriter.Close()
	}()
	text, _ := io.ReadAll(io.LimitReader(outputReader, outputLimit)) // the end of a pipe is no error
	_, _ = io.Copy(io.Discard, outputReader)
	outcome, err = process.Wait()
	<-written
	return outcome, string(text), err
}
