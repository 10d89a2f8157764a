package skill

import (
	"slices"
	"strings"

	"org-agent/kernel/org"
)

// dependency is a note or skill that a note says it needs.
type dependency struct {
	name string // as written
	id   bool   // the name is an Org id
	line int
}

// scanDependencies reads the #+DEPENDS_ON lines, and the ids by which other notes can name this
// one. A line holds names of notes or skills, or id: links, separated by blanks or commas.
func (n *Note) scanDependencies(doc *org.Document) {
	for _, keyword := range doc.Keywords {
		if keyword.Key != "DEPENDS_ON" {
			continue
		}
		for _, word := range dependencyWords(keyword.Value) {
			id, found := strings.CutPrefix(word, "id:")
			n.dependencies = append(n.dependencies, dependency{name: id, id: found, line: keyword.Line})
		}
	}
	for _, property := range doc.Properties {
		if strings.EqualFold(property.Key, "ID") && property.Value != "" {
			n.ids = append(n.ids, property.Value)
		}
	}
	for _, heading := range doc.Headings {
		if id := heading.ID(); id != "" {
			n.ids = append(n.ids, id)
		}
	}
}

// dependencyWords splits the value into words. A link is its target.
func dependencyWords(value string) []string {
	var words []string
	for value != "" {
		before, rest, found := strings.Cut(value, "[[")
		words = append(words, strings.FieldsFunc(before, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })...)
		if !found {
			break
		}
		link, after, _ := strings.Cut(rest, "]]")
		target, _, _ := strings.Cut(link, "][")
		words = append(words, target)
		value = after
	}
	return words
}

// canonical returns the form in which names of notes and skills are compared.
func canonical(name string) string {
	name = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "file:"), ":"))
	return shortName(noteKey(name[strings.LastIndexByte(name, '/')+1:]))
}

// answersTo reports whether the dependency names this note.
func (n *Note) answersTo(d dependency) bool {
	if d.id {
		return slices.Contains(n.ids, d.name)
	}
	name := canonical(d.name)
	return canonical(n.key) == name ||
		slices.ContainsFunc(n.skills, func(k *Skill) bool { return canonical(k.Name) == name })
}
