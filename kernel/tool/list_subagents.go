package tool

import (
	"context"
	_ "embed"

	"org-agent/kernel/protocol"
)

//go:embed list_subagents.md
var listSubagentsManual string

type listSubagentsArguments struct {
	ID   string `doc:"the subagent whose report you want"`
	From int    `doc:"the byte at which the part begins (default: 0)" seldom:"true"`
}

func listSubagents(offered func() bool) Tool {
	return New(Definition[listSubagentsArguments]{
		Name: "list_subagents", Manual: listSubagentsManual, Private: true, Effect: protocol.ToolReads,
		Offered: func() bool { return offered != nil && offered() },
		Perform: func(ctx context.Context, by *Caller, a listSubagentsArguments) (string, error) {
			s := by.Subagents
			if s == nil {
				return "", protocol.ToolErrorf(protocol.ToolRefused, "no subagent can be started here")
			}
			return s.Report(ctx, a.ID, max(a.From, 0))
		},
	})
}
