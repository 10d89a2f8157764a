package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// tailBytes is how much of the log, from its end, one search reads.
	tailBytes = 32 << 20
	// lineLimit is the maximum length of a line that is read whole. Of a longer one the middle is
	// dropped.
	lineLimit = 4 << 20
	chunk     = 64 << 10
)

// tail returns the last records that match the filter, at most count, latest last. It reads the
// first size bytes of the open file, which it closes, and then the rotated files, 32 MiB in all.
// left says that there may be more records. A nil file means that the log does not exist.
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
	older := rotatedFiles(path, file)
	for {
		if file != nil {
			more, err := readBackwards(file, min(size, budget), size, take)
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
			file = nil // the oldest file was removed in the meantime
		} else if info, err := file.Stat(); err == nil {
			size = info.Size()
		}
		older = older[1:]
	}
	slices.Reverse(found)
	return found, left, context.Cause(ctx)
}

// rotatedFiles returns the rotated files, latest first, without the open one. Their names contain
// the time of the rotation.
func rotatedFiles(path string, open *os.File) []string {
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
			if open != nil && sameFile(open, name) {
				continue
			}
			files = append(files, name)
		}
	}
	slices.Sort(files)
	slices.Reverse(files)
	return files
}

// sameFile reports whether the open file is the one with this name.
func sameFile(open *os.File, name string) bool {
	ours, err := open.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(name)
	return err == nil && os.SameFile(ours, named)
}

// readBackwards passes the lines of the last limit bytes before size to take, the last one first,
// until take returns false; more is then false. It skips a first line that may be incomplete.
func readBackwards(file *os.File, limit, size int64, take func([]byte) bool) (more bool, err error) {
	var rest []byte // the end of a line whose beginning has not been read yet
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
