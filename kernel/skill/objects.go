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

// objectNames are what tells that a note uses the object store.
var objectNames = []string{"org-object", "object-store", "*memory*", "-memory", "lookup-object", "list-objects", "*history-store*"}

// loadObjects gives the note the object store, if its code names any part of it.
func (n *Note) loadObjects(ctx context.Context) error {
	uses := slices.ContainsFunc(n.blocks, func(b org.SkillBlock) bool {
		body := strings.ToLower(b.Body)
		return slices.ContainsFunc(objectNames, func(name string) bool { return strings.Contains(body, name) })
	})
	if !uses {
		return nil
	}
	if err := n.environment.Load(ctx, objects, "objects.lisp", 1); err != nil {
		return fmt.Errorf("make the object store: %w", err)
	}
	return nil
}
