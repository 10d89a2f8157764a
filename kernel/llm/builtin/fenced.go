package builtin

import (
	"fmt"
	"regexp"
	"strings"
)

// textBegin matches the line that a skill writes before a text that is data. The line after the
// text has END in place of BEGIN, and the same mark.
var textBegin = regexp.MustCompile(`(?m)^-----BEGIN TEXT ([\w-]+)-----\n`)

// fenced returns the text that a message contains as data.
func fenced(message string) (text string, ok bool) {
	at := textBegin.FindStringSubmatchIndex(message)
	if at == nil {
		return "", false
	}
	text, _, ok = strings.Cut(message[at[1]:], "-----END TEXT "+message[at[2]:at[3]]+"-----")
	return text, ok
}

// asksAboutText reports whether the last message contains a text as data, which a skill asks about.
func asksAboutText(messages []string) bool {
	if len(messages) == 0 {
		return false
	}
	_, ok := fenced(messages[len(messages)-1])
	return ok
}

// describeText returns the answer about a text that only a model could read: its size.
func describeText(text string) string {
	text = strings.TrimRight(text, "\n")
	lines, words, headings := 0, len(strings.Fields(text)), 0
	for line := range strings.Lines(text) {
		lines++
		if rest := strings.TrimLeft(line, "*"); rest != line && strings.HasPrefix(rest, " ") {
			headings++
		}
	}
	what := fmt.Sprintf("%s and %s", count(lines, "line"), count(words, "word"))
	if headings > 0 {
		what += " under " + count(headings, "heading")
	}
	return "* Counted, not read\nI am the built-in guide and not a language model: I cannot read this text, only count it. It has " + what +
		". Ask =how do I add a model= for one that can."
}
