package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/org"
	"org-agent/kernel/text"
)

// Record is one entry of the memory: a heading with the text below it, up to the next heading. A
// record that the agent wrote is its own as long as nobody changes it.
type Record struct {
	ID    string // "" for a person's heading that has none
	Title string // one line
	Text  string // below the heading, without drawers
	Tags  []string
	// Scope is the only conversation or group in which the agent may mention it. "" means wherever
	// the person is alone with the agent.
	Scope string
	// Source is the turn in which it was made, as "SESSION#ID", or "".
	Source  string
	Created time.Time // zero if not known
	// Own is true if the agent wrote it and nobody has changed it.
	Own  bool
	Line int // of the heading, from 1
	// Start and End are the offsets of the heading and of what follows its text.
	Start, End int
}

// The properties of a record's heading.
const (
	propertyCreated = "CREATED"
	propertyScope   = "SCOPE"
	propertySource  = "SOURCE"
	propertyAgent   = "AGENT" // the beginning of a hash of what the agent wrote
)

// The limits of what the agent stores. A person's headings have none.
const (
	titleLimit = 120    // characters that are seen
	textLimit  = 16_000 // bytes
	tagLimit   = 12     // tags
	created    = "[2006-01-02 Mon 15:04]"
)

// The errors of a change to a file.
var (
	ErrNotFound = errors.New("there is no such record")
	ErrNotOwn   = errors.New("somebody wrote or changed it by hand: it is theirs, and only they change it")
	ErrHolds    = errors.New("somebody put headings below it: it stays")
)

// parseRecords returns the records of an Org text in their order: every heading that is not
// commented out or archived. Times without a zone are local.
func parseRecords(text string, place *time.Location) []Record {
	d := org.Parse(text)
	records := make([]Record, 0, len(d.Headings))
	for i, h := range d.Headings {
		if h.Hidden() {
			continue
		}
		end := len(text)
		if i+1 < len(d.Headings) {
			end = d.Headings[i+1].Start
		}
		records = append(records, recordOf(text, h, end, place))
	}
	return records
}

func recordOf(text string, h *org.Heading, end int, place *time.Location) Record {
	value := func(name string) string {
		v, _ := h.Property(name)
		return strings.TrimSpace(v)
	}
	r := Record{
		ID: h.ID(), Title: h.Title, Text: strings.Trim(text[min(h.Body, end):end], "\n"), Tags: slices.Clone(h.Tags),
		Scope: value(propertyScope), Source: value(propertySource), Line: h.Line, Start: h.Start, End: end,
	}
	if at, err := time.ParseInLocation(created, value(propertyCreated), place); err == nil {
		r.Created = at
	}
	if mark := value(propertyAgent); mark != "" && r.ID != "" {
		r.Own = mark == r.mark() && h.Level == 1 && strings.TrimRight(text[h.Start:end], "\n") == strings.TrimRight(r.String(), "\n")
	}
	return r
}

// mark returns the value of AGENT for a record, by which the agent recognises its own text.
func (r Record) mark() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{r.ID, r.Title, strings.Join(r.Tags, ":"), r.Scope, r.Source, r.Text}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Changed returns the record with another title, text and tags. What is empty stays. A title that says what the
// text said goes with it: if a text comes without a title, the old one stays only if none of it is out of date.
// It is out of date where it is all that the record says, or has a word of the old text that the new one does
// not have.
func (r Record) Changed(title, text string, tags []string) Record {
	if text != "" && title == "" && (strings.TrimSpace(r.Text) == "" || outdated(r.Title, r.Text, text)) {
		r.Title = ""
	}
	if title != "" {
		r.Title = title
	}
	if text != "" {
		r.Text = text
	}
	if tags != nil {
		r.Tags = tags
	}
	return r
}

// outdated reports whether a title has a word of the old text that is not in the new one.
func outdated(title, old, text string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	}
	had, has := words(old), words(text)
	return slices.ContainsFunc(words(title), func(w string) bool { return slices.Contains(had, w) && !slices.Contains(has, w) })
}

