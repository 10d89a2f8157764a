package org

import "strings"

// A Drawer is plain text that stands folded behind an answer's properties: what
// the model thought, which tools it called.
type Drawer struct {
	Name string // THOUGHTS or CALLS
	Text string
}

// Told is something that was said of an answer while it was made, and by whom.
type Told struct{ By, Text string }

// Annotate adds to an answer, a heading with its property drawer and a body, what
// is known only at its end: properties behind those it has, drawers below, and a
// list of what was said of it meanwhile. Whatever their text is, it comes to be
// fixed-width lines and items of inert text; the rest of the answer stays as it is.
func Annotate(answer string, properties []Property, drawers []Drawer, said []Told) string {
	const end = "\n:END:\n"
	at := strings.Index(answer, end)
	if at < 0 {
		return answer
	}
	at++ // behind the line end
	own := strings.TrimSuffix(strings.TrimPrefix(drawer(properties), ":PROPERTIES:\n"), ":END:\n")
	var behind strings.Builder
	for _, d := range drawers {
		if d.Text != "" {
			behind.WriteString(":" + d.Name + ":\n" + FixedWidth(d.Text) + ":END:\n")
		}
	}
	for _, told := range said {
		behind.WriteString(Inert("- " + told.By + " :: " + strings.Join(strings.Fields(told.Text), " ") + "\n"))
	}
	body := at + len(end) - 1
	return answer[:at] + own + answer[at:body] + behind.String() + answer[body:]
}

// FixedWidth returns text as inert fixed-width lines, which Org shows as they are.
// No line of it can be a heading, a keyword, or the end of a drawer. Empty lines
// around it are left out.
func FixedWidth(text string) string {
	var lines strings.Builder
	for line := range strings.SplitSeq(strings.Trim(blankedLines(text), "\n"), "\n") {
		lines.WriteString(strings.TrimRight(": "+line, " \t") + "\n")
	}
	return Inert(lines.String())
}

// blankedLines is the text with blanks for the controls that end a line elsewhere.
func blankedLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		whole, _ := strings.CutSuffix(line, "\n")
		out.WriteString(textOf(whole))
		if whole != line {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
