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

// fillIn asks the person for each field, a line each. It ends early, with an error, when
// the lines do, [io.EOF], or ctx.
func (w *world) fillIn(ctx context.Context, in *lineReader, q protocol.Question) ([]protocol.FieldAnswer, error) {
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

// fillField asks for one field until it has an answer that the field takes. A secret is not shown
// where it is typed, from before it is asked for: who types at the first sight of it neither.
func (w *world) fillField(ctx context.Context, in *lineReader, f protocol.FormField) (answer protocol.FieldAnswer, err error) {
	if f.Kind != protocol.FieldSecret || !terminal(w.in) {
		return w.askField(ctx, in.line, f)
	}
	if err := w.echo(false); err != nil {
		return answer, fmt.Errorf("the terminal goes on showing what is typed, and this is secret: %w", err)
	}
	defer func() { err = errors.Join(err, w.echo(true)) }()
	return w.askField(ctx, func(ctx context.Context) (string, error) {
		line, err := in.line(ctx)
		fmt.Fprintln(w.err)
		return line, err
	}, f)
}

// askField asks for a field, whose answers are lines.
func (w *world) askField(ctx context.Context, line func(context.Context) (string, error), f protocol.FormField) (protocol.FieldAnswer, error) {
	fmt.Fprintf(w.err, "\n%s\n", fieldLine(f))
	for i, option := range f.Options {
		fmt.Fprintf(w.err, "  %d) %s\n", i+1, option)
	}
	for {
		fmt.Fprintf(w.err, "%s> ", f.Name)
		said, err := line(ctx)
		if err != nil {
			return protocol.FieldAnswer{}, err
		}
		answer, err := typed(f, said).Check(f)
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
