package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// tailBytes bounds how much of the log one search reads, from its end.
	tailBytes = 32 << 20
	// lineLimit is the longest line that is kept whole while it is read; the middle of a
	// longer one is left out.
	lineLimit = 4 << 20
	chunk     = 64 << 10
)

// Tail returns the last records that the filter wants, at most count, the latest last. It
// looks through the file and then through those that were renamed away, 32 MiB in all; left
// says that there may be more. Without a log there is nothing.
func Tail(ctx context.Context, path string, filter Filter, count int) (found []Record, left bool, err error) {
	file, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("read the log: %w", err)
	}
	size := int64(0)
	if file != nil {
		info, err := file.Stat()
		if err != nil {
			return nil, false, errors.Join(fmt.Errorf("read the log: %w", err), file.Close())
		}
		size = info.Size()
	}
	return tail(ctx, path, file, size, filter, count)
}

// tail is Tail up to size bytes of the open file, which it closes; nil is no file.
func tail(ctx context.Context, path string, file *os.File, size int64, filter Filter, count int) (found []Record, left bool, err error) {
	budget := int64(tailBytes)
	take := func(line []byte) bool {
		if len(line) == 0 {
			return true
		}
		if r := Parse(string(line)); filter.Matches(r) {
			found = append(found, r)
		}
		return len(found) < count && ctx.Err() == nil
	}
	older := former(path, file)
	for {
		if file != nil {
			more, err := backwards(file, min(size, budget), size, take)
			closing := file.Close()
			if err = errors.Join(err, closing); err != nil {
				return nil, false, fmt.Errorf("read the log: %w", err)
			}
			budget -= size
			if !more || budget <= 0 {
				left = true
				break
			}
		}
		if len(older) == 0 {
			break
		}
		if file, err = os.Open(older[0]); err != nil {
			file = nil // it was removed meanwhile: it was the oldest
		} else if info, err := file.Stat(); err == nil {
			size = info.Size()
		}
		older = older[1:]
	}
	slices.Reverse(found)
	return found, left, context.Cause(ctx)
}

// former lists the files that were the log before, the latest first, without the one that
// is open: their names have the time they were renamed.
func former(path string, open *os.File) []string {
	extension := filepath.Ext(path)
	prefix := strings.TrimSuffix(filepath.Base(path), extension) + "-"
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), extension) && e.Type().IsRegular() {
			name := filepath.Join(filepath.Dir(path), e.Name())
			if open != nil && same(open, name) {
				continue
			}
			files = append(files, name)
		}
	}
	slices.Sort(files)
	slices.Reverse(files)
	return files
}

// same reports whether the open file has this name.
func same(open *os.File, name string) bool {
	ours, err := open.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(name)
	return err == nil && os.SameFile(ours, named)
}

// backwards gives the lines of the last limit bytes before size to take, the last first,
// until it returns false; more is false then. A first line that may be cut is left out.
func backwards(file *os.File, limit, size int64, take func([]byte) bool) (more bool, err error) {
	var rest []byte // the end of a line whose beginning was not read yet
	buffer := make([]byte, chunk)
	from := size
	for from > size-limit {
		n := min(chunk, from-(size-limit))
		from -= n
		if _, err := file.ReadAt(buffer[:n], from); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		piece := buffer[:n]
		for {
			i := bytes.LastIndexByte(piece, '\n')
			if i < 0 {
				break
			}
			if !take(slices.Concat(piece[i+1:], rest)) {
				return false, nil
			}
			piece, rest = piece[:i], nil
		}
		if len(rest)+len(piece) > lineLimit {
			rest = rest[:min(len(rest), chunk)]
		}
		rest = slices.Concat(piece, rest)
	}
	if from > 0 {
		return true, nil
	}
	return take(rest), nil
}
