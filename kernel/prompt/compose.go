package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Prompt is a composed prompt and its sections.
type Prompt struct {
	// Text is the prompt for models that write calls as text. See [Section] for Notation.
	Text string
	// Parts are all sections in their order, including those that are not in the text. The size of
	// the text is the sum of the others, plus two bytes for each blank line between two of them.
	Parts []Part
	// Over is the number of tokens by which the required sections exceed the budget, or 0.
	Over int
}

// Part is a section of a composed prompt, or a section that was left out.
type Part struct {
	Section
	// Text is the section in the prompt, with its heading, or "" if it was left out.
	Text string
	// Omission is why the section was left out, or "".
	Omission Omission
	// Whole is the size of a section before it was cut, in bytes, or 0 if it was not cut.
	Whole int
	// Source is the file of its template, or "" if it came with the program.
	Source string
	// Hash is the beginning of the SHA-256 of Text, in hex.
	Hash string
	// Tokens is an estimate of the size of the section in the prompt.
	Tokens int
	body   string
}

// Omission is the reason why a section was left out.
type Omission string

const (
	NotInMode Omission = "not in this mode"
	NotInKind Omission = "not for this kind of turn"
	Nothing   Omission = "nothing to say"
	NoRoom    Omission = "no room in the budget"
	LeftOut   Omission = "left out by how the kernel was started"
)

// Bytes returns the size of the section in the prompt.
func (p Part) Bytes() int { return len(p.Text) }

// Lines returns the number of lines of the section in the prompt.
func (p Part) Lines() int {
	if p.Text == "" {
		return 0
	}
	return strings.Count(p.Text, "\n") + 1
}

// Compose returns the prompt for the facts. It never fails, and the same facts make the same bytes.
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
	for _, s := range sections() {
		part := Part{Section: s, Source: l.files[s.Name], Omission: s.absent(&facts, values, offered)}
		if part.Omission == "" {
			part.body = body(l.templates[s.Name].fill(values, offered), s.Trust == Kernel)
			part.write(s.MaximumTokens)
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
			if part.Notation != "functions" {
				texts = append(texts, part.Text)
			}
		}
	}
	p.Text = strings.Join(texts, "\n\n")
	return p
}

// absent returns the reason why the facts leave the section out, or "" if they do not.
func (s Section) absent(facts *Facts, values map[string]string, offered map[string]bool) Omission {
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

// write makes the section's text from its body, with at most this many tokens. 0 means no bound.
func (p *Part) write(most int) {
	heading := "* " + p.Title + " :" + string(p.Trust) + ":\n"
	text, cut := p.body, false
	if most > 0 {
		text, cut = shorten(p.body, most)
	}
	p.Text, p.Whole, p.Omission = heading+text, 0, ""
	p.Tokens = Tokens(p.Text)
	if cut {
		p.Whole = len(heading) + len(p.body)
	}
	if text == "" {
		p.drop(Nothing)
	}
}

func (p *Part) drop(why Omission) { p.Text, p.Tokens, p.Whole, p.Omission = "", 0, 0, why }

// lineEnds replaces all line ends by newlines.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n")

// body returns a filled template as the body of a section. Its headings are one level deeper, so
// that none looks like that of a section, and it never has more than one blank line in a row. Unless the text is
// this program's own, its headings lose tags that say whose words stand below them.
func body(text string, own bool) string {
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
			if !own {
				line = untagged(line)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// trustTags are the tags of sections.
var trustTags = []string{string(Kernel), string(User), string(Skill), string(Data)}

// untagged returns a heading without the tags of sections.
func untagged(heading string) string {
	title, tags := heading, ""
	if at := strings.LastIndexAny(heading, " \t"); at >= 0 {
		title, tags = strings.TrimRight(heading[:at], " \t"), heading[at+1:]
	}
	if len(tags) < 3 || tags[0] != ':' || tags[len(tags)-1] != ':' {
		return heading
	}
	kept := slices.DeleteFunc(strings.Split(strings.Trim(tags, ":"), ":"), func(tag string) bool {
		return slices.ContainsFunc(trustTags, func(trust string) bool { return strings.EqualFold(tag, trust) })
	})
	if len(kept) == 0 {
		return title
	}
	return title + " :" + strings.Join(kept, ":") + ":"
}

// fit leaves out optional sections and then cuts preferred ones, the last first, until the prompt is
// within the budget or only required sections are left.
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

// A section is left out rather than cut to less than leastTokens. Its heading takes about
// headingTokens.
const (
	leastTokens   = 60
	headingTokens = 10
)

// Title is the heading of a section in a composed prompt.
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
