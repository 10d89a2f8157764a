package history

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"org-agent/kernel/prompt"
	"org-agent/kernel/text"
)

// Summary has the notes of turns that are not shown any more. Each note is one line.
type Summary struct {
	Decisions []string `json:"decisions,omitempty"`
	Facts     []string `json:"facts,omitempty"`
	Open      []string `json:"open,omitempty"`
	Files     []string `json:"files,omitempty"`
	People    []string `json:"people,omitempty"`
	Other     []string `json:"other,omitempty"` // what no model noted
	// Left counts the notes that were left out because there were too many.
	Left int `json:"left,omitempty"`
	// Closed are the earlier open notes that are done. They are not recorded.
	Closed []string `json:"-"`
	// Own is set if nobody but the person and the agent wrote any part of the turns. The kernel sets
	// it, not the model.
	Own bool `json:"own,omitempty"`

	unheaded []string // the lines of a reply that stand below no heading
}

// section is a list of a summary, with its heading.
type section struct {
	heading string
	notes   *[]string
}

// peopleHeading is the heading of notes that begin with a name.
const peopleHeading = "People"

func (s *Summary) sections() []section {
	return []section{
		{"Decisions", &s.Decisions},
		{"Facts", &s.Facts},
		{"Open", &s.Open},
		{"Files", &s.Files},
		{peopleHeading, &s.People},
		{"Other", &s.Other},
	}
}

// Empty reports whether there are no notes.
func (s *Summary) Empty() bool { return s.count() == 0 }

// count returns the number of notes.
func (s *Summary) count() (n int) {
	for _, part := range s.sections() {
		n += len(*part.notes)
	}
	return n
}

// String returns the summary as headings and lists, for models and people.
func (s *Summary) String() string {
	var b strings.Builder
	for _, part := range s.sections() {
		if len(*part.notes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "* %s\n", part.heading)
		for _, note := range *part.notes {
			fmt.Fprintf(&b, "- %s\n", note)
		}
	}
	return b.String()
}

// Tokens estimates the tokens of the summary.
func (s *Summary) Tokens() int { return prompt.Tokens(s.String()) }

// Merge returns the summary with the notes of a later one. It adds no note twice, and removes open notes
// that the later one closes. The sum is Own if both are; an empty summary is Own.
func (s *Summary) Merge(later Summary) Summary {
	sum := Summary{Own: later.Own && (s.Own || s.Empty()), Left: s.Left + later.Left}
	known, closed := map[string]bool{}, map[string]bool{}
	for _, note := range later.Closed {
		closed[strings.ToLower(note)] = true
	}
	mine, added, into := s.sections(), later.sections(), sum.sections()
	for i := range into {
		for _, note := range append((*mine[i].notes)[:len(*mine[i].notes):len(*mine[i].notes)], *added[i].notes...) {
			folded := strings.ToLower(note)
			if known[folded] || into[i].notes == &sum.Open && closed[folded] {
				continue
			}
			known[folded] = true
			*into[i].notes = append(*into[i].notes, note)
		}
	}
	return sum
}

// Cut removes the first notes of the longest lists until the rest has at most this many tokens, and counts them.
func (s *Summary) Cut(most int) {
	for s.Tokens() > most && !s.Empty() {
		longest := s.sections()[0].notes
		for _, part := range s.sections() {
			if len(*part.notes) > len(*longest) {
				longest = part.notes
			}
		}
		removed := 1 + len(*longest)/8
		*longest = (*longest)[removed:]
		s.Left += removed
	}
}

// readSummary reads the summary of a compaction.
func readSummary(data json.RawMessage) (Summary, error) {
	var s Summary
	if len(data) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read a summary: %w", err)
	}
	return s, nil
}

// A summary has at most so many notes of so many bytes each.
const (
	notesLimit = 200
	noteLimit  = 2000
)

// parseSummary reads a model's reply: headings of any kind with one of the names, and lines below them.
// Everything in it is text. Lines before the first heading are no notes.
func parseSummary(reply string) Summary {
	var s Summary
	into, count := &s.unheaded, 0
	for line := range strings.Lines(strings.ToValidUTF8(reply, "\uFFFD")) {
		line = strings.TrimSpace(line)
		if to := s.sectionOf(line); to != nil {
			into = to
			continue
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "-*+•· \t"))
		if line == "" || count == notesLimit || strings.Trim(line, "`~") == "" || isEmptyNote(line) {
			continue
		}
		if len(line) > noteLimit {
			line = text.Prefix(line, noteLimit) + "…"
		}
		*into, count = append(*into, line), count+1
	}
	return s
}

// sectionOf returns the list of a heading; nil if the line is no heading.
func (s *Summary) sectionOf(line string) *[]string {
	name := strings.Trim(line, "*#:_ \t")
	if name == line && !strings.HasSuffix(line, ":") && strings.Contains(name, " ") {
		return nil
	}
	for _, part := range append(s.sections(), section{"Closed", &s.Closed}) {
		if strings.EqualFold(name, part.heading) || strings.EqualFold(name, part.heading+" items") {
			return part.notes
		}
	}
	return nil
}

// isEmptyNote reports whether a line only says that there are no notes.
func isEmptyNote(line string) bool {
	switch strings.ToLower(strings.Trim(line, ".() ")) {
	case "none", "nothing", "n/a", "-":
		return true
	}
	return false
}

// markFor returns a word that does not occur in the text. It depends on nothing but the text.
func markFor(enclosed string) string {
	seed := sha256.New()
	seed.Write([]byte(enclosed))
	return text.Mark(seed, func(mark string) bool { return strings.Contains(enclosed, mark) })
}
