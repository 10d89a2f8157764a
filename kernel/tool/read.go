package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

//go:embed read.md
var readManual string

type readArguments struct {
	Path  string `doc:"the file or directory; a relative name begins in the home" required:"true"`
	From  int    `doc:"the first line (default: 1)"`
	Limit int    `doc:"the number of lines, up to 2000 (default: 2000)"`
}

// listedNames is the maximum number of names in the list of a directory.
const listedNames = 1000

func readFile(f Files) Tool {
	return New(Definition[readArguments]{
		Name: "read", Manual: readManual, Effect: protocol.ToolReads, Offered: f.there,
		Reach: func(ctx context.Context, by *Caller, a *readArguments) ([]protocol.Reach, error) {
			return f.reach(by, protocol.ReachReads, &a.Path)
		},
		Preview: func(ctx context.Context, by *Caller, a readArguments) (Preview, error) {
			if _, err := f.reach(by, protocol.ReachReads, &a.Path); err != nil {
				return Preview{}, err
			}
			return Preview{Summary: "Read " + f.short(a.Path), Text: a.Path + a.part(),
				Effects: []string{"it reads " + a.Path, "it changes nothing"}}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a readArguments) (string, error) {
			if err := f.resolve(&a.Path); err != nil {
				return "", err
			}
			if files.IsDirectory(a.Path) {
				return f.list(a.Path)
			}
			p, err := files.Lines(ctx, a.Path, a.From, a.Limit)
			if err != nil {
				return "", err
			}
			return f.part(a.Path, p), nil
		},
	})
}

// part says which part of a file is read, if it is not the beginning.
func (a readArguments) part() string {
	switch {
	case a.From > 0 && a.Limit > 0:
		return fmt.Sprintf(", %d lines from line %d", a.Limit, a.From)
	case a.From > 0:
		return fmt.Sprintf(", from line %d", a.From)
	case a.Limit > 0:
		return fmt.Sprintf(", %d lines", a.Limit)
	}
	return ""
}

func (f Files) list(path string) (string, error) {
	names, left, err := files.Listed(path, listedNames)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return fmt.Sprintf("The directory %s is empty.", f.short(path)), nil
	}
	text := fmt.Sprintf("The directory %s:\n%s\n", f.short(path), strings.Join(names, "\n"))
	if left > 0 {
		text += fmt.Sprintf("[%d more are left out: glob finds those that match a pattern]\n", left)
	}
	return text, nil
}

// part returns a part of a file for a model: its lines with numbers, and remarks that matter for
// changing it.
func (f Files) part(path string, p files.Part) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d bytes", f.short(path), p.Size)
	if p.Hash != "" {
		fmt.Fprintf(&b, ", hash %s", p.Hash)
	}
	switch {
	case len(p.Lines)+len(p.Withheld) == 0:
		b.WriteString(", is empty")
	case p.Total > 0:
		fmt.Fprintf(&b, ", lines %d to %d of %d", p.From, lastLine(p.From, len(p.Lines), p.Withheld), p.Total)
	default:
		fmt.Fprintf(&b, ", lines %d to %d", p.From, lastLine(p.From, len(p.Lines), p.Withheld))
	}
	b.WriteString("\n")
	if files.Unsaved(path) {
		b.WriteString("[An Emacs has changes of this file that are not saved: this is what is on the disk. emacs_read shows the buffer, and edit changes it there.]\n")
	}
	if p.Mark {
		b.WriteString("[The file begins with a byte order mark, which is not shown.]\n")
	}
	if p.CRLF > 0 {
		fmt.Fprintf(&b, "[%d of these lines end in \\r\\n, which is not shown.]\n", p.CRLF)
	}
	if p.Escaped {
		b.WriteString("[Not all of it is UTF-8: what is not stands as \\xNN.]\n")
	}
	numberLines(&b, p.From, p.Lines, p.Withheld)
	if p.Open {
		b.WriteString("[The last line has no newline at its end.]\n")
	}
	if p.Next > 0 {
		fmt.Fprintf(&b, "[More follows: go on with :from %d.]\n", p.Next)
	}
	return b.String()
}

// numberLines writes lines with their numbers, beginning at from, and marks the withheld lines.
func numberLines(b *strings.Builder, from int, lines []string, withheld []protocol.LineSpan) {
	number := from
	skip := func() {
		for len(withheld) > 0 && withheld[0].First <= number {
			gap := withheld[0]
			if withheld = withheld[1:]; gap.First == gap.Last {
				fmt.Fprintf(b, "[Line %d is not shown: it is tagged :noagent:, :@private: or :crypt:.]\n", gap.First)
			} else {
				fmt.Fprintf(b, "[Lines %d to %d are not shown: what is tagged :noagent:, :@private: or :crypt:.]\n", gap.First, gap.Last)
			}
			number = gap.Last + 1
		}
	}
	for _, line := range lines {
		skip()
		fmt.Fprintf(b, "%6d\t%s\n", number, line)
		number++
	}
	skip()
}

// lastLine returns the number of the last of so many shown lines. Withheld lines among them count.
func lastLine(from, lines int, withheld []protocol.LineSpan) int {
	last := from + lines - 1
	for _, gap := range withheld {
		last += gap.Last - gap.First + 1
	}
	return last
}
