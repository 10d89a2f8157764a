package memory

import (
	"cmp"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// piece is a heading with the text below it, or what stands before the first heading.
type piece struct {
	scope string // "" for wherever the person is alone with the agent
	text  string
}

// pieces are what the Org text of a file has for a model: without what is commented out,
// archived, or withheld from it, and without drawers. A heading has the scope of those it stands
// below. raw is the same with its drawers and keyword lines.
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

// fileTags are the tags that a file says itself everything in it has.
func fileTags(d *org.Document) []string {
	return strings.FieldsFunc(strings.Join(d.KeywordValues("FILETAGS"), ":"), func(c rune) bool { return c == ':' || c == ' ' })
}

// Within is what the file says in the conversation or group of that scope. Alone says that
// nobody but the person is there: what has no scope of its own is for there only.
func (f File) Within(scope string, alone bool) string {
	var texts []string
	for _, p := range f.pieces {
		if p.scope == "" && alone || p.scope != "" && p.scope == scope {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, "\n")
}
