package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"org-agent/kernel/protocol"
)

// lineReader reads the lines that a person types and gives each to one reader. A read from a
// terminal cannot be cancelled: the last one continues until the program ends.
type lineReader struct{ typed chan typedLine }

// typedLine is a line, or the reason why no more lines follow.
type typedLine struct {
	text string
	err  error
}

// readLines starts reading. The goroutine ends with the input or with ctx.
func readLines(ctx context.Context, in io.Reader) *lineReader {
	r := &lineReader{typed: make(chan typedLine)}
	go func() {
		defer close(r.typed)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, protocol.TextLimit)
		for lines.Scan() {
			select {
			case r.typed <- typedLine{text: strings.TrimSuffix(lines.Text(), "\r")}:
			case <-ctx.Done():
				return
			}
		}
		if lines.Err() == nil {
			return
		}
		select {
		case r.typed <- typedLine{err: lines.Err()}:
		case <-ctx.Done():
		}
	}()
	return r
}

// line waits for the next line. It returns [io.EOF] at the end of the input, and an exit when ctx
// ends.
func (r *lineReader) line(ctx context.Context) (string, error) {
	select {
	case line, more := <-r.typed:
		if !more {
			return "", io.EOF
		}
		return line.text, line.err
	case <-ctx.Done():
		return "", exit{code: 130}
	}
}