// Clean returns the record in a form that the agent may write: the title is one line, the text is
// inert and without headings, and the tags are words. A tag by which headings have the agent do something is left out;
// held are those that the person has chosen. The error names what it does not accept.
func (r Record) Clean(held ...string) (Record, error) {
	if r.Title = plainTitle(r.Title); r.Title == "" {
		r.Title, r.Text = splitTitle(strings.TrimSpace(r.Text))
		r.Title = plainTitle(r.Title)
	}
	r.Text = plainText(r.Text, held)
	var tags []string
	for _, tag := range r.Tags {
		if tag = plainTag(tag); tag != "" && !org.TagWakes(tag, held...) && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	r.Tags = tags
	r.Scope, r.Source = text.Line(r.Scope), text.Line(r.Source)
	// What makes a title inert is not counted: a record that was taken once is taken again.
	seen := utf8.RuneCountInString(strings.ReplaceAll(r.Title, invisible, ""))
	switch {
	case r.Title == "":
		return r, errors.New("there is nothing to keep: give a text")
	case seen > titleLimit, utf8.RuneCountInString(r.Title) > 2*titleLimit:
		return r, fmt.Errorf("the title is longer than %d characters; put the rest into the text", titleLimit)
	case len(r.Text) > textLimit:
		return r, fmt.Errorf("the text is %d bytes, and at most %d are kept in one record; keep what matters, or put it into a file of its own", len(r.Text), textLimit)
	case len(r.Tags) > tagLimit:
		return r, fmt.Errorf("there are %d tags, and at most %d are kept", len(r.Tags), tagLimit)
	}
	return r, nil
}

// String returns the record as the agent writes it.
func (r Record) String() string {
	var b strings.Builder
	b.WriteString("* " + r.Title)
	if len(r.Tags) > 0 {
		b.WriteString(" :" + strings.Join(r.Tags, ":") + ":")
	}
	b.WriteString("\n:PROPERTIES:\n")
	property := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", ":"+name+":", value)
		}
	}
	property("ID", r.ID)
	if !r.Created.IsZero() {
		property(propertyCreated, r.Created.Format(created))
	}
	property(propertyScope, r.Scope)
	property(propertySource, r.Source)
	property(propertyAgent, r.mark())
	b.WriteString(":END:\n")
	if r.Text != "" {
		b.WriteString(r.Text + "\n")
	}
	return b.String()
}

// addRecord returns the text with the record at its end; the text before it stays as it is.
func addRecord(text string, r Record) string { return add(text, r.String()) }

func add(text, record string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + record
}

// source returns the record from the text that it was parsed from, without the blank lines after
// it.
func (r Record) source(text string) string {
	return strings.TrimRight(text[r.Start:r.End], "\n") + "\n"
}

// updateRecord returns the text with r in place of the agent's own record with the same ID, and the
// former record. The time of creation stays.
func updateRecord(text string, r Record, place *time.Location) (after string, was Record, err error) {
	was, err = own(text, r.ID, place)
	if err != nil {
		return text, was, err
	}
	r.Created = was.Created
	return text[:was.Start] + withEnding(r.String(), text[was.Start:was.End]) + text[was.End:], was, nil
}

// removeRecord returns the text without the agent's own record with the ID, and that record.
func removeRecord(text, id string, place *time.Location) (after string, was Record, err error) {
	was, err = own(text, id, place)
	if err != nil {
		return text, was, err
	}
	if d := org.Parse(text[was.End:]); len(d.Headings) > 0 && d.Headings[0].Level > 1 {
		return text, was, ErrHolds
	}
	return text[:was.Start] + text[was.End:], was, nil
}

// withEnding returns text with the blank lines at its end that the former text had.
func withEnding(text, before string) string {
	return text + before[len(strings.TrimRight(before, "\n"))+min(1, strings.Count(before, "\n")):]
}

// own returns the agent's own record with an ID.
func own(text, id string, place *time.Location) (Record, error) {
	found := Record{}
	for _, r := range parseRecords(text, place) {
		switch {
		case r.ID != id || id == "":
		case found.ID != "":
			return found, ErrNotOwn // somebody copied it, so the ID does not identify a record
		default:
			found = r
		}
	}
	switch {
	case found.ID == "":
		return found, ErrNotFound
	case !found.Own:
		return found, ErrNotOwn
	}
	return found, nil
}

// invisible is the zero-width space that makes a line inert. All text from outside gets it.
const invisible = "\u200b"

// plainTitle returns a text as the title of a heading: one line, without a keyword, a priority, a
// timestamp or tags of Org.
func plainTitle(text string) string {
	title := strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	title = strings.TrimLeft(title, "* ")
	converted := org.MarkdownToOrg("# " + title)
	if made, is := strings.CutPrefix(strings.TrimRight(converted, "\n"), "* "); is && !strings.Contains(made, "\n") {
		title = made
	}
	if h := org.Parse("* " + title).Headings[0]; h.Title != title {
		title = invisible + title
		if strings.HasSuffix(title, ":") {
			title += invisible
		}
	}
	return title
}

// plainText returns a text as the body of a heading: inert, and without headings.
func plainText(text string, held []string) string {
	var b strings.Builder
	for line := range strings.Lines(org.Inert(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), held...)) {
		if stars := strings.TrimLeft(line, "*"); stars != line && strings.HasPrefix(stars, " ") {
			line = "-" + stars
		}
		b.WriteString(line)
	}
	return strings.Trim(b.String(), "\n")
}

// splitTitle takes the title from a text without one: its first line, or the beginning of it.
func splitTitle(text string) (title, rest string) {
	line, rest, _ := strings.Cut(text, "\n")
	if utf8.RuneCountInString(line) <= titleLimit {
		return line, rest
	}
	short := string([]rune(line)[:titleLimit/2])
	if space := strings.LastIndexByte(short, ' '); space > 0 {
		short = short[:space]
	}
	return short + "…", text
}

// plainTag returns a word as a tag.
func plainTag(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_@#%", c):
			return c
		case c == ' ' || c == '-':
			return '_'
		}
		return -1
	}, strings.TrimSpace(text))
}
