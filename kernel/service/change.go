package service

import (
	"context"

	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/undo"
)

// Changes answers which texts turns changed, and records which changes a person undid.
type Changes struct {
	IDs     IDs
	Turns   ChangedTurns
	Journal undo.Journal
	Kinds   func() *kind.Set
	// Undone has the conversation of a turn say which acts of the turn were undone.
	Undone func(ctx context.Context, turn journal.Turn) error
}

// IDs finds what an id names: a turn, an event, an answer or an act.
type IDs interface {
	Resolve(ctx context.Context, id string) (journal.IDTarget, error)
}

// ChangedTurns finds turns.
type ChangedTurns interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
}

// Methods returns the methods of this service.
func (c Changes) Methods() []Method {
	return []Method{
		{protocol.MethodTurnChanges, For(c.list)},
		{protocol.MethodTurnUndone, For(c.recordUndone)},
	}
}

// list returns the changes of texts by a turn.
func (c Changes) list(ctx context.Context, p protocol.TurnChangesParams) (protocol.TurnChangesResult, error) {
	target, err := c.IDs.Resolve(ctx, p.ID)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	turn, err := c.Turns.Turn(ctx, target.Turn)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	page, err := undo.Read(ctx, c.Journal, c.Kinds(), turn.ID, p.From)
	return protocol.TurnChangesResult{
		Turn: turn.ID, Event: turn.Event, Session: turn.Session, State: turn.State,
		Changes: page.Changes, Stays: page.Irreversible, Next: page.Next,
	}, err
}

// recordUndone records which acts of a turn a person undid, and shows it.
func (c Changes) recordUndone(ctx context.Context, p protocol.TurnUndoneParams) (protocol.Empty, error) {
	turn, err := c.Turns.Turn(ctx, p.Turn)
	if err != nil {
		return protocol.Empty{}, err
	}
	if err := undo.Record(ctx, c.Journal, turn, p.Acts); err != nil {
		return protocol.Empty{}, err
	}
	return protocol.Empty{}, c.Undone(ctx, turn)
}
