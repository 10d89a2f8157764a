package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

//go:embed emacs_read.md
var emacsReadManual string

type emacsReadArguments struct {
	Buffer string `doc:"the buffer's name"`
	File   string `doc:"the file that the buffer visits"`
	From   int    `doc:"the first line (default: 1)"`
	Limit  int    `doc:"the number of lines, up to 1000 (default: 1000)"`
	Region bool   `doc:"only the marked text"`
}

const readBufferLines = 1000

func emacsRead(n Notes) Tool {
	return New(Definition[emacsReadArguments]{
		Name: "emacs_read", Manual: emacsReadManual, Private: true, Offered: n.asksEmacs,
		Reach: func(ctx context.Context, by *Caller, a *emacsReadArguments) ([]protocol.Reach, error) {
			of, err := n.buffer(ctx, by, a)
			if err != nil || of.File == "" {
				return nil, err // the person is asked, and sees which buffer it is
			}
			return []protocol.Reach{{Kind: protocol.ReachReads, Path: of.File}}, nil
		},
		Preview: func(ctx context.Context, by *Caller, a emacsReadArguments) (Preview, error) {
			of, err := n.buffer(ctx, by, &a)
			if err != nil {
				return Preview{}, err
			}
			return Preview{Summary: "Read the buffer " + of.Name, Text: n.renderBuffer(of) + "\n" + a.part(),
				Effects: []string{"what stands in it goes to the model", "it changes nothing"}}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a emacsReadArguments) (string, error) {
			if err := by.alone(); err != nil {
				return "", err
			}
			got, err := n.Emacs.Read(ctx, by.Conversation, a.params())
			if err != nil {
				return "", err
			}
			return n.renderText(got), nil
		},
	})
}

// buffer finds the buffer that a call means, and puts its name and the name of its file into the
// call. The call then reads that buffer only while it visits that file.
func (n Notes) buffer(ctx context.Context, by *Caller, a *emacsReadArguments) (protocol.EmacsBuffer, error) {
	var none protocol.EmacsBuffer
	if err := by.alone(); err != nil {
		return none, err
	}
	if a.Buffer == "" && a.File == "" {
		return none, protocol.ToolErrorf(protocol.ToolArguments, "name the :buffer or the :file; emacs_buffers lists them")
	}
	if a.File != "" {
		path, _, err := files.Resolve(a.File, n.Home)
		if err != nil {
			return none, err
		}
		a.File = path
	}
	got, err := n.Emacs.Read(ctx, by.Conversation, protocol.EmacsReadParams{Buffer: a.Buffer, File: a.File, About: true})
	if err != nil {
		return none, err
	}
	a.Buffer, a.File = got.Of.Name, got.Of.File
	return got.Of, nil
}

// params returns the question to Emacs for a call that was judged. A call without a file was judged
// for a buffer that visits none.
func (a emacsReadArguments) params() protocol.EmacsReadParams {
	limit := readBufferLines
	if a.Limit > 0 {
		limit = min(a.Limit, readBufferLines)
	}
	return protocol.EmacsReadParams{Buffer: a.Buffer, File: a.File, Unvisiting: a.File == "", From: max(a.From, 1), Limit: limit, Region: a.Region}
}

// part says which part of the buffer is read.
func (a emacsReadArguments) part() string {
	p := a.params()
	if a.Region {
		return "what is marked in it"
	}
	return fmt.Sprintf("lines %d to %d at most", p.From, p.From+p.Limit-1)
}

// renderText returns a part of a buffer for a model.
func (n Notes) renderText(got protocol.EmacsRead) string {
	var b strings.Builder
	b.WriteString(n.renderBuffer(got.Of))
	lines := strings.Split(strings.TrimSuffix(got.Text, "\n"), "\n")
	if got.Text == "" {
		lines = nil
	}
	if len(lines)+len(got.Withheld) == 0 {
		b.WriteString(", nothing there")
	} else {
		fmt.Fprintf(&b, ", lines %d to %d of %d", got.From, lastLine(got.From, len(lines), got.Withheld), got.Total)
	}
	b.WriteString("\n")
	if got.Narrow {
		b.WriteString("[The user sees only a part of it; this is all.]\n")
	}
	numberLines(&b, got.From, lines, got.Withheld)
	if got.Next > 0 {
		fmt.Fprintf(&b, "[More follows: go on with :from %d.]\n", got.Next)
	}
	return b.String()
}
