package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed ask_user.md
var askUserManual string

// Asker shows a form to a person and waits for the answer for as long as the turn lasts. The text
// is a plist of the answers, for the model. The error is a [Declined] if the person does not want
// to answer.
type Asker interface {
	AskUser(ctx context.Context, form protocol.QuestionForm) (string, error)
}

// Declined is the error if a person does not answer. The reason may be empty.
type Declined struct{ Reason string }

// Error implements error; the model reads it.
func (d Declined) Error() string {
	if d.Reason == "" {
		return "the user declined to answer"
	}
	return "the user declined to answer: " + d.Reason
}

// The limits of a form. Lengths of texts are in characters.
const (
	formFields   = 8
	formOptions  = 20
	formTitle    = 72
	formQuestion = 500
	formOption   = 200
)

type askUserArguments struct {
	Title     string            `doc:"the subject, in a few words"`
	Questions []askUserQuestion `doc:"the questions, in order" required:"true"`
}

type askUserQuestion struct {
	Question string   `doc:"the question" required:"true"`
	Kind     string   `doc:"the kind of the answer" words:"text choice choices number yes-no secret"`
	Options  []string `doc:"the answers to choose from"`
	Own      bool     `doc:"allow an answer that is not among the options" seldom:"true"`
	Name     string   `doc:"the answer's name: lower-case letters, digits, hyphens" seldom:"true"`
	Optional bool     `doc:"the user may leave it unanswered"`
	Default  string   `doc:"the suggested answer" seldom:"true"`
	Min      *float64 `doc:"the smallest number" seldom:"true"`
	Max      *float64 `doc:"the largest number" seldom:"true"`
}

func askUser() Tool {
	return New(Definition[askUserArguments]{
		Name: "ask_user", Manual: askUserManual, Own: true, Effect: protocol.ToolAsks,
		Perform: func(ctx context.Context, by *Caller, a askUserArguments) (string, error) {
			form, err := a.form()
			if err != nil {
				return "", err
			}
			asker := by.Asker
			if asker == nil {
				return "", errors.New("nobody can be asked here: answer with what you have")
			}
			return asker.AskUser(ctx, form)
		},
	})
}

// form returns the arguments as a checked form.
func (a askUserArguments) form() (protocol.QuestionForm, error) {
	form := protocol.QuestionForm{Title: text.Line(a.Title)}
	if len(a.Questions) > formFields {
		return form, fmt.Errorf("a form has 1 to %d questions, not %d: ask what matters first", formFields, len(a.Questions))
	}
	names := map[string]bool{}
	for i, q := range a.Questions {
		field, err := q.field()
		if err != nil {
			return form, fmt.Errorf("question %d: %w", i+1, err)
		}
		if field.Name == "" {
			field.Name = "answer"
			if len(a.Questions) > 1 {
				field.Name = fmt.Sprintf("answer-%d", i+1)
			}
		}
		if names[field.Name] {
			return form, fmt.Errorf("question %d: two answers are named %q", i+1, field.Name)
		}
		names[field.Name] = true
		form.Fields = append(form.Fields, field)
	}
	if form.Title == "" {
		form.Title = form.Fields[0].Question
	}
	form.Title = text.Clip(form.Title, formTitle)
	return form, nil
}

var answerName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// field returns one question as a field of the form.
func (q askUserQuestion) field() (protocol.FormField, error) {
	f := protocol.FormField{
		Name: strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(q.Name, ":")), "_", "-"), Kind: protocol.FieldKind(q.Kind),
		Question: text.Line(q.Question), Own: q.Own, Optional: q.Optional, Default: text.Line(q.Default), Min: q.Min, Max: q.Max,
	}
	if f.Kind == "" {
		f.Kind = protocol.FieldText
		if q.Options != nil {
			f.Kind = protocol.FieldChoice
		}
	}
	for _, option := range q.Options {
		f.Options = append(f.Options, text.Line(option))
	}
	err := errors.Join(q.limits(f), checkOptions(f))
	if err == nil {
		err = checkDefault(&f)
	}
	return f, err
}

func (q askUserQuestion) limits(f protocol.FormField) error {
	switch {
	case f.Question == "":
		return errors.New("it asks nothing: write :question \"…\"")
	case utf8.RuneCountInString(f.Question) > formQuestion:
		return fmt.Errorf("it may have %d characters", formQuestion)
	case f.Name != "" && !answerName.MatchString(f.Name):
		return fmt.Errorf("%q is no name for an answer: use up to 32 lower-case letters, digits and hyphens, a letter first", q.Name)
	case f.Kind != protocol.FieldNumber && (f.Min != nil || f.Max != nil):
		return errors.New(":min and :max are for a :number")
	case f.Min != nil && f.Max != nil && *f.Min > *f.Max:
		return fmt.Errorf("no number is at least %v and at most %v", *f.Min, *f.Max)
	}
	return nil
}

func checkOptions(f protocol.FormField) error {
	if f.Kind != protocol.FieldChoice && f.Kind != protocol.FieldChoices {
		if f.Options != nil || f.Own {
			return fmt.Errorf(":options and :own are for a :choice or :choices, not for a :%s", f.Kind)
		}
		return nil
	}
	least := 2
	if f.Own || f.Kind == protocol.FieldChoices {
		least = 1
	}
	if len(f.Options) < least || len(f.Options) > formOptions {
		return fmt.Errorf("a :%s has %d to %d :options, not %d", f.Kind, least, formOptions, len(f.Options))
	}
	seen := map[string]bool{}
	for _, option := range f.Options {
		switch {
		case option == "":
			return errors.New("an option is empty")
		case utf8.RuneCountInString(option) > formOption:
			return fmt.Errorf("an option may have %d characters", formOption)
		case seen[option]:
			return fmt.Errorf("the option %q stands twice", option)
		}
		seen[option] = true
	}
	return nil
}

// checkDefault gives the default the type that the field's answer has.
func checkDefault(f *protocol.FormField) error {
	if f.Default == "" {
		return nil
	}
	if f.Kind == protocol.FieldSecret {
		return errors.New("a :secret has no :default")
	}
	checked, err := protocol.FieldAnswer{Values: []string{f.Default}}.Check(*f)
	if err != nil {
		return fmt.Errorf("the :default is no answer: %w", err)
	}
	f.Default = checked.Values[0]
	return nil
}
