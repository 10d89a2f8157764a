package tool

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

//go:embed grep.md
var grepManual string

type grepArguments struct {
	Pattern    string `doc:"a regular expression of RE2" required:"true"`
	Path       string `doc:"the file or directory to search (default: the home)"`
	Files      string `doc:"only in files whose names match, such as *.go"`
	Context    int    `doc:"the number of lines to show around each match, up to 10" seldom:"true"`
	IgnoreCase bool   `doc:"ignore case"`
	All        bool   `doc:"also search .git, node_modules and similar directories" seldom:"true"`
	Limit      int    `doc:"the most lines, up to 1000 (default: 100)"`
}

// The limits of an answer.
const (
	grepLines     = 100
	grepLinesMost = 1000
	grepAround    = 10
	grepPattern   = 2000 // bytes
)

// search returns the search that the arguments describe.
func (a grepArguments) search() (s files.Search, err error) {
	if len(a.Pattern) > grepPattern {
		return s, protocol.ToolErrorf(protocol.ToolArguments, "the pattern has more than %d bytes: look for less", grepPattern)
	}
	source := a.Pattern
	if a.IgnoreCase {
		source = "(?i)" + source
	}
	if s.Text, err = regexp.Compile(source); err != nil {
		return s, protocol.ToolErrorf(protocol.ToolArguments, "%w; write \\ before a character that stands for itself; there is no look-around", err)
	}
	if a.Files != "" {
		pattern, err := files.ParsePattern(a.Files)
		if err != nil {
			return s, err
		}
		s.Files = &pattern
	}
	s.Context, s.Limit = min(max(a.Context, 0), grepAround), grepLines
	if a.Limit > 0 {
		s.Limit = min(a.Limit, grepLinesMost)
	}
	return s, nil
}

func grepFiles(f Files) Tool {
	return New(Definition[grepArguments]{
		Name: "grep", Manual: grepManual, Effect: protocol.ToolReads, Offered: f.there,
		Reach: func(ctx context.Context, by *Caller, a *grepArguments) ([]protocol.Reach, error) {
			orHome(&a.Path)
			return f.searched(by, &a.Path)
		},
		Preview: func(_ context.Context, by *Caller, a grepArguments) (Preview, error) {
			orHome(&a.Path)
			_, err := f.searched(by, &a.Path)
			return Preview{Summary: "Search " + f.short(a.Path) + " for " + a.Pattern, Effects: []string{"it reads " + a.Path, "it changes nothing"}}, err
		},
		Perform: func(ctx context.Context, by *Caller, a grepArguments) (string, error) {
			s, err := a.search()
			if err != nil {
				return "", err
			}
			orHome(&a.Path)
			if err := f.resolve(&a.Path); err != nil {
				return "", err
			}
			var m files.Matches
			if files.IsDirectory(a.Path) {
				m, err = f.tree(a.Path, a.All).Search(ctx, s, func(name string) string { return f.short(filepath.Join(a.Path, name)) })
			} else {
				m, err = files.SearchFile(ctx, a.Path, s, f.short(a.Path))
			}
			if err != nil {
				return "", err
			}
			return renderMatches(m), nil
		},
	})
}

func renderMatches(m files.Matches) string {
	text := fmt.Sprintf("%s in the %s that were searched:\n%s", times(m.Lines, "line"), times(m.Files, "file"), m.Text)
	if m.Lines == 0 {
		text = fmt.Sprintf("Nothing matches in the %s that were searched.\n", times(m.Files, "file"))
	}
	if m.Full {
		text += "[There may be more: look for something narrower, or in fewer files.]\n"
	}
	if m.Incomplete {
		text += incompleteNote
	}
	if m.Withheld > 0 {
		text += fmt.Sprintf("[What is tagged :noagent:, :@private: or :crypt: was not searched, in %s.]\n", times(m.Withheld, "file"))
	}
	return text
}
