package org

import (
	"slices"
	"strings"
)

// A Source is one place of a conversation that sets properties for what stands below it.
type Source struct {
	Heading    string // its title, "" for the file
	Own        bool   // whether it is the heading at which [Sources] looks
	Properties []Property
}

// Sources returns the places whose properties hold at the last heading of a text, the nearest
// first: that heading, the headings above it, and the file. A file's properties are the lines
// "#+PROPERTY: NAME value" and the drawer before its first heading. Such a line further down sets
// nothing, because it may be quoted text.
//
// The drawer of an answer sets nothing: it only records where the answer came from. Nor do the
// headings of its text, because a model wrote them. Headings that are commented out or archived set
// nothing either.
func Sources(text string) []Source {
	document := Parse(text)
	var sources []Source
	if n := len(document.Headings); n > 0 {
		for h := document.Headings[n-1]; h != nil; h = h.Parent {
			own := len(sources) == 0
			source := Source{Heading: h.Title, Own: own}
			if !isAnswer(h) && (own || !h.Hidden() && !belowAnswer(h)) {
				source.Properties = h.Properties
			}
			sources = append(sources, source)
		}
	}
	file := Source{Properties: slices.Clone(document.Properties)}
	for _, keyword := range document.Keywords {
		if keyword.Key != "PROPERTY" || len(document.Headings) > 0 && keyword.Start > document.Headings[0].Start {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(keyword.Value), " ")
		file.Properties = append(file.Properties, Property{Key: name, Value: strings.TrimSpace(value), Line: keyword.Line})
	}
	return append(sources, file)
}

// isAnswer reports whether a heading is the heading of an answer.
func isAnswer(h *Heading) bool { return h.ID() != "" && slices.Contains(h.Tags, agentTag) }

// belowAnswer reports whether a heading belongs to the text of an answer: of the turns that it stands
// below, the nearest is one.
func belowAnswer(h *Heading) bool {
	for h = h.Parent; h != nil; h = h.Parent {
		if h.ID() != "" && slices.Contains(h.Tags, userTag) {
			return false
		}
		if isAnswer(h) {
			return true
		}
	}
	return false
}

// Above returns the part of a conversation that [Sources] needs for the heading whose :ID: is id:
// the text before the first heading, that heading, and the headings above it, each with its drawer.
// If id is "" or no heading has it, only the text before the first heading is returned, and ok is
// false. Of a large text only the parts that matter are parsed.
func Above(text, id string) (above string, ok bool) {
	head := headOf(text)
	if id == "" {
		return head, true
	}
	for from := 0; ; {
		at := strings.Index(text[from:], id)
		if at < 0 {
			return head, false
		}
		start, end := topStart(text, from+at), topEnd(text, from+at)
		part := text[start:end]
		if h := Parse(part).FindID(id); h != nil {
			var chain []string
			for ; h != nil; h = h.Parent {
				chain = append(chain, withLineEnd(part[h.Start:h.Body]))
			}
			slices.Reverse(chain)
			return withLineEnd(head) + strings.Join(chain, ""), true
		}
		from = end
	}
}

// headOf returns the text before the first heading.
func headOf(text string) string {
	if strings.HasPrefix(text, "*") && headingLevel(firstLine(text)) > 0 {
		return ""
	}
	for from := 0; ; {
		at := strings.Index(text[from:], "\n*")
		if at < 0 {
			return text
		}
		from += at + 1
		if headingLevel(firstLine(text[from:])) > 0 {
			return text[:from]
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// withLineEnd returns the text with a line end at its end, unless it is empty.
func withLineEnd(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
