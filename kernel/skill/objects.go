package skill

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/org"
)

//go:embed objects.lisp
var objects string

// objectNames are names that show that a note uses the object store.
var objectNames = []string{"org-object", "object-store", "*memory*", "-memory", "lookup-object", "list-objects", "*history-store*"}

// namesObjects reports whether code contains one of the names, in any case. Each name contains a -
// or a *, so only those places of the code are searched.
func namesObjects(code string) bool {
	for at := 0; ; at++ {
		next := strings.IndexAny(code[at:], "-*")
		if next < 0 {
			return false
		}
		at += next
		for _, name := range objectNames {
			start := at - strings.IndexByte(name, code[at])
			if start >= 0 && start <= at && start+len(name) <= len(code) && strings.EqualFold(code[start:start+len(name)], name) {
				return true
			}
		}
	}
}

// loadObjects adds the object store to the note if its code names any part of it.
func (n *Note) loadObjects(ctx context.Context) error {
	if !slices.ContainsFunc(n.blocks, func(b org.SkillBlock) bool { return namesObjects(b.Body) }) {
		return nil
	}
	if err := n.environment.For(&invocation{purpose: purposeLoad}).Load(ctx, objects, "objects.lisp", 1); err != nil {
		return fmt.Errorf("make the object store: %w", err)
	}
	return nil
}
