package promptskill

import (
	"slices"
	"strings"

	"org-agent/kernel/nearest"
)

// Set is what counted at one moment. It is immutable and safe for any number of goroutines; a
// nil Set is an empty one.
type Set struct {
	skills []*Skill // by name
}

// Skills returns the skills that count, by name. The slice is the caller's.
func (s *Set) Skills() []*Skill {
	if s == nil {
		return nil
	}
	return slices.Clone(s.skills)
}

// Offered returns the skills that the model is told of, by name. The slice is the caller's.
func (s *Set) Offered() []*Skill {
	return slices.DeleteFunc(s.Skills(), func(k *Skill) bool { return k.OnlyUser })
}

// Named returns the skill of that name, nil if there is none.
func (s *Set) Named(name string) *Skill {
	if s == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(s.skills, name, func(k *Skill, name string) int { return strings.Compare(k.Name, name) })
	if !found {
		return nil
	}
	return s.skills[i]
}

// Nearest returns the name of an offered skill that was probably meant, "" if none is near.
func (s *Set) Nearest(name string) string {
	var names []string
	for _, k := range s.Offered() {
		names = append(names, k.Name)
	}
	return nearest.Of(name, names)
}

// Catalog lists skills by name and description, a line each, as far as it fits into so many
// bytes, and says how many are left out.
func Catalog(skills []*Skill, bytes int) (list string, left int) {
	var b strings.Builder
	for i, k := range skills {
		line := "- " + k.Name + ": " + oneLine(k.Description, descriptionLength) + "\n"
		if b.Len()+len(line) > bytes {
			return b.String(), len(skills) - i
		}
		b.WriteString(line)
	}
	return b.String(), 0
}
