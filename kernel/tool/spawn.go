package tool

import (
	"context"
)

// Work is a part of a turn's work that it hands on. What is not said of a bound is that of the
// turn, and no bound is wider than that.
type Work struct {
	Task, Label, Model      string
	Tools                   []string // nil for all of the turn
	Fork, Wait              bool
	Minutes, Rounds, Tokens int
}

// Spawner hands on work of the turn whose call it is.
type Spawner interface {
	// Spawn hands it on, and returns what came of it if the work says to wait, else that it is
	// begun. It returns soon after ctx has ended, and the work is stopped then.
	Spawn(ctx context.Context, work Work) (string, error)
	// Subagents tells how those of the conversation are doing: all in a table, or what the one
	// with the id found, from a byte of it on. An id that is none of them is an error.
	Subagents(ctx context.Context, id string, from int) (string, error)
}
