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

// fillIn asks the person for each field on a line of its own. It returns an error when ctx ends, and
// [io.EOF] when the input ends.
func (proc *process) fillIn(ctx context.Context, in *lineReader, q protocol.Ask) ([]protocol.FieldAnswer, error) {
	var answers []protocol.FieldAnswer
	for _, f := range q.Form.Fields {
		answer, err := proc.fillField(ctx, in, f)
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
// echo off before it prints the question, so that early typing is not shown either.
func (proc *process) fillField(ctx context.Context, in *lineReader, f protocol.FormField) (answer protocol.FieldAnswer, err error) {
	if f.Kind != protocol.FieldSecret || !terminal(proc.stdin) {
		return proc.askField(ctx, in.line, f)
	}
	if err := proc.echo(false); err != nil {
		return answer, fmt.Errorf("this is secret, and the terminal would show what you type: %w", err)
	}
	defer func() { err = errors.Join(err, proc.echo(true)) }()
	return proc.askField(ctx, func(ctx context.Context) (string, error) {
		line, err := in.line(ctx)
		fmt.Fprintln(proc.stderr)
		return line, err
	}, f)
}

// askField asks for a field whose answer is one or more lines.
func (proc *process) askField(ctx context.Context, line func(context.Context) (string, error), f protocol.FormField) (protocol.FieldAnswer, error) {
	fmt.Fprintf(proc.stderr, "\n%s\n", fieldLine(f))
	for i, option := range f.Options {
		fmt.Fprintf(proc.stderr, "  %d) %s\n", i+1, option)
	}
	for {
		fmt.Fprintf(proc.stderr, "%s> ", f.Name)
		reply, err := line(ctx)
		if err != nil {
			return protocol.FieldAnswer{}, err
		}
		answer, err := parseLine(f, reply).Check(f)
		switch {
		case err != nil:
			fmt.Fprintf(proc.stderr, "%v\n", err)
		case len(answer.Values) == 0 && !f.Optional:
			fmt.Fprintln(proc.stderr, "it needs an answer")
		default:
			return answer, nil
		}
	}
}

// parseLine parses the answer in a line. An option is named by its text or its number. Several choices
// are separated by commas.
func parseLine(f protocol.FormField, line string) protocol.FieldAnswer {
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
func (proc *process) echo(on bool) error {
	mode := "-echo"
	if on {
		mode = "echo"
	}
	command := exec.Command("stty", mode) // no context: the terminal must get its echo back after a cancel
	command.Stdin, _ = proc.stdin.(*os.File)
	return command.Run()
}
