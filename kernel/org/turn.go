package org

import (
	"fmt"
	"strings"

	"org-agent/kernel/text"
)

// The tags of a conversation's headings.
const (
	userTag  = "user"
	agentTag = "agent"
)

// tagColumn is where the tag of a turn's heading ends, in columns of a terminal.
const tagColumn = 77

// A Question is a person's message as it is written into a conversation.
type Question struct {
	Level   int    // of its heading; 0 means 1
	ID      string // the event's id
	Instead string // the id of the question in whose place it stands, or ""
	// Properties are the person's own; they stand below ID and INSTEAD.
	Properties []Property
	Text       string // as sent: raw text, whose first line becomes the heading
}

// Subtree returns the question as Org: a heading with the tag :user:, a drawer with the :ID:, and
// the rest of the text. Headings in the text are moved below the question, all by the same number
// of levels. Empty lines at both ends are left out. It ends in a line end.
func (q Question) Subtree() string {
	level := max(q.Level, 1)
	text := strings.Trim(strings.ReplaceAll(q.Text, "\r\n", "\n"), "\n")
	first, rest, _ := strings.Cut(text, "\n")
	var out strings.Builder
	out.WriteString(tagged(level, trimBlanks(first), userTag))
	properties := []Property{{Key: "ID", Value: q.ID}}
	if q.Instead != "" {
		properties = append(properties, Property{Key: "INSTEAD", Value: q.Instead})
	}
	out.WriteString(drawer(append(properties, q.Properties...)))
	if rest = strings.Trim(rest, "\n"); rest != "" {
		out.WriteString(demote(rest, level))
		out.WriteByte('\n')
	}
	return out.String()
}

// ReHeading returns "* Re: WORDS" for an answer whose question is gone. WORDS are the first words
// of the question, at most 60 characters.
func ReHeading(question string) string {
	words := firstWords(text.Line(question))
	return strings.TrimRight("* Re: "+words, " ") + "\n"
}

// tagged returns a heading line whose tag ends at column 77, or one blank behind the
// title if that is too long.
func tagged(level int, title, tag string) string {
	head := strings.TrimRight(strings.Repeat("*", level)+" "+title, " ")
	tag = ":" + tag + ":"
	pad := max(1, tagColumn-len(tag)-textWidth(head))
	return head + strings.Repeat(" ", pad) + tag + "\n"
}

// drawer returns a property drawer as Org writes it: values start at column 12.
func drawer(properties []Property) string {
	var out strings.Builder
	out.WriteString(":PROPERTIES:\n")
	for _, p := range properties {
		line := fmt.Sprintf("%-10s %s", ":"+p.Key+":", oneLine(p.Value))
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	out.WriteString(":END:\n")
	return out.String()
}

func oneLine(value string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, value))
}

// demote moves the headings of a text below a level, all by as much as the highest needs.
func demote(text string, level int) string {
	lines := strings.Split(text, "\n")
	highest := 0
	for _, l := range lines {
		if n := headingLevel(l); n > 0 && (highest == 0 || n < highest) {
			highest = n
		}
	}
	if highest == 0 || highest > level {
		return text
	}
	more := strings.Repeat("*", level+1-highest)
	for i, l := range lines {
		if headingLevel(l) > 0 {
			lines[i] = more + l
		}
	}
	return strings.Join(lines, "\n")
}

// wordsLimit is the greatest length, in code points, of a heading made of a text's first words.
const wordsLimit = 60

// firstWords cuts text, whose words are separated by single blanks, to at most 60
// characters, at a blank if there is one.
func firstWords(text string) string {
	blank, count := 0, 0
	for i, r := range text {
		if count == wordsLimit {
			if r == ' ' {
				blank = i
			}
			if blank > 0 {
				return text[:blank]
			}
			return text[:i]
		}
		if r == ' ' {
			blank = i
		}
		count++
	}
	return text
}

// Draft returns a text as the draft of a conversation, ready to be changed and sent: a heading of
// level 1 without drawer and tag. For an empty text it is an empty heading.
func Draft(text string) string {
	first, rest, _ := strings.Cut(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	draft := "* " + trimBlanks(first)
	if rest = strings.Trim(rest, "\n"); rest != "" {
		draft += "\n" + demote(rest, 1)
	}
	return draft
}
