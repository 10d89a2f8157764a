package daemon

import (
	"context"

	"org-agent/kernel/protocol"
	"org-agent/kernel/undo"
)

// turnChanges tells what a turn changed in texts.
func (d *daemon) turnChanges(ctx context.Context, p protocol.TurnChangesParams) (protocol.TurnChangesResult, error) {
	named, err := d.journal.Resolve(ctx, p.ID)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	turn, err := d.journal.Turn(ctx, named.Turn)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	made, err := undo.Of(ctx, d.journal, d.kinds, turn.ID, p.From)
	return protocol.TurnChangesResult{
		Turn: turn.ID, Event: turn.Event, Session: turn.Session, State: turn.State,
		Changes: made.Changes, Stays: made.Stays, Next: made.Next,
	}, err
}

// turnUndone records which acts of a turn a person took back.
func (d *daemon) turnUndone(ctx context.Context, p protocol.TurnUndoneParams) (protocol.Empty, error) {
	turn, err := d.journal.Turn(ctx, p.Turn)
	if err != nil {
		return protocol.Empty{}, err
	}
	return protocol.Empty{}, undo.Note(ctx, d.journal, turn, p.Acts)
}
