package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"unicode/utf8"

	"org-agent/kernel/protocol"
)

//go:embed earlier_result.md
var earlierResultManual string

// resultPart is how many bytes of a result one call returns at most.
const resultPart = 16 << 10

type earlierResultArguments struct {
	ID   string `doc:"the id shown where the result is shortened" required:"true"`
	From int    `doc:"the byte at which the part begins (default: 0)"`
}

func earlierResult(stored func(ctx context.Context, in Conversation, id string) (text string, found bool, err error)) Tool {
	return New(Definition[earlierResultArguments]{
		Name: "earlier_result", Manual: earlierResultManual, Effect: protocol.ToolReads,
		Perform: func(ctx context.Context, by *Caller, a earlierResultArguments) (string, error) {
			if stored != nil {
				if text, found, err := stored(ctx, by.Conversation, a.ID); err != nil {
					return "", err
				} else if found {
					return partOf(text, a.From)
				}
			}
			if by.Results == nil {
				return "", errors.New("there is no conversation here, and so no earlier result")
			}
			text, err := by.Results(ctx, a.ID)
			if err != nil {
				return "", err
			}
			return partOf(text, a.From)
		},
	})
}

// partOf returns the part of a text from a byte on, or from the first byte of the character that
// the byte belongs to.
func partOf(text string, from int) (string, error) {
	if from < 0 || from > 0 && from >= len(text) {
		return "", fmt.Errorf("the result has %d bytes: :from is less", len(text))
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	until := min(from+resultPart, len(text))
	for until < len(text) && !utf8.RuneStart(text[until]) {
		until--
	}
	if until == len(text) {
		return text[from:], nil
	}
	return fmt.Sprintf("%s\n[These are the bytes %d to %d of %d; the next part is :from %d]", text[from:until], from, until, len(text), until), nil
}
