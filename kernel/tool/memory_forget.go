package tool

import (
	"context"
	_ "embed"
	"fmt"
)

//go:embed memory_forget.md
var memoryForgetManual string

type memoryForgetArguments struct {
	ID string `doc:"the id from memory_search" required:"true"`
}

func memoryForget(m Memory) Tool {
	return New(Definition[memoryForgetArguments]{
		Name: "memory_forget", Manual: memoryForgetManual, Own: true,
		Offered: m.there,
		Preview: func(ctx context.Context, by *Caller, a memoryForgetArguments) (Preview, error) {
			was, path, _, err := m.own(by, a.ID)
			if err != nil {
				return Preview{}, err
			}
			return Preview{
				Summary: "Forget what is kept: " + was.Title, File: path, Before: was.String(),
				Effects: []string{"it takes a heading away that the agent wrote, and can be taken back"},
			}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a memoryForgetArguments) (string, error) {
			was, path, turn, err := m.own(by, a.ID)
			if err != nil {
				return "", err
			}
			if _, err := m.Store.Forget(ctx, turn, was.ID); err != nil {
				return "", err
			}
			return fmt.Sprintf("Forgotten: %q, in %s.", was.Title, path), nil
		},
	})
}
