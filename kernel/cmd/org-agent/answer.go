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

func (c *answerCommand) Run(ctx context.Context, w *world) error {
	if c.Decline != "" && len(c.Answers) > 0 {
		return usagef("answer it or decline it, not both")
	}
	conn, err := w.connect(ctx, connection{start: true})
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
		return c.list(w, questions)
	}
	i := slices.IndexFunc(questions, func(q protocol.Ask) bool { return q.ID == c.ID })
	if i < 0 {
		return fmt.Errorf("no question with the id %s waits for an answer; \"org-agent answer list\" shows what does", c.ID)
	}
	params, err := c.answers(ctx, w, questions[i])
	if err != nil {
		return err
	}
	var result protocol.AskDecideResult
	if err := conn.Call(ctx, protocol.MethodAskDecide, params, &result); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w.out, "%s %s\n", result.ID, result.Decision)
	return err
}

func (c *answerCommand) list(w *world, questions []protocol.Ask) error {
	if c.JSON {
		return w.printJSON(questions)
	}
	for _, q := range questions {
		fmt.Fprintf(w.out, "%s  %s  %s\n", q.ID, q.Session, q.Form.Title)
		for _, f := range q.Form.Fields {
			fmt.Fprintf(w.out, "  %s: %s\n", f.Name, fieldLine(f))
		}
	}
	return nil
}

// fieldLine writes a field's question and its possible answers.
func fieldLine(f protocol.FormField) string {
	how := string(f.Kind)
	switch {
	case f.Options != nil:
		how = strings.Join(f.Options, " | ")
		if f.Own {
			how += " | other"
		}
		if f.Kind == protocol.FieldChoices {
			how += "; any of them"
		}
	case f.Kind == protocol.FieldNumber:
		how = strings.TrimSpace("number " + f.Range())
	case f.Kind == protocol.FieldYesNo:
		how = "yes | no"
	}
	if f.Default != "" {
		how += "; by default " + f.Default
	}
	if f.Optional {
		how += "; may be left out"
	}
	return fmt.Sprintf("%s [%s]", f.Question, how)
}

// answers returns the answers of the command line, or else asks the person.
func (c *answerCommand) answers(ctx context.Context, w *world, q protocol.Ask) (protocol.AskDecideParams, error) {
	params := protocol.AskDecideParams{ID: q.ID, Decision: protocol.Answered}
	var err error
	switch {
	case c.Decline != "":
		params.Decision, params.Reason = protocol.Declined, c.Decline
	case len(c.Answers) > 0:
		params.Answers, err = c.given(w, *q.Form)
	default:
		fmt.Fprintf(w.err, "%s, for the session %s\n", q.Form.Title, q.Session)
		params.Answers, err = w.fillIn(ctx, readLines(ctx, w.in), q)
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("not answered; the question keeps waiting. To decline: org-agent answer %s --decline REASON", q.ID)
		}
	}
	return params, err
}

// given reads the answers of the command line.
func (c *answerCommand) given(w *world, form protocol.QuestionForm) ([]protocol.FieldAnswer, error) {
	var answers []protocol.FieldAnswer
	read := false
	for _, given := range c.Answers {
		name, value, named := strings.Cut(given, "=")
		field, known := fieldNamed(form, name)
		if !named || !known {
			if len(form.Fields) > 1 {
				return nil, usagef("%q does not name its field: write NAME=ANSWER with one of the names %s", given, fieldNames(form))
			}
			field, value = form.Fields[0], given
		}
		switch {
		case value == "-" && read:
			return nil, usagef("only one answer can come from standard input")
		case value == "-":
			text, err := io.ReadAll(io.LimitReader(w.in, protocol.AnswersLimit+1))
			if err != nil {
				return nil, fmt.Errorf("read the answer: %w", err)
			}
			read, value = true, strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
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

func fieldNamed(form protocol.QuestionForm, name string) (protocol.FormField, bool) {
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
