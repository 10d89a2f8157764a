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

// Reader reads whole lines of a growing log. A zero value with a Path is ready. One goroutine may
// use it, and must close it.
type Reader struct {
	Path string

	file    *os.File
	buffer  *bufio.Reader
	partial strings.Builder
	last    bool // the log was rotated: read this file to its end
}

// Next returns the next line, or io.EOF if there is none yet; the caller may ask again later. It
// returns an unfinished line only when the log was rotated after it.
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
			if r.last = r.rotated(); !r.last {
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

// Tail returns the last records that match the filter, at most count, latest last, and moves to the
// end of the file, where Next continues. If there is no log it returns none.
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
	if !sameFile(file, beside.Name()) { // it was rotated just now
		size = 0
	}
	found, _, err := tail(ctx, r.Path, beside, size, filter, count)
	return found, err
}

// rotated reports whether another file now has the log's name. It is false while no file has it, in
// the moment of a rotation.
func (r *Reader) rotated() bool {
	_, err := os.Stat(r.Path)
	return err == nil && !sameFile(r.file, r.Path)
}

func (r *Reader) take() string {
	line := strings.TrimSuffix(r.partial.String(), "\n")
	r.partial.Reset()
	return line
}

// Close closes the file. A later Next opens the log again at its beginning.
func (r *Reader) Close() {
	if r.file != nil {
		_ = r.file.Close() // it was only read
		r.file = nil
	}
}
