package org

import (
	"fmt"
	"strings"
)

// Headline returns the heading's line as Org writes it, with its tags ending at column 77, or
// one blank behind the title if that is too long, and without a line end.
func Headline(h Heading) string {
	parts := []string{strings.Repeat("*", h.Level)}
	for _, part := range []string{h.Todo, priorityCookie(h.Priority), comment(h.Commented), h.Title} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	head := strings.Join(parts, " ")
	if len(parts) == 1 {
		head += " "
	}
	if len(h.Tags) == 0 {
		return head
	}
	tags := ":" + strings.Join(h.Tags, ":") + ":"
	return head + strings.Repeat(" ", max(1, tagColumn-len(tags)-textWidth(head))) + tags
}

func priorityCookie(priority string) string {
	if priority == "" {
		return ""
	}
	return "[#" + priority + "]"
}

func comment(commented bool) string {
	if commented {
		return "COMMENT"
	}
	return ""
}

// PropertyLine returns a line of a property drawer as Org writes it, without its line end.
func PropertyLine(key, value string) string {
	return strings.TrimRight(fmt.Sprintf("%-10s %s", ":"+key+":", oneLine(value)), " ")
}
