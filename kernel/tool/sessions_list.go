package tool

import (
	"context"
	_ "embed"

	"org-agent/kernel/protocol"
)

//go:embed sessions_list.md
var sessionsListManual string

type sessionsListArguments struct {
	ID   string `doc:"which, to have what it found"`
	From int    `doc:"the byte at which that begins"`
}

func sessionsList(offered bool) Tool {
	return New(Definition[sessionsListArguments]{
		Name: "sessions_list", Manual: sessionsListManual, Effect: protocol.ToolReads,
		Offered: func() bool { return offered },
		Perform: func(ctx context.Context, a sessionsListArguments) (string, error) {
			s := spawnerOf(ctx)
			if s == nil {
				return "", protocol.ToolErrorf(protocol.ToolRefused, "no work is handed on here")
			}
			return s.Subagents(ctx, a.ID, max(a.From, 0))
		},
	})
}
