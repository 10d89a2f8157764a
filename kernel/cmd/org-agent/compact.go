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

// Run prints the summary on stdout and its effect on stderr.
func (c *compactCommand) Run(ctx context.Context, w *world) error {
	var result protocol.SessionCompacted
	err := w.call(ctx, protocol.MethodSessionCompact, protocol.SessionCompactParams{Session: c.Session, Undo: c.Undo, Stop: c.Stop}, &result)
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(result)
	}
	fmt.Fprint(w.out, result.Notes)
	fmt.Fprintf(w.err, "org-agent: %s\n", result.Text)
	return nil
}
