package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// answerCommand is "org-agent answer".
type answerCommand struct {
	ID      string   `arg:"" help:"The question's id, or \"list\"."`
	Answers []string `arg:"" optional:"" help:"NAME=ANSWER for each field; repeat it where several answers are allowed. A form with a single field takes ANSWER alone. NAME=- reads the answer from standard input. Without answers the command asks you."`
	Decline string   `help:"Decline to answer, with a reason for the asker." placeholder:"REASON"`
	JSON    bool     `help:"With list: print JSON."`
}

func (c *answerCommand) Run(ctx context.Context, proc *process) error {
	if c.Decline != "" && len(c.Answers) > 0 {
		return usagef("answer it or decline it, not both")
	}
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	var list protocol.AskListResult
	if err := conn.Call(ctx, protocol.MethodAskList, protocol.Empty{}, &list); err != nil {
		return err
	}
	questions := list.Of(protocol.AskQuestion)
	if c.ID == "list" {
		return c.list(proc, questions)
	}
	i := slices.IndexFunc(questions, func(q protocol.Ask) bool { return q.ID == c.ID })
	if i < 0 {
		return fmt.Errorf("no question with the id %s waits for an answer; \"org-agent answer list\" shows what does", c.ID)
	}
	params, err := c.answers(ctx, proc, questions[i])
	if err != nil {
		return err
	}
	var result protocol.AskDecideResult
	if err := conn.Call(ctx, protocol.MethodAskDecide, params, &result); err != nil {
		return err
	}
	_, err = fmt.Fprintf(proc.stdout, "%s %s\n", result.ID, result.Decision)
	return err
}

func (c *answerCommand) list(proc *process, questions []protocol.Ask) error {
	if c.JSON {
		return proc.printJSON(questions)
	}
	for _, q := range questions {
		fmt.Fprintf(proc.stdout, "%s  %s  %s\n", q.ID, q.Session, q.Form.Title)
		for _, f := range q.Form.Fields {
			fmt.Fprintf(proc.stdout, "  %s: %s\n", f.Name, fieldLine(f))
		}
	}
	return nil
}

// fieldLine returns a field's question and its possible answers.
func fieldLine(f protocol.FormField) string {
	choices := string(f.Kind)
	switch {
	case f.Options != nil:
		choices = strings.Join(f.Options, " | ")
		if f.Own {
			choices += " | other"
		}
		if f.Kind == protocol.FieldChoices {
			choices += "; any of them"
		}
	case f.Kind == protocol.FieldNumber:
		choices = strings.TrimSpace("number " + f.Range())
	case f.Kind == protocol.FieldYesNo:
		choices = "yes | no"
	}
	if f.Default != "" {
		choices += "; by default " + f.Default
	}
	if f.Optional {
		choices += "; may be left out"
	}
	return fmt.Sprintf("%s [%s]", f.Question, choices)
}

// answers returns the decision of the command line. If that has none, it asks the person.
func (c *answerCommand) answers(ctx context.Context, proc *process, q protocol.Ask) (protocol.AskDecideParams, error) {
	params := protocol.AskDecideParams{ID: q.ID, Decision: protocol.Answered}
	var err error
	switch {
	case c.Decline != "":
		params.Decision, params.Reason = protocol.Declined, c.Decline
	case len(c.Answers) > 0:
		params.Answers, err = c.parseAnswers(proc, *q.Form)
	default:
		fmt.Fprintf(proc.stderr, "%s, for the session %s\n", q.Form.Title, q.Session)
		params.Answers, err = proc.fillIn(ctx, readLines(ctx, proc.stdin), q)
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("not answered; the question keeps waiting. To decline: org-agent answer %s --decline REASON", q.ID)
		}
	}
	return params, err
}

// parseAnswers parses the answers of the command line.
func (c *answerCommand) parseAnswers(proc *process, form protocol.QuestionForm) ([]protocol.FieldAnswer, error) {
	var answers []protocol.FieldAnswer
	stdinUsed := false
	for _, argument := range c.Answers {
		name, value, named := strings.Cut(argument, "=")
		field, known := findField(form, name)
		if !named || !known {
			if len(form.Fields) > 1 {
				return nil, usagef("%q does not name its field: write NAME=ANSWER with one of the names %s", argument, fieldNames(form))
			}
			field, value = form.Fields[0], argument
		}
		switch {
		case value == "-" && stdinUsed:
			return nil, usagef("only one answer can come from standard input")
		case value == "-":
			text, err := io.ReadAll(io.LimitReader(proc.stdin, protocol.AnswersLimit+1))
			if err != nil {
				return nil, fmt.Errorf("read the answer: %w", err)
			}
			stdinUsed, value = true, strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
		case field.Kind == protocol.FieldSecret:
			return nil, usagef("%s is secret, and other users can see the command line: write %s=- and give the answer on standard input, or leave the answers out to be asked", field.Name, field.Name)
		}
		i := slices.IndexFunc(answers, func(a protocol.FieldAnswer) bool { return a.Name == field.Name })
		if i < 0 {
			answers, i = append(answers, protocol.FieldAnswer{Name: field.Name}), len(answers)
		}
		answers[i].Values = append(answers[i].Values, value)
	}
	return answers, nil
}

func findField(form protocol.QuestionForm, name string) (protocol.FormField, bool) {
	for _, f := range form.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return protocol.FormField{}, false
}

func fieldNames(form protocol.QuestionForm) string {
	var names []string
	for _, f := range form.Fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
