package tool

import (
	"context"
	_ "embed"
	"fmt"

	"org-agent/kernel/files"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

//go:embed edit.md
var editManual string

type editArguments struct {
	Path string  `doc:"the file; a relative name begins in the home" required:"true"`
	Old  string  `doc:"the text to replace, character for character, without line numbers" required:"true"`
	New  *string `doc:"the new text" required:"true"`
	All  bool    `doc:"replace every occurrence"`
	Hash string  `doc:"the hash from read: the edit is refused if the file has changed since; without it, if the file has changed since the call" seldom:"true"`
}

// editor changes files, on the disk or in the Emacs that has them.
type editor struct {
	Files
	emacs Emacs // nil: there is none
}

// fileEdit is what a call of edit would do now.
type fileEdit struct {
	files.Change
	count    int  // of the places
	inEmacs  bool // a buffer with unsaved changes visits the file: it is changed there
	judgedBy string
}

// editing returns what a call would do. A text that an Emacs has and that is not saved is changed in its buffer,
// for a person who is alone with the agent.
func (n editor) editing(ctx context.Context, by *Caller, a editArguments) (e fileEdit, err error) {
	before, live := n.unsaved(ctx, by, a.Path)
	if !live {
		e.Change, e.count, err = files.Editing(ctx, a.Path, a.Hash, a.Old, *a.New, a.All)
		e.judgedBy = files.Hash(e.Before)
		return e, err
	}
	e.inEmacs, e.judgedBy = true, files.Hash(before)
	if a.Hash != "" && a.Hash != e.judgedBy {
		if saved, err := files.Whole(ctx, a.Path); err != nil || a.Hash != files.Hash(saved) {
			return e, protocol.ToolErrorf(protocol.ToolChanged, "%s is not what it was, neither on the disk nor in Emacs: read it again", n.short(a.Path))
		}
	}
	e.Change, e.count, err = files.Replacing(a.Path, before, a.Old, *a.New, a.All)
	return e, err
}

// unsaved returns the text of a file that an Emacs has and that is not saved.
func (n editor) unsaved(ctx context.Context, by *Caller, path string) (text []byte, live bool) {
	if n.emacs == nil || !files.Unsaved(path) || by.alone() != nil {
		return nil, false
	}
	has, err := n.emacs.Notes(ctx, by.Conversation, protocol.EmacsNotesParams{File: path})
	if err != nil || len(has.Unsaved) != 1 || has.Unsaved[0].File != path {
		return nil, false // what changes the file says what is in the way
	}
	return []byte(has.Unsaved[0].Text), true
}

func editFile(f Files, emacs Emacs) Tool {
	n := editor{f, emacs}
	return New(Definition[editArguments]{
		Name: "edit", Manual: editManual, Offered: n.there,
		Reach: func(ctx context.Context, by *Caller, a *editArguments) ([]protocol.Reach, error) {
			if _, err := n.reach(by, protocol.ReachWrites, &a.Path); err != nil {
				return nil, err
			}
			reach := changes(a.Path)
			if n.Unread != nil && n.Unread(a.Path) {
				return reach, nil
			}
			// The hash ties the judgement and the approval to this text. A later version of the file
			// needs a new call. Perform reports an error.
			e, err := n.editing(ctx, by, *a)
			switch {
			case e.inEmacs && err == nil:
				a.Hash = e.judgedBy
			case a.Hash == "":
				if text, err := files.Whole(ctx, a.Path); err == nil {
					a.Hash = files.Hash(text)
				}
			}
			if err == nil {
				reach = setting(reach, a.Path, string(e.Before), string(e.After))
			}
			return reach, nil
		},
		Preview: func(ctx context.Context, by *Caller, a editArguments) (Preview, error) {
			e, err := n.editing(ctx, by, a)
			if err != nil {
				return Preview{}, err
			}
			effects := []string{fmt.Sprintf("it replaces a text in %s", times(e.count, "place"))}
			if e.inEmacs {
				effects = append(effects, inBuffer)
			}
			return n.preview("Edit", e.Change, effects...), nil
		},
		Stale: func(ctx context.Context, by *Caller, a editArguments) error {
			e, err := n.editing(ctx, by, a)
			if e.inEmacs {
				return n.staleIn(e.Before, a.Path, a.Hash, err)
			}
			return n.stale(ctx, a.Path, a.Hash, err)
		},
		Change: func(ctx context.Context, by *Caller, a editArguments) (string, files.Change, error) {
			e, err := n.editing(ctx, by, a)
			switch {
			case err != nil:
				return "", e.Change, err
			case !e.inEmacs:
				err = e.Make()
				return n.changed("Replaced "+times(e.count, "place")+" in", e.Change), e.Change, err
			}
			if e.judgedBy != a.Hash {
				return "", e.Change, protocol.ToolErrorf(protocol.ToolChanged, "%s is not what it was in Emacs when this was judged: read it again", n.short(a.Path))
			}
			old, new := orgquery.Narrow(string(e.Before), string(e.After))
			receipt, err := n.emacs.Edit(ctx, by.Conversation, a.Path, old, new)
			text := fmt.Sprintf("Replaced %s in the buffer of Emacs that has %s", times(e.count, "place"), n.short(a.Path))
			if !receipt.Saved {
				text += "; the buffer had unsaved work and is not saved"
			}
			return text + ".", e.Change, err
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
