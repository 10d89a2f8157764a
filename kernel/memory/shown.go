package memory

import (
	"cmp"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// piece is a heading with the text below it, or the text before the first heading.
type piece struct {
	scope string // "" means wherever the person is alone with the agent
	text  string
}

// pieces returns the pieces of an Org text that a model may see. They are without headings that are
// commented out, archived or withheld, and without drawers. A heading inherits its scope. raw is
// the same text with its drawers and keyword lines.
func pieces(text string, judgement withheld.Judgement) (shown []piece, raw string) {
	d := org.Parse(text)
	scopes := map[*org.Heading]string{}
	first := len(text)
	if len(d.Headings) > 0 {
		first = d.Headings[0].Start
	}
	var all strings.Builder
	if judgement.At(0) == withheld.Shown || first == 0 {
		if head := visibleText(text[:first]); head != "" {
			shown = append(shown, piece{text: head})
		}
		all.WriteString(text[:first])
	}
	for i, h := range d.Headings {
		end := len(text)
		if i+1 < len(d.Headings) {
			end = d.Headings[i+1].Start
		}
		own, _ := h.Property(propertyScope)
		scopes[h] = cmp.Or(strings.TrimSpace(own), scopes[h.Parent])
		if h.Hidden() || judgement.At(h.Start) > withheld.Shown {
			continue
		}
		title, _, _ := strings.Cut(text[h.Start:end], "\n")
		body := visibleLines(text[min(h.Body, end):end])
		shown = append(shown, piece{scope: scopes[h], text: strings.TrimRight(title+"\n"+body, " \t\n")})
		if scopes[h] == "" {
			all.WriteString(text[h.Start:end])
		}
	}
	return shown, all.String()
}

// fileTags returns the tags that a file sets for everything in it.
func fileTags(d *org.Document) []string {
	return strings.FieldsFunc(strings.Join(d.KeywordValues("FILETAGS"), ":"), func(c rune) bool { return c == ':' || c == ' ' })
}

// Within returns the file's text for the conversation or group with that scope. alone says that
// only the person takes part. Text without a scope is only for such a conversation.
func (f File) Within(scope string, alone bool) string {
	var texts []string
	for _, p := range f.pieces {
		if p.scope == "" && alone || p.scope != "" && p.scope == scope {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}
