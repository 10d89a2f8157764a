package tool

import (
	"context"
	_ "embed"
	"fmt"

	"org-agent/kernel/files"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

//go:embed write.md
var writeManual string

type writeArguments struct {
	Path    string  `doc:"the file; a relative name begins in the home" required:"true"`
	Content *string `doc:"the complete content of the file" required:"true"`
	Hash    string  `doc:"for an existing file: the hash from read"`
}

// change returns the change that the call would make to the file.
func (a writeArguments) change(ctx context.Context) (files.Change, error) {
	c, err := files.Rewriting(ctx, a.Path, a.Hash, []byte(*a.Content))
	if err == nil && !c.New && string(c.Before) == *a.Content {
		err = errNoChange
	}
	if err == nil && !c.New {
		err = orgquery.CheckWithheld(c.Path, string(c.Before), *a.Content)
	}
	return c, err
}

func writeFile(f Files) Tool {
	return New(Definition[writeArguments]{
		Name: "write", Manual: writeManual, Offered: f.there,
		Reach: func(ctx context.Context, by *Caller, a *writeArguments) ([]protocol.Reach, error) {
			if err := by.judged(); err != nil {
				return nil, err
			}
			path, exists, err := files.Resolve(a.Path, f.Home)
			a.Path = path
			reach := []protocol.Reach{{Kind: protocol.ReachWrites, Path: path}}
			if !exists || err != nil {
				return setting(reach, path, "", *a.Content), err
			}
			reach = changes(path)
			if f.Unread == nil || !f.Unread(path) {
				before, err := files.Whole(ctx, path)
				if err != nil {
					before = nil // Perform reports the error
				}
				reach = setting(reach, path, string(before), *a.Content)
			}
			return reach, nil
		},
		Preview: func(ctx context.Context, by *Caller, a writeArguments) (Preview, error) {
			c, err := a.change(ctx)
			if err != nil {
				return Preview{}, err
			}
			if c.New {
				return f.preview("Write the new file", c, fmt.Sprintf("it makes a file of %d bytes", len(c.After))), nil
			}
			return f.preview("Write", c, fmt.Sprintf("it puts %d bytes in the place of all %d that are there", len(c.After), len(c.Before))), nil
		},
		Stale: func(ctx context.Context, by *Caller, a writeArguments) error {
			_, err := a.change(ctx)
			return f.stale(ctx, a.Path, a.Hash, err)
		},
		Change: func(ctx context.Context, by *Caller, a writeArguments) (string, files.Change, error) {
			c, err := a.change(ctx)
			if err == nil {
				err = c.Make()
			}
			return f.changed("Wrote", c), c, err
		},
	})
}
