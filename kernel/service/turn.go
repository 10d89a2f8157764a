package service

import (
	"cmp"
	"context"
	"slices"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Turns stops turns and answers them again.
type Turns struct {
	Sessions  TurnSessions
	Names     Names
	Models    ModelFinder
	Settings  TurnResolver
	Subagents Subagents
}

// TurnSessions holds the turns of the conversations.
type TurnSessions interface {
	Turn(ctx context.Context, p protocol.TurnParams) (journal.Turn, error)
	Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error)
	Retry(ctx context.Context, p protocol.TurnRetryParams, settings protocol.TurnSettings) (protocol.EventResult, error)
}

// Names returns the current names of renamed conversations.
type Names interface {
	CurrentName(ctx context.Context, session string) (string, error)
}

// ModelFinder returns an error if no server can be asked for a model with that name.
type ModelFinder interface {
	Find(name string) error
}

// TurnResolver resolves the settings of a turn that is answered again.
type TurnResolver interface {
	ResolveAgain(ctx context.Context, record journal.Turn, above string) (protocol.TurnSettings, error)
}

// Subagents lists and stops the subagents of turns.
type Subagents interface {
	// List returns the subagents of a conversation, or of all conversations for "".
	List(ctx context.Context, session string) ([]protocol.Subagent, error)
	// Cancel stops the subagents of a turn, or of all turns of the conversation for "".
	Cancel(ctx context.Context, session, turn string) (stopped int, err error)
}

// Methods returns the methods of this service.
func (t Turns) Methods() []Method {
	return []Method{
		{protocol.MethodTurnCancel, For(t.cancel)},
		{protocol.MethodTurnRetry, For(t.retry)},
		{protocol.MethodSubagentList, For(t.subagents)},
	}
}

func (t Turns) retry(ctx context.Context, p protocol.TurnRetryParams) (protocol.EventResult, error) {
	if p.Model != "" {
		if err := t.Models.Find(p.Model); err != nil {
			return protocol.EventResult{}, err
		}
	}
	record, err := t.Sessions.Turn(ctx, protocol.TurnParams{Turn: p.Turn, Event: p.Event})
	if err != nil {
		return protocol.EventResult{}, err
	}
	settings, err := t.Settings.ResolveAgain(ctx, record, p.Above)
	if err != nil {
		return protocol.EventResult{}, err
	}
	return t.Sessions.Retry(ctx, p, settings)
}

// cancel stops a turn and its subagents. Without a turn's id it stops all turns of the
// conversation.
func (t Turns) cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	result, err := t.Sessions.Cancel(ctx, p)
	if err != nil || p.Turn+p.Event != "" && !result.Cancelled {
		return result, err
	}
	name, err := t.Names.CurrentName(ctx, cmp.Or(p.Session, protocol.MainSession))
	turn := ""
	if p.Turn+p.Event != "" {
		record, found := t.Sessions.Turn(ctx, protocol.TurnParams{Turn: result.Turn})
		name, turn, err = record.Session, record.ID, found
	}
	if err != nil {
		return result, err
	}
	stopped, err := t.Subagents.Cancel(ctx, name, turn)
	result.Cancelled = result.Cancelled || stopped > 0
	return result, err
}

// subagents returns the states of the subagents.
func (t Turns) subagents(ctx context.Context, p protocol.SubagentListParams) (protocol.SubagentListResult, error) {
	name := p.Session
	if name != "" {
		var err error
		if name, err = t.Names.CurrentName(ctx, name); err != nil {
			return protocol.SubagentListResult{}, err
		}
	}
	list, err := t.Subagents.List(ctx, name)
	return protocol.SubagentListResult{Subagents: list}, err
}

// withParents returns the busy conversations, sorted so that each subagent stands after the conversation
// that started it.
func withParents(busy []protocol.ConversationStatus, subagents []protocol.Subagent) []protocol.ConversationStatus {
	for i := range busy {
		at := slices.IndexFunc(subagents, func(s protocol.Subagent) bool { return s.Child == busy[i].Name })
		if at >= 0 {
			busy[i].Parent, busy[i].Label = subagents[at].Session, subagents[at].Label
		}
	}
	slices.SortStableFunc(busy, func(a, b protocol.ConversationStatus) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.Parent, a.Name), cmp.Or(b.Parent, b.Name)), cmp.Compare(a.Parent, b.Parent))
	})
	return busy
}
