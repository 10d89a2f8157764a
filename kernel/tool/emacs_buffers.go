package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
)

//go:embed emacs_buffers.md
var emacsBuffersManual string

type emacsBuffersArguments struct {
	Match string `doc:"only buffers whose name or file contains this"`
	Limit int    `doc:"the most buffers, up to 500 (default: 100)" seldom:"true"`
}

const (
	buffersListed = 100
	buffersMost   = 500
)

func emacsBuffers(n Notes) Tool {
	return New(Definition[emacsBuffersArguments]{
		Name: "emacs_buffers", Manual: emacsBuffersManual, Private: true, Effect: protocol.ToolReads, Offered: n.asksEmacs,
		Perform: func(ctx context.Context, by *Caller, a emacsBuffersArguments) (string, error) {
			if err := by.alone(); err != nil {
				return "", err
			}
			limit := buffersListed
			if a.Limit > 0 {
				limit = min(a.Limit, buffersMost)
			}
			got, err := n.Emacs.Buffers(ctx, by.Conversation, protocol.EmacsBuffersParams{Match: a.Match, Limit: limit})
			if err != nil {
				return "", err
			}
			return n.renderBuffers(got), nil
		},
	})
}

// asksEmacs reports whether an Emacs can be asked at all.
func (n Notes) asksEmacs() bool { return n.Emacs != nil }

func (n Notes) renderBuffers(got protocol.EmacsBuffers) string {
	if len(got.Buffers) == 0 {
		return "There is no such buffer.\n"
	}
	var b strings.Builder
	for _, buffer := range got.Buffers {
		b.WriteString(n.renderBuffer(buffer) + "\n")
	}
	if got.More > 0 {
		fmt.Fprintf(&b, "[%d more: narrow the list with :match]\n", got.More)
	}
	return b.String()
}

// renderBuffer returns the line about one buffer.
func (n Notes) renderBuffer(b protocol.EmacsBuffer) string {
	parts := []string{fmt.Sprintf("%q", b.Name)}
	if b.File != "" {
		parts = append(parts, "visits "+n.short(b.File))
	}
	if b.Remote != "" {
		parts = append(parts, "visits "+b.Remote)
	}
	parts = append(parts, b.Mode, fmt.Sprintf("%d characters", b.Size))
	for _, flag := range []struct {
		is   bool
		says string
	}{{b.Modified, "changed and not saved"}, {b.ReadOnly, "read-only"}, {b.Selected, "selected"}, {b.Visible && !b.Selected, "visible"}, {b.Region, "a part is marked"}} {
		if flag.is {
			parts = append(parts, flag.says)
		}
	}
	return strings.Join(parts, ", ")
}
