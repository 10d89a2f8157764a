package skill

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/lisp"
)

// Entries describes everything that a note can use, chapter by chapter: the language and the
// functions of the kernel.
func Entries(ctx context.Context) ([]lisp.Entry, error) {
	offered, err := noteInterface()
	if err != nil {
		return nil, fmt.Errorf("offer the kernel's functions: %w", err)
	}
	environment, err := lisp.New(lisp.Config{Interface: offered})
	if err != nil {
		return nil, fmt.Errorf("make an environment: %w", err)
	}
	if err := environment.Load(ctx, objects, "objects.lisp", 1); err != nil {
		return nil, fmt.Errorf("make the object store: %w", err)
	}
	own, err := environment.Entries(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask what the kernel offers: %w", err)
	}
	for i := range own {
		own[i].Chapter = lisp.KernelChapter
		if own[i].Doc == "" && strings.Contains(own[i].Name, "org-object") {
			own[i].Doc = "Of the structure org-object, which the object store holds."
		}
	}
	return append(own, environment.Language().Entries()...), nil
}
