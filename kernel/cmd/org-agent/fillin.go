package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"org-agent/kernel/protocol"
)

// fillIn asks the person for each field, a line each. It ends early, with an error, when
// the input does or ctx.
func (w *world) fillIn(ctx context.Context, q protocol.Question) ([]protocol.FieldAnswer, error) {
	in := &lineReader{in: bufio.NewReader(w.in)}
	var answers []protocol.FieldAnswer
	for _, f := range q.Form.Fields {
		answer, err := w.fillField(ctx, in, f)
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("not answered; it waits on. To decline: org-agent answer %s --decline REASON", q.ID)
		}
		if err != nil {
			return nil, err
		}
		if len(answer.Values) > 0 {
			answers = append(answers, answer)
		}
	}
	return answers, nil
}

// fillField asks for one field until it has an answer that the field takes.
func (w *world) fillField(ctx context.Context, in *lineReader, f protocol.FormField) (protocol.FieldAnswer, error) {
	fmt.Fprintf(w.err, "\n%s\n", fieldLine(f))
	for i, option := range f.Options {
		fmt.Fprintf(w.err, "  %d) %s\n", i+1, option)
	}
	for {
		fmt.Fprintf(w.err, "%s> ", f.Name)
		line, err := w.readField(ctx, in, f)
		if err != nil {
			return protocol.FieldAnswer{}, err
		}
		answer, err := typed(f, line).Check(f)
		switch {
		case err != nil:
			fmt.Fprintf(w.err, "%v\n", err)
		case len(answer.Values) == 0 && !f.Optional:
			fmt.Fprintln(w.err, "it needs an answer")
		default:
			return answer, nil
		}
	}
}

// typed is what a line says: options by their words or numbers, several divided by commas.
func typed(f protocol.FormField, line string) protocol.FieldAnswer {
	answer := protocol.FieldAnswer{Name: f.Name, Values: []string{line}}
	if strings.TrimSpace(line) == "" {
		answer.Values = []string{f.Default}
		return answer
	}
	if f.Kind == protocol.FieldChoices {
		if _, err := answer.Check(f); err != nil || f.Own {
			answer.Values = strings.Split(line, ",")
		}
	}
	for i, value := range answer.Values {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err == nil && n >= 1 && n <= len(f.Options) && !isOption(f, value) {
			answer.Values[i] = f.Options[n-1]
		}
	}
	return answer
}

func isOption(f protocol.FormField, value string) bool {
	for _, option := range f.Options {
		if strings.EqualFold(option, strings.TrimSpace(value)) {
			return true
		}
	}
	return false
}

// readField reads a line; that of a secret is not shown where it is typed.
func (w *world) readField(ctx context.Context, in *lineReader, f protocol.FormField) (string, error) {
	if f.Kind != protocol.FieldSecret || !terminal(w.in) {
		return in.line(ctx)
	}
	if err := w.echo(false); err != nil {
		return "", fmt.Errorf("the terminal goes on showing what is typed, and this is secret: %w", err)
	}
	line, err := in.line(ctx)
	fmt.Fprintln(w.err)
	return line, errors.Join(err, w.echo(true))
}

// echo says whether the terminal shows what is typed.
func (w *world) echo(on bool) error {
	mode := "-echo"
	if on {
		mode = "echo"
	}
	command := exec.Command("stty", mode) // without a context: the terminal gets its echo back
	command.Stdin, _ = w.in.(*os.File)
	return command.Run()
}

// lineReader reads lines without outlasting a context. A read that is under way then goes
// on until the program ends.
type lineReader struct{ in *bufio.Reader }

func (r *lineReader) line(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := r.in.ReadString('\n')
		if errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		done <- read{strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), err}
	}()
	select {
	case got := <-done:
		return got.line, got.err
	case <-ctx.Done():
		return "", exit{code: 130}
	}
}
