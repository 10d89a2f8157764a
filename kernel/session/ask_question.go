package session

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// questionForm returns the subtree of a question below a question of that level, as a form. Each field
// is a numbered item, a choice has a checkbox for each option, and a written answer stands behind
// "Answer:". Clients find the fields by the lines of the items.
func questionForm(level int, q protocol.Ask, tags ...string) string {
	var b strings.Builder
	b.WriteString(askHeading(level, "TODO Answer: ", q.Form.Title, "", false))
	b.WriteString("/C-c C-c/ sends the answers, /C-c C-k/ declines and says why")
	if slices.ContainsFunc(q.Form.Fields, hasCheckboxes) {
		b.WriteString(", /RET/ checks a box")
	}
	b.WriteByte('.')
	if q.Skill != "" {
		fmt.Fprintf(&b, " The skill %s asks.", q.Skill)
	}
	b.WriteByte('\n')
	for i, f := range q.Form.Fields {
		fmt.Fprintf(&b, "%d. %s%s\n", i+1, f.Question, hint(f))
		switch f.Kind {
		case protocol.FieldChoice, protocol.FieldChoices:
			chosen := slices.Contains(f.Options, f.Default)
			for _, option := range f.Options {
				fmt.Fprintf(&b, "   - [%s] %s\n", box(option == f.Default), option)
			}
			if f.Own {
				own := ""
				if !chosen {
					own = f.Default
				}
				fmt.Fprintf(&b, "   - [%s] other: %s\n", box(own != ""), own)
			}
		case protocol.FieldYesNo:
			fmt.Fprintf(&b, "   - [%s] yes\n   - [%s] no\n", box(f.Default == "yes"), box(f.Default == "no"))
		case protocol.FieldSecret:
		default:
			fmt.Fprintf(&b, "   Answer: %s\n", f.Default)
		}
	}
	return askSubtree(level, q.ID, "question", b.String(), tags...)
}

// hasCheckboxes reports whether the field is answered by checking boxes.
func hasCheckboxes(f protocol.FormField) bool {
	return f.Kind == protocol.FieldChoice || f.Kind == protocol.FieldChoices || f.Kind == protocol.FieldYesNo
}

func box(checked bool) string {
	if checked {
		return "X"
	}
	return " "
}

// hint returns the hint behind a question that says how to answer it.
func hint(f protocol.FormField) string {
	var hints []string
	switch f.Kind {
	case protocol.FieldChoice:
		hints = append(hints, "choose one")
	case protocol.FieldChoices:
		hints = append(hints, "choose any")
	case protocol.FieldNumber:
		hints = append(hints, strings.TrimSpace("a number "+f.Range()))
	case protocol.FieldSecret:
		hints = append(hints, "secret: you are asked for it when you send; it is kept nowhere, and no model is shown it")
	}
	if f.Optional {
		hints = append(hints, "may be left out")
	}
	if hints == nil {
		return ""
	}
	return " (" + strings.Join(hints, "; ") + ")"
}

// questionClosed returns the closed subtree of a question: a heading with the outcome and the time,
// and the answers below it.
func questionClosed(level int, q protocol.Ask, tags ...string) string {
	var b strings.Builder
	words := "DONE Answered"
	switch q.Decision {
	case protocol.Declined:
		words = "CANCELLED Declined"
	case "":
		words = "CANCELLED Not answered"
	}
	b.WriteString(askHeading(level, words+": ", q.Form.Title, "", false))
	b.WriteString(closedLine(q.Decision != "", q.Client, q.ClosedAt(), q.Comment))
	if q.Decision == protocol.Answered {
		for _, f := range q.Form.Fields {
			fmt.Fprintf(&b, "- %s :: %s\n", f.Question, answerLine(f, q.Answers))
		}
	}
	return askSubtree(level, q.ID, "question", b.String(), tags...)
}

// answerLineLimit is the maximal length in bytes of an answer in the closed question. The journal has
// the whole answer.
const answerLineLimit = 500

// answerLine returns the answer to a field on one line.
func answerLine(f protocol.FormField, answers []protocol.FieldAnswer) string {
	i := slices.IndexFunc(answers, func(a protocol.FieldAnswer) bool { return a.Name == f.Name })
	switch {
	case i < 0:
		return "no answer"
	case f.Kind == protocol.FieldSecret:
		return "given, and kept nowhere"
	}
	line := text.Line(strings.Join(answers[i].Values, ", "))
	if kept := text.Prefix(line, answerLineLimit); kept != line {
		line = kept + "…"
	}
	return line
}
