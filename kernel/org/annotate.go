package org

import (
	"strings"

	"org-agent/kernel/text"
)

// A Drawer is plain text in a folded drawer of an answer: what the model thought, what it said beside its
// calls, or which tools it called.
type Drawer struct {
	Name string // THOUGHTS, COMMENTARY or CALLS
	Text string
}

// A Remark is a comment on an answer, made by By while the answer was made.
type Remark struct{ By, Text string }

// Annotate adds to an answer what is known only at its end. An answer is a heading with a property
// drawer and a body. The properties follow the existing ones, the drawers stand below them, and the
// remarks are a list. Their text becomes fixed-width lines and inert items, whatever it is. The
// rest of the answer stays as it is.
func Annotate(answer string, properties []Property, drawers []Drawer, remarks []Remark) string {
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
			behind.WriteString(":" + d.Name + ":\n" + fixedWidth(d.Text) + ":END:\n")
		}
	}
	for _, r := range remarks {
		behind.WriteString(Inert("- " + r.By + " :: " + text.Line(r.Text) + "\n"))
	}
	body := at + len(end) - 1
	return answer[:at] + own + answer[at:body] + behind.String() + answer[body:]
}

// fixedWidth returns text as inert fixed-width lines, which Org shows unchanged. No line of it can
// be a heading, a keyword, or the end of a drawer. Empty lines at both ends are left out.
func fixedWidth(text string) string {
	var lines strings.Builder
	for line := range strings.SplitSeq(strings.Trim(blankLineEnds(text), "\n"), "\n") {
		lines.WriteString(strings.TrimRight(": "+line, " \t") + "\n")
	}
	return Inert(lines.String())
}

// blankLineEnds returns the text with blanks for the controls that Emacs or Unicode take for line
// ends.
func blankLineEnds(text string) string {
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
