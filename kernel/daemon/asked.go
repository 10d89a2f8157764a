package daemon

import (
	"context"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// asked answers session/asked.
func (d *daemon) asked(ctx context.Context, _ *rpc.Client, p *protocol.SessionAskedParams) (protocol.SessionAskedResult, error) {
	var result protocol.SessionAskedResult
	turns, err := d.journal.Asked(ctx, p.Query, p.Except, p.Limit)
	for _, turn := range turns {
		result.Questions = append(result.Questions, protocol.Asked{
			Session: turn.Session, ID: turn.Event, Time: turn.Accepted.UTC().Format(time.RFC3339),
			Text: journal.AskedText(turn.Question),
		})
	}
	return result, err
}
