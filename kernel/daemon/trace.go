package daemon

import (
	"context"

	"org-agent/kernel/explain"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// trace tells a client why: the story of the turn that an id belongs to.
func (d *daemon) trace(ctx context.Context, _ *rpc.Client, p *protocol.TraceGetParams) (protocol.TraceGetResult, error) {
	t, err := explain.Read(ctx, d.journal, p.ID)
	if err != nil {
		return protocol.TraceGetResult{}, err
	}
	return protocol.TraceGetResult{
		ID: t.Named.ID, Kind: t.Named.Kind, Turn: t.Turn.ID, Event: t.Turn.Event, Session: t.Turn.Session,
		State: t.Turn.State, Outline: t.Outline(d.kinds),
	}, nil
}
