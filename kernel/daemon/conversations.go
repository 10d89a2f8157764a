package daemon

import (
	"context"

	"org-agent/kernel/kind"
	"org-agent/kernel/session"
)

// conversations is the sessions for the kinds of actions.
type conversations struct{ sessions *session.Sessions }

// Insert implements [act.Conversations].
func (c conversations) Insert(ctx context.Context, o kind.Order, text string) error {
	return c.sessions.Insert(ctx, o.Session, o.Turn, o.Action.Action().Canonical(), text)
}

// Post implements [act.Conversations].
func (c conversations) Post(ctx context.Context, o kind.Order, session, text string) error {
	return c.sessions.Post(ctx, "post-"+o.ID, session, text) // an event's id is no act's
}
