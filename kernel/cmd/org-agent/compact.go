package main

import (
	"context"
	"fmt"

	"org-agent/kernel/protocol"
)

// compactCommand is "org-agent compact".
type compactCommand struct {
	Session string `help:"The conversation (default: main)." placeholder:"NAME"`
	Undo    bool   `help:"Undo the last summary: the model is shown the earlier turns again." xor:"what"`
	Stop    bool   `help:"Stop the summary in progress and change nothing." xor:"what"`
	JSON    bool   `help:"Print JSON."`
}

// Run prints the summary on stdout, and what it changed on stderr.
func (c *compactCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.SessionCompacted
	err := proc.call(ctx, protocol.MethodSessionCompact, protocol.SessionCompactParams{Session: c.Session, Undo: c.Undo, Stop: c.Stop}, &result)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result)
	}
	fmt.Fprint(proc.stdout, result.Notes)
	fmt.Fprintf(proc.stderr, "org-agent: %s\n", result.Text)
	return nil
}
