package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/protocol"
)

// Change is a change of a file. It is not made before [Change.Make].
type Change struct {
	Path          string
	Before, After []byte
	New           bool // the file does not exist yet
}

// Rewriting returns the change that gives a file this content. An existing file must have the hash.
// Without a hash the file must not exist.
func Rewriting(ctx context.Context, path, hash string, content []byte) (Change, error) {
	c := Change{Path: path, After: content}
	if len(content) > maximumChanged {
		return c, protocol.ToolErrorf(protocol.ToolTooLarge, "the content has %d bytes; files of more than %d MiB are not written here", len(content), maximumChanged>>20)
	}
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && hash == "":
		c.New = true
		_, err := missingDirectories(path)
		return c, err
	case errors.Is(err, fs.ErrNotExist):
		return c, protocol.ToolErrorf(protocol.ToolNotFound, "there is no file %s any more; write it without :hash if it is to be made again", path)
	case err != nil:
		return c, systemError(path, err)
	}
	if c.Before, err = Whole(ctx, path); err != nil {
		return c, err
	}
	if hash == "" {
		return c, protocol.ToolErrorf(protocol.ToolExists, "%s is there already: read it, and give the :hash that read tells if all of it is to be replaced; edit changes a part", path)
	}
	if now := Hash(c.Before); now != hash {
		return c, protocol.ToolErrorf(protocol.ToolChanged, "%s is not what it was: its hash is %s and not %s; read it again", path, now, hash)
	}
	return c, changeable(path)
}

// Editing returns the change that replaces a text by another, and the number of replacements. The
// text must occur exactly once or, if all is true, at least once.
func Editing(ctx context.Context, path, hash, old, new string, all bool) (Change, int, error) {
	before, err := Whole(ctx, path)
	if err != nil {
		return Change{Path: path}, 0, err
	}
	if now := Hash(before); hash != "" && now != hash {
		return Change{Path: path}, 0, protocol.ToolErrorf(protocol.ToolChanged, "%s is not what it was: its hash is %s and not %s; read it again", path, now, hash)
	}
	c, count, err := Replacing(path, before, old, new, all)
	if err != nil {
		return c, 0, err
	}
	return c, count, changeable(path)
}

// Replacing returns the change that [Editing] makes to a text that an editor has of the file.
func Replacing(path string, before []byte, old, new string, all bool) (c Change, count int, err error) {
	c = Change{Path: path, Before: before}
	c.After, count, err = replaceText(path, before, old, new, all)
	return c, count, err
}

// changeable returns why an existing file cannot be changed, or nil.
func changeable(path string) error {
	if Unsaved(path) {
		return protocol.ToolErrorf(protocol.ToolChanged, "an Emacs has changes of %s that are not saved: ask the person to save it", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return systemError(path, err)
	}
	if info.Mode().Perm()&0o222 == 0 {
		return protocol.ToolErrorf(protocol.ToolDenied, "%s is read-only: the person has to make it writable", path)
	}
	return nil
}

// Directories returns the directories that [Change.Make] makes, the outermost first.
func (c Change) Directories() []string {
	if !c.New {
		return nil
	}
	missing, _ := missingDirectories(c.Path) // the error was reported when the change was built
	return missing
}

// missingDirectories returns the directories above a file that do not exist.
func missingDirectories(path string) ([]string, error) {
	var missing []string
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append([]string{at}, missing...)
			continue
		case err != nil:
			return nil, systemError(at, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, protocol.ToolErrorf(protocol.ToolChanged, "%s has become a link; make the call again", at)
		case !info.IsDir():
			return nil, protocol.ToolErrorf(protocol.ToolUnfit, "%s is no directory, so no file is made in it", at)
		}
		return missing, nil
	}
}

// Make makes the change completely or not at all. It fails if the file has changed since. It
// follows no link, neither in the file's place nor above it. When Make returns, the change is on
// the disk.
func (c Change) Make() error {
	for _, directory := range c.Directories() {
		if err := os.Mkdir(directory, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return systemError(directory, err)
		}
	}
	at := filepath.Dir(c.Path)
	if real, err := filepath.EvalSymlinks(at); err != nil || real != at {
		return protocol.ToolErrorf(protocol.ToolChanged, "%s leads to another file than it did when that was judged; make the call again", c.Path)
	}
	if c.New {
		err := atomicfile.Create(c.Path, c.After, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return protocol.ToolErrorf(protocol.ToolExists, "%s was made by somebody else meanwhile: read it", c.Path)
		}
		return changed(c.Path, err)
	}
	info, err := os.Lstat(c.Path)
	if err != nil {
		return systemError(c.Path, err)
	}
	if err := regular(c.Path, info.Mode()); err != nil {
		return err
	}
	return changed(c.Path, atomicfile.Replace(c.Path, c.Before, c.After, info.Mode().Perm()))
}

func changed(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, atomicfile.ErrChanged):
		return protocol.ToolErrorf(protocol.ToolChanged, "%s was changed by somebody else meanwhile and stays as it is: read it again", path)
	}
	return systemError(path, err)
}
