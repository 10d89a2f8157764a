package daemon

import (
	"context"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// usage answers usage/get.
func (d *daemon) usage(ctx context.Context, _ *rpc.Client, p *protocol.UsageGetParams) (protocol.UsageGetResult, error) {
	var result protocol.UsageGetResult
	by := p.By
	if by == "" {
		by = protocol.UsageByTurn
	}
	var since time.Time
	if p.Since != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, p.Since); err != nil {
			return result, protocol.Errorf(protocol.CodeInvalidParams, ":since is an instant as 2026-11-22T08:00:00Z, not %q", p.Since)
		}
	}
	const day = 24 * 60 * 60
	if p.East < -day || p.East > day {
		return result, protocol.Errorf(protocol.CodeInvalidParams, ":east is a number of seconds, of a day at most")
	}
	if p.Session != "" && !protocol.ValidSession(p.Session) {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "the session name %q is not one", p.Session)
	}
	if by == protocol.UsageByTool {
		tools, err := d.agent.ToolUsage(ctx, p.Session, since)
		result.Tools = tools
		return result, err
	}
	rows, err := d.journal.Usage(ctx, by, p.Session, since, p.East)
	result.Rows = rows
	return result, err
}
