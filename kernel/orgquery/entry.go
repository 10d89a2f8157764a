package orgquery

import (
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// Source is the text of a file.
type Source struct {
	Path string
	Text string
	// Sequences are the TODO keywords of a text that declares none, written like the values of
	// "#+TODO:". The default is TODO and DONE.
	Sequences []string
	// Held are the tags that the person has chosen for tasks of the agent, which no change sets.
	Held []string
}

// Entry is a heading with its own text, without the headings below it.
type Entry struct {
	*org.Heading
	File     string
	Above    []string // the titles of the headings above it, outermost first
	AllTags  []string // its own and inherited tags, each once
	Category string
	Done     bool   // its keyword is a done keyword
	Text     string // without the heading's line, the planning line and the drawer
	First    int    // offset of Text in the file
	Next     int    // offset of the next heading of any level
}

// File is a parsed text.
type File struct {
	Source
	Entries  []Entry // the entries that a model may see
	Done     map[string]bool
	Keywords []string // all TODO keywords, in order
	Starts   []string // the first keyword of each sequence
	document *org.Document

	judgement withheld.Judgement
}

// Read parses a text.
func Read(source Source) *File {
	d := org.ParseWith(source.Text, source.Sequences)
	f := &File{Source: source, document: d, judgement: withheld.Org(source.Path, source.Text), Done: map[string]bool{}}
	f.sequences()
	fileTags := f.tags()
	if slices.Contains(fileTags, "ARCHIVE") {
		return f
	}
	category, _ := d.Keyword("CATEGORY")
	if category == "" {
		category = strings.TrimSuffix(filepath.Base(source.Path), ".org")
	}
	type inherited struct {
		tags     []string
		above    []string
		category string
	}
	of := map[*org.Heading]inherited{nil: {tags: fileTags, category: category}}
	for i, h := range d.Headings {
		mine := of[h.Parent]
		next := len(d.Source)
		if i+1 < len(d.Headings) {
			next = d.Headings[i+1].Start
		}
		e := Entry{Heading: h, File: source.Path, Above: mine.above, Category: mine.category, Done: f.Done[h.Todo], First: min(h.Body, next), Next: next}
		e.Text = d.Source[e.First:next]
		if named, ok := h.Property("CATEGORY"); ok && named != "" {
			e.Category = named
		}
		e.AllTags = union(mine.tags, h.Tags)
		of[h] = inherited{e.AllTags, append(slices.Clip(mine.above), h.Title), e.Category}
		if !h.Hidden() && f.judgement.At(h.Start) == withheld.Shown {
			f.Entries = append(f.Entries, e)
		}
	}
	return f
}

// Headings returns all headings of the text, also those that a model may not see.
func (f *File) Headings() []*org.Heading { return f.document.Headings }

// Withholds reports whether the heading in a line of the text is withheld from models.
func (f *File) Withholds(line int) bool {
	return slices.ContainsFunc(f.document.Headings, func(h *org.Heading) bool {
		return h.Line == line && f.judgement.At(h.Start) > withheld.Shown
	})
}

// union returns the elements of both lists, each once.
func union(a, b []string) []string {
	all := slices.Clip(a)
	for _, tag := range b {
		if !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	return all
}

// tags returns the tags that apply to the whole file.
func (f *File) tags() []string {
	var tags []string
	for _, value := range f.document.KeywordValues("FILETAGS") {
		tags = union(tags, splitTags(value))
	}
	return tags
}

// splitTags splits the value of a line "#+FILETAGS:".
func splitTags(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' || r == '\t' })
}

// sequences reads the TODO keywords and which of them mean done.
func (f *File) sequences() {
	var lines []string
	for _, k := range f.document.Keywords {
		if k.Key == "TODO" || k.Key == "SEQ_TODO" || k.Key == "TYP_TODO" {
			lines = append(lines, k.Value)
		}
	}
	if len(lines) == 0 {
		lines = f.Sequences
	}
	if len(lines) == 0 {
		lines = []string{"TODO | DONE"}
	}
	for _, line := range lines {
		var words []string
		bar := -1
		for word := range strings.FieldsSeq(line) {
			if word == "|" {
				bar = len(words)
				continue
			}
			if word, _, _ = strings.Cut(word, "("); word != "" {
				words = append(words, word)
			}
		}
		if len(words) == 0 {
			continue
		}
		if bar < 0 {
			bar = len(words) - 1
		}
		for _, word := range words[bar:] {
			f.Done[word] = true
		}
		f.Keywords = append(f.Keywords, words...)
		f.Starts = append(f.Starts, words[0])
	}
}

// Planned parses a planning timestamp. ok is false for an inactive one.
func Planned(text string) (org.Timestamp, bool) {
	t, ok := org.ParseTimestamp(text)
	return t, ok && t.Active
}

// OwnID returns the entry's :ID:.
func (e Entry) OwnID() string { return e.Heading.ID() }
