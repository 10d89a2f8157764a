package files

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"org-agent/kernel/protocol"
)

// Tree is the files below a directory. Links are not followed, and nothing outside of the directory
// is reached, even if the directory changes meanwhile.
type Tree struct {
	Root string // resolved
	// All is true if directories that are usually skipped are searched too.
	All bool
	// Unread reports whether a file or a directory is always skipped. nil: none is.
	Unread func(path string) bool
	// Keys reports whether a file has keys by what it is: by another name of it, or by how it begins. A search of
	// texts skips it. nil: none has.
	Keys func(path string) bool
}

// skippedDirectories are skipped unless Tree.All is set: they contain nobody's own work, or too
// much.
var skippedDirectories = [...]string{".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".direnv", ".cache", ".tox", ".mypy_cache"}

// The limits of one walk.
const (
	walkEntries = 500_000
	walkDepth   = 64
)

// walk calls visit with every regular file until visit returns false. The names of a directory come
// in order. whole is false if a limit was reached.
func (t Tree) walk(ctx context.Context, visit func(in *os.Root, name, below string) (more bool)) (whole bool, err error) {
	info, err := os.Lstat(t.Root)
	if err != nil {
		return false, systemError(t.Root, err)
	}
	if !info.IsDir() {
		return false, protocol.ToolErrorf(protocol.ToolUnfit, "%s is no directory", t.Root)
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return false, systemError(t.Root, err)
	}
	opened, err := root.Stat(".")
	if err == nil {
		err = checkSame(t.Root, opened)
	}
	w := walker{tree: t, ctx: ctx, visit: visit, whole: true}
	if err != nil {
		root.Close() // nothing was written through it
		return false, err
	}
	w.directory(root, "", 0)
	if err := ctx.Err(); err != nil {
		return false, systemError(t.Root, err)
	}
	return w.whole, nil
}

type walker struct {
	tree    Tree
	ctx     context.Context
	visit   func(in *os.Root, name, below string) bool
	entries int
	stopped bool
	whole   bool // no limit was reached
}

// directory walks through a directory and closes it. An unreadable directory counts as empty,
// because most trees contain some.
func (w *walker) directory(root *os.Root, below string, depth int) {
	defer root.Close() // nothing is written in it
	file, err := root.Open(".")
	if err != nil {
		return
	}
	entries, _ := file.ReadDir(walkEntries - w.entries)
	file.Close() // the file was only read
	w.entries += len(entries)
	if w.entries >= walkEntries {
		w.whole = false
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if w.stopped || w.ctx.Err() != nil {
			return
		}
		name := below + e.Name()
		if w.tree.Unread != nil && w.tree.Unread(filepath.Join(w.tree.Root, name)) {
			continue
		}
		switch {
		case e.Type().IsRegular():
			w.stopped = !w.visit(root, e.Name(), name)
		case e.IsDir() && (w.tree.All || !slices.Contains(skippedDirectories[:], e.Name())):
			if depth == walkDepth || w.entries >= walkEntries {
				w.whole = false
				continue
			}
			if inner, err := root.OpenRoot(e.Name()); err == nil {
				w.directory(inner, name+"/", depth+1)
			}
		}
	}
}

// openIn opens a regular file of a directory. It does not block on a pipe that took the file's
// place.
func openIn(in *os.Root, name string) (*os.File, fs.FileInfo, error) {
	file, err := in.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		file.Close() // the file was only read
		return nil, nil, err
	}
	return file, info, nil
}
