package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"org-agent/kernel/protocol"
)

// fillIn asks the person for each field on a line of its own. It returns an error early when ctx
// ends, or [io.EOF] when the input ends.
func (w *world) fillIn(ctx context.Context, in *lineReader, q protocol.Ask) ([]protocol.FieldAnswer, error) {
	var answers []protocol.FieldAnswer
	for _, f := range q.Form.Fields {
		answer, err := w.fillField(ctx, in, f)
		if err != nil {
			return nil, err
		}
		if len(answer.Values) > 0 {
			answers = append(answers, answer)
		}
	}
	return answers, nil
}

// fillField asks for one field until it gets a valid answer. For a secret it turns the terminal's
// echo off before it prints the question, so that fast typing does not show either.
func (w *world) fillField(ctx context.Context, in *lineReader, f protocol.FormField) (answer protocol.FieldAnswer, err error) {
	if f.Kind != protocol.FieldSecret || !terminal(w.in) {
		return w.askField(ctx, in.line, f)
	}
	if err := w.echo(false); err != nil {
		return answer, fmt.Errorf("this is secret, and the terminal would show what you type: %w", err)
	}
	defer func() { err = errors.Join(err, w.echo(true)) }()
	return w.askField(ctx, func(ctx context.Context) (string, error) {
		line, err := in.line(ctx)
		fmt.Fprintln(w.err)
		return line, err
	}, f)
}

// askField asks for a field whose answer is one or more lines.
func (w *world) askField(ctx context.Context, line func(context.Context) (string, error), f protocol.FormField) (protocol.FieldAnswer, error) {
	fmt.Fprintf(w.err, "\n%s\n", fieldLine(f))
	for i, option := range f.Options {
		fmt.Fprintf(w.err, "  %d) %s\n", i+1, option)
	}
	for {
		fmt.Fprintf(w.err, "%s> ", f.Name)
		reply, err := line(ctx)
		if err != nil {
			return protocol.FieldAnswer{}, err
		}
		answer, err := typed(f, reply).Check(f)
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

// typed parses a line: options by their text or number, several separated by commas.
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

// echo turns the terminal's echo on or off.
func (w *world) echo(on bool) error {
	mode := "-echo"
	if on {
		mode = "echo"
	}
	command := exec.Command("stty", mode) // no context: the terminal must get its echo back after a cancel
	command.Stdin, _ = w.in.(*os.File)
	return command.Run()
}
