package tool

import "org-agent/kernel/promptskill"

// World is what the built-in tools work with; all of it is required.
type World struct {
	// Skills returns the prompt skills that count now.
	Skills func() *promptskill.Set
}

// BuiltIn returns the tools that come with the program: this is the list of them.
func BuiltIn(w World) (*Registry, error) {
	return NewRegistry(
		askUser(),
		listSkills(w.Skills),
		useSkill(w.Skills),
	)
}
