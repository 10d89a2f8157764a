package tool

import (
	"context"
)

// SubagentTask is a task for a subagent, with its limits. A limit that is not set is the turn's
// own, and none can be wider than the turn's.
type SubagentTask struct {
	Task, Label, Model      string
	Tools                   []string // nil: all tools of the turn
	Fork, Wait              bool
	Minutes, Rounds, Tokens int
}

// Subagents starts subagents for the turn that makes the call.
type Subagents interface {
	// Start starts a subagent. If Wait is set it returns the subagent's report, and otherwise that
	// the subagent was started. Soon after ctx has ended it returns, and the subagent is stopped.
	Start(ctx context.Context, work SubagentTask) (string, error)
	// Report returns the subagents of the conversation in a table or, with an id, the report of
	// that subagent from a byte on. An unknown id is an error.
	Report(ctx context.Context, id string, from int) (string, error)
}
