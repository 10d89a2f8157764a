package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Prompt is a composed prompt and what it is made of.
type Prompt struct {
	Text string
	// Parts are all sections, in order, also those that are not in the text. The bytes of
	// those that are, and two for each blank line between two, are the bytes of the text.
	Parts []Part
	// Over is how many tokens more than the budget it is, since what is required takes so
	// much; 0 if it keeps to it.
	Over int
}

// Part is what became of a section.
type Part struct {
	Section
	// Text is the section as it stands in the prompt, with its heading; "" if it does not.
	Text string
	// Why it does not stand there.
	Why Why
	// Whole is how many bytes it would have been if it had not been cut, or 0 if it was not.
	Whole int
	// Source is the file of its template; "" if it came with the program.
	Source string
	// Hash is the beginning of the SHA-256 of Text, in hex.
	Hash string
	// Tokens is an estimate of how many tokens it is there.
	Tokens int
	body   string
}

// Why is why a section does not stand in a prompt.
type Why string

const (
	NotInMode Why = "not in this mode"
	NotInKind Why = "not for this kind of turn"
	Nothing   Why = "nothing to say"
	NoRoom    Why = "no room in the budget"
	LeftOut   Why = "left out by how the kernel was started"
)

// Bytes is the size of the section in the prompt.
func (p Part) Bytes() int { return len(p.Text) }

// Lines is how many lines it has there.
func (p Part) Lines() int {
	if p.Text == "" {
		return 0
	}
	return strings.Count(p.Text, "\n") + 1
}

// Compose returns the prompt that the facts make. It never fails, and the same facts make
// the same bytes.
func (l *Library) Compose(facts Facts) Prompt {
	if !slices.Contains(Modes(), facts.Mode) {
		facts.Mode = Full
	}
	if !slices.Contains(Kinds(), facts.Kind) {
		facts.Kind = Chat
	}
	values, offered := facts.values(), map[string]bool{}
	for _, t := range facts.Tools {
		offered[t.Name] = true
	}
	var p Prompt
	for _, s := range Sections() {
		part := Part{Section: s, Source: l.files[s.Name], Why: s.absent(&facts, values, offered)}
		if part.Why == "" {
			part.body = body(l.templates[s.Name].fill(values, offered))
			part.write(s.Most)
		}
		p.Parts = append(p.Parts, part)
	}
	if facts.Budget > 0 {
		p.fit(facts.Budget)
	}
	var texts []string
	for i := range p.Parts {
		if part := &p.Parts[i]; part.Text != "" {
			sum := sha256.Sum256([]byte(part.Text))
			part.Hash = hex.EncodeToString(sum[:6])
			texts = append(texts, part.Text)
		}
	}
	p.Text = strings.Join(texts, "\n\n")
	return p
}

// absent is why the section has no place, "" if it may have one.
func (s Section) absent(facts *Facts, values map[string]string, offered map[string]bool) Why {
	switch {
	case s.Name == safety && facts.WithoutSafety:
		return LeftOut
	case !slices.Contains(s.Modes, facts.Mode):
		return NotInMode
	case !slices.Contains(s.Kinds, facts.Kind):
		return NotInKind
	case s.Needs != nil && !slices.ContainsFunc(s.Needs, func(name string) bool { return values[name] != "" }),
		s.Tools != nil && !slices.ContainsFunc(s.Tools, func(name string) bool { return offered[name] }):
		return Nothing
	}
	return ""
}

// write makes the section's text of its body, at most so many tokens; 0 is no bound.
func (p *Part) write(most int) {
	heading := "* " + p.Title + " :" + string(p.Trust) + ":\n"
	text, cut := p.body, false
	if most > 0 {
		text, cut = shorten(p.body, most)
	}
	p.Text, p.Whole, p.Why = heading+text, 0, ""
	p.Tokens = Tokens(p.Text)
	if cut {
		p.Whole = len(heading) + len(p.body)
	}
	if text == "" {
		p.drop(Nothing)
	}
}

func (p *Part) drop(why Why) { p.Text, p.Tokens, p.Whole, p.Why = "", 0, 0, why }

// lineEnds makes all that ends a line the same.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n")

// body is a filled template as the body of a section: its headings are one level deeper, so
// that none is taken for a section's, and there is never more than one blank line.
func body(text string) string {
	if strings.ContainsAny(text, "\r\v\f") {
		text = lineEnds.Replace(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	blank := 0
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line = strings.TrimRight(line, " \t")
		if line == "" {
			blank++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n"[:1+min(blank, 1)])
		}
		blank = 0
		if stars := strings.TrimLeft(line, "*"); stars != line && strings.HasPrefix(stars, " ") {
			b.WriteByte('*')
		}
		b.WriteString(line)
	}
	return b.String()
}

// fit leaves out what is optional, then cuts what is preferred, from the last section on,
// until the prompt is within the budget or only what is required is left.
func (p *Prompt) fit(budget int) {
	over := func() int {
		total := 0
		for i := range p.Parts {
			total += p.Parts[i].Tokens
		}
		return total - budget
	}
	p.Over = over()
	for i := len(p.Parts) - 1; i >= 0 && p.Over > 0; i-- {
		if part := &p.Parts[i]; part.Text != "" && part.Tier == Optional {
			part.drop(NoRoom)
			p.Over = over()
		}
	}
	for i := len(p.Parts) - 1; i >= 0 && p.Over > 0; i-- {
		part := &p.Parts[i]
		if part.Text == "" || part.Tier != Preferred {
			continue
		}
		if room := part.Tokens - p.Over - headingTokens; room >= leastTokens {
			part.write(room)
		} else {
			part.drop(NoRoom)
		}
		p.Over = over()
	}
	p.Over = max(p.Over, 0)
}

// A section that is cut to less than leastTokens says too little to be worth its heading,
// which is about headingTokens.
const (
	leastTokens   = 60
	headingTokens = 10
)

// Title is the heading of a section as it stands in a prompt.
type Title struct {
	Title string
	Trust Trust
}

// Parse returns the headings of the sections in a composed prompt.
func Parse(text string) []Title {
	var titles []Title
	for line := range strings.SplitSeq(text, "\n") {
		heading, is := strings.CutPrefix(line, "* ")
		if title, tag, tagged := strings.Cut(heading, " :"); is && tagged {
			titles = append(titles, Title{title, Trust(strings.TrimSuffix(tag, ":"))})
		}
	}
	return titles
}
