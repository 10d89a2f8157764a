// Package openfile changes a file of a person's which they may have open in an editor.
//
// Ownership: the file is the person's. A change is made of the text as it is at that moment, in the buffer if it has
// unsaved changes and else on the disk, and only if nobody changed it meanwhile. Blocking: a change waits for the editor's
// answer, for as long as the editor's own limit says. Ordering: the caller makes one change of a file after the other.
package openfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/orgquery"
)

// File is a file, and how it is changed.
type File struct {
	Path string // absolute
	// Editor is the person's Emacs. nil: there is none.
	Editor Editor
	// Changed is called when the file was changed on the disk. It may be nil.
	Changed func(path string)
}

// Editor is an editor that may have unsaved changes of the file.
type Editor interface {
	// Unsaved returns the text of a buffer with unsaved changes. ok is false if there is none.
	Unsaved(ctx context.Context, path string) (text string, ok bool, err error)
	// Edit replaces a text that occurs once in the buffer.
	Edit(ctx context.Context, path, old, new string) error
}

// At returns another file that is changed in the same way.
func (f File) At(path string) File {
	f.Path = path
	return f
}

// Change replaces the text of the file by what make returns of it: in the buffer, if there is one with unsaved changes,
// and else on the disk. make sees plain line ends, and the file keeps its own. A file that does not exist has no text. The
// error is [atomicfile.ErrChanged] if the file was changed meanwhile, and that of make if there is one.
func (f File) Change(ctx context.Context, make func(text string) (string, error)) error {
	if f.Editor != nil {
		text, unsaved, err := f.Editor.Unsaved(ctx, f.Path)
		if err != nil {
			return fmt.Errorf("ask Emacs for the text of %s: %w", f.Path, err)
		}
		if unsaved {
			after, err := make(text)
			if err != nil || after == text {
				return err
			}
			old, new := orgquery.Narrow(text, after)
			return f.Editor.Edit(ctx, f.Path, old, new)
		}
	}
	content, err := os.ReadFile(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read a file to change it: %w", err)
	}
	before := string(content)
	returns := strings.Count(before, "\r\n")
	text := before
	if returns > 0 && returns == strings.Count(before, "\n") {
		text = strings.ReplaceAll(before, "\r\n", "\n")
	}
	after, err := make(text)
	if err != nil || after == text {
		return err
	}
	if text != before {
		after = strings.ReplaceAll(after, "\n", "\r\n")
	}
	if err := atomicfile.Replace(f.Path, content, []byte(after), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	if f.Changed != nil {
		f.Changed(f.Path)
	}
	return nil
}
