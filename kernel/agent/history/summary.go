package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"org-agent/kernel/prompt"
)

// Summary is what is noted of turns that are not shown any more. Each note is one line.
type Summary struct {
	Decisions []string `json:"decisions,omitempty"`
	Facts     []string `json:"facts,omitempty"`
	Open      []string `json:"open,omitempty"`
	Files     []string `json:"files,omitempty"`
	People    []string `json:"people,omitempty"`
	Other     []string `json:"other,omitempty"` // what the model put nowhere
	// Closed are the earlier open notes that are done; they are not kept.
	Closed []string `json:"-"`
	// Own: nothing that others may have written stood in any of the turns. The kernel says so,
	// no model does.
	Own bool `json:"own,omitempty"`
}

// section is one list of a summary, by the heading that it has.
type section struct {
	heading string
	notes   *[]string
}

func (s *Summary) sections() []section {
	return []section{
		{"Decisions", &s.Decisions},
		{"Facts", &s.Facts},
		{"Open", &s.Open},
		{"Files", &s.Files},
		{"People", &s.People},
		{"Other", &s.Other},
	}
}

// Empty reports whether nothing is noted.
func (s *Summary) Empty() bool {
	for _, part := range s.sections() {
		if len(*part.notes) > 0 {
			return false
		}
	}
	return true
}

// String is the summary as a model and people read it: headings and lists.
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

// Tokens estimates what the summary takes.
func (s *Summary) Tokens() int { return prompt.Tokens(s.String()) }

// With is the summary with what was noted after it. What stands there already is not added,
// and what is closed is open no more. The first of all is empty, and nobody else's.
func (s *Summary) With(later Summary) Summary {
	sum := Summary{Own: later.Own && (s.Own || s.Empty())}
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

// Cut leaves out the first notes of the longest lists until the rest takes so many tokens.
func (s *Summary) Cut(most int) {
	for s.Tokens() > most && !s.Empty() {
		longest := s.sections()[0].notes
		for _, part := range s.sections() {
			if len(*part.notes) > len(*longest) {
				longest = part.notes
			}
		}
		*longest = (*longest)[1+len(*longest)/8:]
	}
}

// ReadSummary reads what a digest holds.
func ReadSummary(data json.RawMessage) (Summary, error) {
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
	mostNotes = 200
	longNote  = 2000
)

// ParseSummary reads what a model wrote: headings of any kind with one of the names, and lines
// below them. Nothing in it is taken for anything but text; what has no heading is noted too.
func ParseSummary(text string) Summary {
	var s Summary
	into, count := &s.Other, 0
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = strings.TrimSpace(line)
		if to := s.named(line); to != nil {
			into = to
			continue
		}
		line = strings.TrimSpace(strings.TrimLeft(line, "-*+•· \t"))
		if line == "" || count == mostNotes || strings.Trim(line, "`~") == "" || isNothing(line) {
			continue
		}
		if len(line) > longNote {
			line = strings.ToValidUTF8(line[:longNote], "") + "…"
		}
		*into, count = append(*into, line), count+1
	}
	return s
}

// named is the list whose heading the line is, nil if it is none.
func (s *Summary) named(line string) *[]string {
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

// isNothing reports whether a line only says that there is nothing.
func isNothing(line string) bool {
	switch strings.ToLower(strings.Trim(line, ".() ")) {
	case "none", "nothing", "n/a", "-":
		return true
	}
	return false
}

// markFor is a word that does not stand in the text, and depends on nothing else.
func markFor(text string) string {
	hash := sha256.New()
	hash.Write([]byte(text))
	for {
		mark := hex.EncodeToString(hash.Sum(nil))[:8]
		if !strings.Contains(text, mark) {
			return mark
		}
		hash.Write([]byte(mark))
	}
}
