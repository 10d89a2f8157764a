package tool

import (
	"context"
	_ "embed"
	"fmt"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

//go:embed edit.md
var editManual string

type editArguments struct {
	Path string  `doc:"the file; a relative name begins in the home" required:"true"`
	Old  string  `doc:"the text to replace, character for character, without line numbers" required:"true"`
	New  *string `doc:"the new text" required:"true"`
	All  bool    `doc:"replace every occurrence"`
	Hash string  `doc:"the hash from read: the edit is refused if the file has changed since; without it, if the file has changed since the call"`
}

func editFile(f Files) Tool {
	change := func(ctx context.Context, a editArguments) (files.Change, int, error) {
		return files.Editing(ctx, a.Path, a.Hash, a.Old, *a.New, a.All)
	}
	return New(Definition[editArguments]{
		Name: "edit", Manual: editManual, Offered: f.there,
		Reach: func(ctx context.Context, by *Caller, a *editArguments) ([]protocol.Reach, error) {
			if _, err := f.reach(by, protocol.ReachWrites, &a.Path); err != nil {
				return nil, err
			}
			reach := changes(a.Path)
			if f.Unread != nil && f.Unread(a.Path) {
				return reach, nil
			}
			if a.Hash == "" {
				// The hash ties the judgement and the approval to this text. A later version of the
				// file needs a new call.
				if text, err := files.Whole(ctx, a.Path); err == nil { // Perform reports the error
					a.Hash = files.Hash(text)
				}
			}
			if c, _, err := change(ctx, *a); err == nil {
				reach = setting(reach, a.Path, string(c.Before), string(c.After))
			}
			return reach, nil
		},
		Preview: func(ctx context.Context, by *Caller, a editArguments) (Preview, error) {
			c, count, err := change(ctx, a)
			if err != nil {
				return Preview{}, err
			}
			return f.preview("Edit", c, fmt.Sprintf("it replaces a text in %s", times(count, "place"))), nil
		},
		Change: func(ctx context.Context, by *Caller, a editArguments) (string, files.Change, error) {
			c, count, err := change(ctx, a)
			if err == nil {
				err = c.Make()
			}
			return f.changed("Replaced "+times(count, "place")+" in", c), c, err
		},
	})
}

// times returns a number with its noun.
func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
