package daemon

import (
	"context"
	"errors"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// compact answers session/compact.
func (d *daemon) compact(ctx context.Context, _ *rpc.Client, p *protocol.SessionCompactParams) (protocol.SessionCompacted, error) {
	session := p.Session
	if session == "" {
		session = protocol.MainSession
	}
	has, err := d.journal.HasSession(ctx, session)
	if err == nil && !has {
		err = protocol.Errorf(protocol.CodeNotFound, "nothing was said in a conversation %q yet", session)
	}
	if err != nil {
		return protocol.SessionCompacted{}, err
	}
	switch {
	case p.Undo && p.Stop:
		return protocol.SessionCompacted{}, protocol.Errorf(protocol.CodeInvalidParams, "a summary is either stopped or taken back: choose one")
	case p.Undo:
		return d.agent.Compaction().Undo(ctx, session)
	case p.Stop:
		rpc.Release(ctx)
		return d.agent.Compaction().Stop(ctx, session)
	}
	rpc.Release(ctx) // it may take minutes, and other things are asked meanwhile
	result, err := d.agent.Compaction().Now(ctx, session)
	switch {
	case errors.Is(err, history.ErrNothing):
		err = protocol.Errorf(protocol.CodeConflict, "%v", err)
	case errors.Is(err, history.ErrStopped):
		err = protocol.Errorf(protocol.CodeCancelled, "%v", err)
	}
	return result, err
}

// compacted tells the clients of a session what becomes of its summary.
func (d *daemon) compacted(_ context.Context, told protocol.SessionCompacted) {
	d.sessions.Tell(told.Session, protocol.MethodSessionCompacted, told)
}
