package protocol

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/text"
)

// AnswersLimit is the largest size of the answers to a form, in bytes.
const AnswersLimit = 256 << 10

// Check returns the answer in the form of the field: without blanks around it, a number in
// decimals, "yes" or "no". Without values it is no answer. The error says what an answer may be.
func (a FieldAnswer) Check(f FormField) (FieldAnswer, error) {
	a = FieldAnswer{Name: f.Name, Values: slices.Clone(a.Values)}
	for i, value := range a.Values {
		if !utf8.ValidString(value) {
			return a, errors.New("it is not text")
		}
		if f.Kind != FieldSecret { // blanks may belong to one
			a.Values[i] = strings.TrimSpace(value)
		}
	}
	a.Values = slices.DeleteFunc(a.Values, func(value string) bool { return value == "" })
	if len(a.Values) > 1 && f.Kind != FieldChoices {
		return a, fmt.Errorf("it takes one answer, not %d", len(a.Values))
	}
	for i, value := range a.Values {
		var err error
		if a.Values[i], err = f.value(value); err != nil {
			return a, err
		}
		if slices.Contains(a.Values[:i], a.Values[i]) {
			return a, fmt.Errorf("%q is chosen twice", a.Values[i])
		}
	}
	return a, nil
}

// value returns one value of an answer in the form of the field.
func (f FormField) value(value string) (string, error) {
	switch f.Kind {
	case FieldChoice, FieldChoices:
		return f.option(value)
	case FieldNumber:
		return f.number(value)
	case FieldYesNo:
		switch strings.ToLower(value) {
		case "yes", "y", "t", "true":
			return "yes", nil
		case "no", "n", "nil", "false":
			return "no", nil
		}
		return "", fmt.Errorf("it is answered with yes or no, not with %q", text.Clip(value, 80))
	}
	return value, nil
}

func (f FormField) option(value string) (string, error) {
	if slices.Contains(f.Options, value) {
		return value, nil
	}
	for _, option := range f.Options {
		if strings.EqualFold(option, value) {
			return option, nil
		}
	}
	if f.Own {
		return value, nil
	}
	return "", fmt.Errorf("%q is not one of the options: %s", text.Clip(value, 80), strings.Join(f.Options, ", "))
}

func (f FormField) number(value string) (string, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) || strings.ContainsAny(value, "xXpP_") {
		return "", fmt.Errorf("%q is not a number: write it as 12 or 3.5", text.Clip(value, 80))
	}
	if f.Min != nil && n < *f.Min || f.Max != nil && n > *f.Max {
		return "", fmt.Errorf("the number must be %s, not %s", f.Range(), text.Clip(value, 80))
	}
	return value, nil
}

// Range describes the bounds of a number, "" if there are none.
func (f FormField) Range() string {
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case f.Min != nil && f.Max != nil:
		return number(*f.Min) + " to " + number(*f.Max)
	case f.Min != nil:
		return number(*f.Min) + " or more"
	case f.Max != nil:
		return number(*f.Max) + " or less"
	}
	return ""
}

// Check returns the answers in the order of the form, each in the form of its field, without
// fields that have no answer. The error names what is missing or wrong.
func (f QuestionForm) Check(answers []FieldAnswer) ([]FieldAnswer, error) {
	given, size := map[string]FieldAnswer{}, 0
	for _, a := range answers {
		if !slices.ContainsFunc(f.Fields, func(field FormField) bool { return field.Name == a.Name }) {
			return nil, Errorf(CodeInvalidParams, "the form has no question named %q: the names are %s", text.Clip(a.Name, 80), f.names())
		}
		if _, twice := given[a.Name]; twice {
			return nil, Errorf(CodeInvalidParams, "%s is answered twice", a.Name)
		}
		given[a.Name] = a
		for _, value := range a.Values {
			size += len(value)
		}
	}
	if size > AnswersLimit {
		return nil, Errorf(CodeTooLarge, "the answers have %d bytes, more than the %d allowed: shorten them, or name a file", size, AnswersLimit)
	}
	var checked []FieldAnswer
	for _, field := range f.Fields {
		a, err := given[field.Name].Check(field)
		if err != nil {
			return nil, Errorf(CodeInvalidParams, "%s (%s): %w", field.Name, field.Question, err)
		}
		if len(a.Values) > 0 {
			checked = append(checked, a)
		} else if !field.Optional {
			return nil, Errorf(CodeInvalidParams, "%s (%s) has no answer yet", field.Name, field.Question)
		}
	}
	return checked, nil
}

func (f QuestionForm) names() string {
	var names []string
	for _, field := range f.Fields {
		names = append(names, field.Name)
	}
	return strings.Join(names, ", ")
}
