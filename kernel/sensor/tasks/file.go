package tasks

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

// sizeLimit is the size up to which a file is read whole. What is larger is no file of tasks.
const sizeLimit = 64 << 20

// File is the file with the tasks, and how it is changed.
type File struct {
	Path string // absolute
	// Editor is the person's Emacs.
	Editor Editor
	// Changed is called when the file was changed on the disk.
	Changed func(path string)
}

// Editor is an editor that may have unsaved changes of the file.
type Editor interface {
	// Unsaved returns the text of a buffer with unsaved changes. ok is false if there is none.
	Unsaved(ctx context.Context, path string) (text string, ok bool, err error)
	// Edit replaces a text that occurs once in the buffer.
	Edit(ctx context.Context, path, old, new string) error
}

// at returns another file that is changed in the same way.
func (f File) at(path string) File {
	f.Path = path
	return f
}

// read returns the text on the disk, with plain line ends. A file that does not exist has none, unless it must.
func (f File) read(must bool) (text string, err error) {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !must:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the tasks: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file: tasks are read from one", f.Path)
	case info.Size() > sizeLimit:
		return "", fmt.Errorf("%s has %d MB, more than the %d that are read: keep tasks in a file of their own", f.Path, info.Size()>>20, sizeLimit>>20)
	}
	content, err := os.ReadFile(f.Path)
	if err != nil {
		return "", fmt.Errorf("read the tasks: %w", err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n"), nil
}

// change replaces the text of the file by what make returns of it: in the buffer, if there is one with unsaved changes,
// and else on the disk. The error is [atomicfile.ErrChanged] if the file was changed meanwhile.
func (f File) change(ctx context.Context, make func(text string) (string, error)) error {
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
		return fmt.Errorf("read the tasks: %w", err)
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
		return fmt.Errorf("write the tasks: %w", err)
	}
	if f.Changed != nil {
		f.Changed(f.Path)
	}
	return nil
}
