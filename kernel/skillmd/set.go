package skillmd

import (
	"slices"
	"strings"

	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// Set holds the skills that were effective at one moment. It is immutable and safe for many
// goroutines. A nil Set is empty.
type Set struct {
	skills []*Skill // by name
}

// Skills returns the effective skills by name. The slice is the caller's.
func (s *Set) Skills() []*Skill {
	if s == nil {
		return nil
	}
	return slices.Clone(s.skills)
}

// Offered returns the skills that are offered to the model, by name. The slice is the caller's.
func (s *Set) Offered() []*Skill {
	return slices.DeleteFunc(s.Skills(), func(k *Skill) bool { return k.Matter.OnlyUser })
}

// commandLength is the maximum length of a command's name in characters.
const commandLength = 32

// Commands returns the skills that a person can call with /NAME, by name. The slice is the
// caller's.
func (s *Set) Commands() []*Skill {
	return slices.DeleteFunc(s.Skills(), func(k *Skill) bool { return !k.isCommand() })
}

// Command returns the skill that a person calls with that name, or nil.
func (s *Set) Command(name string) *Skill {
	if k := s.Named(name); k != nil && k.isCommand() {
		return k
	}
	return nil
}

// Summary returns the description on one line, short enough for a list of commands.
func (k *Skill) Summary() string { return text.PlainLine(k.Matter.Description, 100) }

func (k *Skill) isCommand() bool { return !k.Matter.NotUser && len(k.Name) <= commandLength }

// Named returns the skill with that name, or nil.
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

// Nearest returns the name of the offered skill that was probably meant, or "".
func (s *Set) Nearest(name string) string {
	var names []string
	for _, k := range s.Offered() {
		names = append(names, k.Name)
	}
	return suggest.Of(name, names)
}

// Catalog lists skills by name and description, one on each line, up to that many bytes. left is
// how many skills did not fit.
func Catalog(skills []*Skill, bytes int) (list string, left int) {
	size := 0
	for _, k := range skills {
		size += len(k.Name) + len(k.listed) + len("- : \n")
	}
	var b strings.Builder
	b.Grow(min(size, bytes))
	for i, k := range skills {
		line := "- " + k.Name + ": " + k.listed + "\n"
		if b.Len()+len(line) > bytes {
			return b.String(), len(skills) - i
		}
		b.WriteString(line)
	}
	return b.String(), 0
}
