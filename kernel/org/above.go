package org

import (
	"slices"
	"strings"
)

// A Source is one place of a conversation whose properties hold for what stands below it.
type Source struct {
	Heading    string // its title, "" for the file
	Own        bool   // the heading that was asked about itself
	Properties []Property
}

// Sources returns the places whose properties hold at the last heading of a text, the
// nearest first: that heading, those it stands below, and the file. What holds for the
// file stands before the first heading: lines "#+PROPERTY: NAME value" and a drawer.
// Further down such a line may be one that somebody quotes, so it sets nothing there.
//
// The drawer of an answer says where the answer came from; nothing in it is a setting, and
// so it is none for who asks below the answer either. Headings that are commented out or
// archived set nothing.
func Sources(text string) []Source {
	document := Parse(text)
	var sources []Source
	if n := len(document.Headings); n > 0 {
		for h := document.Headings[n-1]; h != nil; h = h.Parent {
			own := len(sources) == 0
			source := Source{Heading: h.Title, Own: own}
			if !isAnswer(h) && (own || !h.Hidden()) {
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

// isAnswer reports whether a heading is that of an answer.
func isAnswer(h *Heading) bool { return h.ID() != "" && slices.Contains(h.Tags, AgentTag) }

// Above cuts a conversation to what [Sources] needs to know of the heading whose :ID: is
// id: what stands before the first heading, and the heading with those it stands below,
// each with its drawer. With no id, or one that no heading has, only the former is left,
// and ok says which it was. Of a large text only the parts that matter are parsed.
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
				chain = append(chain, closed(part[h.Start:h.Body]))
			}
			slices.Reverse(chain)
			return closed(head) + strings.Join(chain, ""), true
		}
		from = end
	}
}

// headOf is what stands before the first heading.
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

// closed is text that ends in a line end, if it is not empty.
func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
