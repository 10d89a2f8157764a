package logfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Reader reads whole lines of a log that grows. The zero value with a Path is ready; it
// belongs to one goroutine. Close it.
type Reader struct {
	Path string

	file    *os.File
	buffer  *bufio.Reader
	partial strings.Builder
	last    bool // another file has the name now: this one is read to its end
}

// Next returns a line, or io.EOF when there is none yet; ask again later. A line that is
// not finished is given when the file that has it is left for a new one.
func (r *Reader) Next() (string, error) {
	for {
		if r.file == nil {
			file, err := os.Open(r.Path)
			if errors.Is(err, fs.ErrNotExist) {
				return "", io.EOF
			}
			if err != nil {
				return "", err
			}
			r.file, r.buffer, r.last = file, bufio.NewReader(file), false
		}
		text, err := r.buffer.ReadString('\n')
		r.partial.WriteString(text)
		switch {
		case err == nil:
			return r.take(), nil
		case !errors.Is(err, io.EOF):
			return "", err
		case !r.last:
			if r.last = r.renamed(); !r.last {
				return "", io.EOF
			}
		default:
			r.Close()
			if line := r.take(); line != "" {
				return line, nil
			}
		}
	}
}

// Tail returns the last records as the function [Tail] does, and goes to the end of the
// file: Next gives what comes after them.
func (r *Reader) Tail(ctx context.Context, filter Filter, count int) ([]Record, error) {
	file, err := os.Open(r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		found, _, err := tail(ctx, r.Path, nil, 0, filter, count)
		return found, err
	}
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	size, err := file.Seek(0, io.SeekEnd)
	beside, again := os.Open(r.Path)
	if err = errors.Join(err, again); err != nil {
		return nil, errors.Join(fmt.Errorf("read the log: %w", err), file.Close())
	}
	r.Close()
	r.file, r.buffer, r.last = file, bufio.NewReader(file), false
	if !same(file, beside.Name()) { // it was renamed just now
		size = 0
	}
	found, _, err := tail(ctx, r.Path, beside, size, filter, count)
	return found, err
}

// renamed reports whether another file has the log's name, rather than none for a moment.
func (r *Reader) renamed() bool {
	_, err := os.Stat(r.Path)
	return err == nil && !same(r.file, r.Path)
}

func (r *Reader) take() string {
	line := strings.TrimSuffix(r.partial.String(), "\n")
	r.partial.Reset()
	return line
}

// Close lets go of the file. The reader may go on: it begins the file anew.
func (r *Reader) Close() {
	if r.file != nil {
		_ = r.file.Close() // it was only read
		r.file = nil
	}
}
