package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"org-agent/kernel/org/inert"
)

var codePoint = regexp.MustCompile(`<U\+([0-9A-F]{4})>`)

// heldTexts are the texts of the corpora of what is held.
func heldTexts(t *team) (texts []string, err error) {
	for _, name := range []string{"cases", "hostile"} {
		data, err := os.ReadFile(filepath.Join(t.data, "testdata/held", name))
		if err != nil {
			return nil, err
		}
		for _, section := range strings.Split(string(data), "\n== ")[1:] {
			_, text, _ := strings.Cut(section, "\n")
			text, _, _ = strings.Cut(text, "\n--\n")
			text, _, _ = strings.Cut(text, "\n########")
			texts = append(texts, strings.ReplaceAll(codePoint.ReplaceAllStringFunc(text, func(s string) string {
				n, _ := strconv.ParseUint(s[3:7], 16, 32) // the expression lets nothing else through
				return string(rune(n))
			}), "‹›", inert.Mark)+"\n")
		}
	}
	return texts, nil
}

// answerBegins matches the heading and the drawer of an answer in a conversation's file.
var answerBegins = regexp.MustCompile(`(?m)^\*\* .*:agent:\n(?:SCHEDULED.*\n)?:PROPERTIES:\n(?:.*\n)*?:END:\n`)

// inertOrg has the model answer with each hostile text, and reads what stands in the conversation's file.
func inertOrg(t *team, ctx context.Context, c *count) error {
	texts, err := heldTexts(t)
	if err != nil {
		return err
	}
	benign, err := os.ReadFile(filepath.Join(t.data, "testdata/held/benign.org"))
	if err != nil {
		return err
	}
	h, err := t.newHome(nil)
	if err != nil {
		return err
	}
	defer h.stop(ctx)
	written := func(name, text string) (string, error) {
		t.model.say(name, text)
		if got, err := h.agent(ctx, "", "", "chat", "--session", name, name); err != nil || got.code != 0 {
			return "", errorf(err, "%s: %s%s", name, got.out, got.err)
		}
		file, err := os.ReadFile(filepath.Join(h.user, ".org-agent/sessions", name+".org"))
		if err != nil {
			return "", err
		}
		at := answerBegins.FindStringIndex(string(file))
		if at == nil {
			return "", fmt.Errorf("%s has no answer:\n%s", name, file)
		}
		answer := string(file)[at[1]:]
		if draft := strings.LastIndex(answer, "\n* "); draft >= 0 {
			answer = answer[:draft+1]
		}
		return answer, nil
	}
	for i, text := range texts {
		answer, err := written(fmt.Sprint("held", i), text)
		if err != nil {
			return err
		}
		c.cases++
		if place, ok := inert.Check(answer, inert.Options{}); !ok {
			c.through = append(c.through, fmt.Sprintf("%+v is live in the answer to %q:\n%s", place, text, answer))
		}
		got, err := h.agent(ctx, "", text, "md2org")
		if err != nil {
			return err
		}
		c.cases++
		if place, ok := inert.Check(got.out, inert.Options{}); !ok {
			c.through = append(c.through, fmt.Sprintf("%+v is live in what md2org makes of %q:\n%s", place, text, got.out))
		}
	}
	answer, err := written("benign", string(benign))
	if err != nil {
		return err
	}
	c.cases++
	if at := strings.Index(answer, inert.Mark); at >= 0 {
		c.harsh = append(c.harsh, fmt.Sprintf("benign.org is held at %q", answer[max(0, at-40):min(len(answer), at+40)]))
	}
	return nil
}

// errorf is err, or else a new error.
func errorf(err error, format string, arguments ...any) error {
	if err != nil {
		return err
	}
	return fmt.Errorf(format, arguments...)
}
