package main

import (
	"bufio"
	"context"
	"fmt"
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

// confirm asks the person, and reports whether the answer is yes: whatever else it is, is a no. It returns an exit
// when ctx ends. The read of the answer then continues until the program ends.
func (proc *process) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(proc.stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { answer <- readAnswer(proc.stdin) }()
	select {
	case given := <-answer:
		given = strings.ToLower(strings.TrimSpace(given))
		return given == "y" || given == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(proc.stderr)
		return false, exit{code: 130}
	}
}

// readAnswer reads a line and returns its beginning. It reads no further: what follows is for whoever reads next.
func readAnswer(in io.Reader) string {
	const enough = 16
	var answer, next []byte = nil, make([]byte, 1)
	for {
		n, err := in.Read(next)
		if n > 0 && next[0] == '\n' || err != nil {
			return string(answer)
		}
		if n > 0 && len(answer) < enough {
			answer = append(answer, next[0])
		}
	}
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
