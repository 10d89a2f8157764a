package files

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Found is a file below a directory.
type Found struct {
	Name     string // relative to the directory
	Size     int64
	Modified time.Time
}

// Find returns at most limit files that match, the latest first. total is the number of matching
// files. whole is false if there are more files than the limit of one walk.
func (t Tree) Find(ctx context.Context, pattern Pattern, limit int) (found []Found, total int, whole bool, err error) {
	newest := func() {
		slices.SortFunc(found, func(a, b Found) int {
			return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Name, b.Name))
		})
		found = found[:min(len(found), limit)]
	}
	whole, err = t.walk(ctx, func(in *os.Root, name, below string) bool {
		if !pattern.Matches(below) {
			return true
		}
		info, err := in.Lstat(name)
		if err != nil {
			return true // it no longer exists
		}
		total++
		found = append(found, Found{Name: below, Size: info.Size(), Modified: info.ModTime()})
		if len(found) >= 8*limit {
			newest()
		}
		return true
	})
	newest()
	return found, total, whole, err
}

// Listed lists a directory. Directories end in / and links in @. left is how many entries beyond
// limit there are.
func Listed(path string, limit int) (names []string, left int, err error) {
	directory, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, systemError(path, err)
	}
	defer directory.Close() // the directory is only read
	info, err := directory.Stat()
	if err == nil {
		err = checkSame(path, info)
	}
	if err != nil {
		return nil, 0, err
	}
	entries, err := directory.ReadDir(walkEntries)
	if len(entries) == 0 && err != nil && info.IsDir() {
		return nil, 0, nil // io.EOF: it is empty
	}
	for _, e := range entries {
		suffix := ""
		switch {
		case e.IsDir():
			suffix = "/"
		case e.Type()&os.ModeSymlink != 0:
			suffix = "@"
		case !e.Type().IsRegular():
			suffix = "="
		}
		names = append(names, e.Name()+suffix)
	}
	slices.Sort(names)
	shown := names[:min(len(names), limit)]
	return shown, len(names) - len(shown), nil
}
