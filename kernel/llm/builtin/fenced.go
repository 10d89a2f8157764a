package builtin

import (
	"fmt"
	"regexp"
	"strings"
)

// textBegin is the line that a skill writes before a text it hands over as data. The line
// behind the text has END in place of BEGIN, and the same mark.
var textBegin = regexp.MustCompile(`(?m)^-----BEGIN TEXT ([\w-]+)-----\n`)

// fenced is the text that a message hands over as data.
func fenced(message string) (text string, ok bool) {
	at := textBegin.FindStringSubmatchIndex(message)
	if at == nil {
		return "", false
	}
	text, _, ok = strings.Cut(message[at[1]:], "-----END TEXT "+message[at[2]:at[3]]+"-----")
	return text, ok
}

// describeText is the answer about a text that only a model could read: what can be said of it
// without one.
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
