package tool

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
)

//go:embed glob.md
var globManual string

type globArguments struct {
	Pattern string `doc:"the pattern, such as *.org, src/**/*.go or {a,b}.md" required:"true"`
	Path    string `doc:"the directory to search (default: the home)"`
	All     bool   `doc:"also search .git, node_modules and similar directories" seldom:"true"`
	Limit   int    `doc:"the most files, up to 2000 (default: 200)"`
}

// The limits of an answer.
const (
	globFound     = 200
	globFoundMost = 2000
)

func globFiles(f Files) Tool {
	return New(Definition[globArguments]{
		Name: "glob", Manual: globManual, Effect: protocol.ToolReads, Offered: f.there,
		Reach: func(ctx context.Context, by *Caller, a *globArguments) ([]protocol.Reach, error) {
			orHome(&a.Path)
			return f.searched(by, &a.Path)
		},
		Preview: func(_ context.Context, by *Caller, a globArguments) (Preview, error) {
			orHome(&a.Path)
			_, err := f.searched(by, &a.Path)
			return Preview{Summary: "Look for " + a.Pattern + " in " + f.short(a.Path), Effects: []string{"it reads the names of the files in " + a.Path, "it changes nothing"}}, err
		},
		Perform: func(ctx context.Context, by *Caller, a globArguments) (string, error) {
			pattern, err := files.ParsePattern(a.Pattern)
			if err != nil {
				return "", err
			}
			orHome(&a.Path)
			if err := f.resolve(&a.Path); err != nil {
				return "", err
			}
			limit := globFound
			if a.Limit > 0 {
				limit = min(a.Limit, globFoundMost)
			}
			found, total, whole, err := f.tree(a.Path, a.All).Find(ctx, pattern, limit)
			if err != nil {
				return "", err
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s in %s, the latest first:\n", times(total, "file"), f.short(a.Path))
			if total == 0 {
				b.Reset()
				fmt.Fprintf(&b, "No file in %s matches.\n", f.short(a.Path))
			}
			for _, found := range found {
				fmt.Fprintf(&b, "%s\n", f.short(filepath.Join(a.Path, found.Name)))
			}
			if total > len(found) {
				fmt.Fprintf(&b, "[%d more are left out: give a narrower pattern or a :path]\n", total-len(found))
			}
			if !whole {
				b.WriteString(incompleteNote)
			}
			return b.String(), nil
		},
	})
}

// incompleteNote says that a directory has more files than the limit.
const incompleteNote = "[There are more files than are looked at: give a :path further down.]\n"
