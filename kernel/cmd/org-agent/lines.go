package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"org-agent/kernel/protocol"
)

// lineReader reads what a person types, a line at a time, for whoever wants the next line.
// A read of a terminal cannot be ended: the one under way goes on until the program ends.
type lineReader struct{ typed chan typedLine }

// typedLine is a line, or why there is none any more.
type typedLine struct {
	text string
	err  error
}

// readLines begins to read; it ends with the input, or with ctx.
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

// line waits for the next line; the end of the input is [io.EOF], that of ctx is an exit.
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
