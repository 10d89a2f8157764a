package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"org-agent/kernel/memory"
)

//go:embed memory_update.md
var memoryUpdateManual string

type memoryUpdateArguments struct {
	ID    string   `doc:"the id from memory_search" required:"true"`
	Title string   `doc:"its new heading (default: as it is, or made from a new :text that it does not fit)"`
	Text  string   `doc:"its new text"`
	Tags  []string `doc:"its new tags" seldom:"true"`
}

// changed returns the record after the change.
func (a memoryUpdateArguments) changed(s *memory.Store, r memory.Record) (memory.Record, error) {
	if a.Title == "" && a.Text == "" && a.Tags == nil {
		return r, errors.New("nothing is to be changed: give a :title, a :text or :tags")
	}
	return s.Clean(r.Changed(a.Title, a.Text, a.Tags))
}

func memoryUpdate(m Memory) Tool {
	return New(Definition[memoryUpdateArguments]{
		Name: "memory_update", Manual: memoryUpdateManual, Own: true,
		Offered: m.there,
		Preview: func(ctx context.Context, by *Caller, a memoryUpdateArguments) (Preview, error) {
			was, path, _, err := m.own(by, a.ID)
			if err != nil {
				return Preview{}, err
			}
			is, err := a.changed(m.Store, was)
			if err != nil {
				return Preview{}, err
			}
			return Preview{
				Summary: "Change what is kept: " + was.Title, File: path, Before: was.String(), After: is.String(),
				Effects: []string{"it changes a heading that the agent wrote, and can be taken back"},
			}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a memoryUpdateArguments) (string, error) {
			was, path, turn, err := m.own(by, a.ID)
			if err != nil {
				return "", err
			}
			is, err := a.changed(m.Store, was)
			if err != nil {
				return "", err
			}
			if _, err := m.Store.Update(ctx, turn, is); err != nil {
				return "", err
			}
			return fmt.Sprintf("Changed: %q [id %s], in %s.", is.Title, is.ID, path), nil
		},
	})
}
