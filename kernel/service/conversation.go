package service

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/session"
)

// Conversations lists the conversations and their messages.
type Conversations struct {
	Sessions   *session.Sessions
	Questions  PastQuestions
	Names      ConversationNames
	Compaction Compaction
	// Model returns the model that is shown for a conversation without an answer.
	Model func() string
	// OnLeave is called when a person leaves a conversation.
	OnLeave func(session string)
}

// PastQuestions finds earlier messages of people, the latest first.
type PastQuestions interface {
	PastQuestions(ctx context.Context, query, except string, limit int) ([]journal.Turn, error)
}

// ConversationNames reports whether a conversation has any message.
type ConversationNames interface {
	HasSession(ctx context.Context, name string) (bool, error)
}

// Compaction replaces the beginning of a conversation by a summary.
type Compaction interface {
	Now(ctx context.Context, session string) (protocol.SessionCompacted, error)
	Stop(ctx context.Context, session string) (protocol.SessionCompacted, error)
	Undo(ctx context.Context, session string) (protocol.SessionCompacted, error)
}

// Methods returns the methods of this service.
func (c Conversations) Methods() []Method {
	return []Method{
		{protocol.MethodSessionList, For(func(ctx context.Context, _ protocol.Empty) (protocol.SessionListResult, error) {
			return c.Sessions.List(ctx)
		})},
		{protocol.MethodSessionLoad, ForClient(c.load)},
		{protocol.MethodSessionLeave, ForClient(c.leave)},
		{protocol.MethodSessionPace, ForClient(func(ctx context.Context, client *rpc.Client, p protocol.SessionPaceParams) (protocol.Empty, error) {
			return protocol.Empty{}, c.Sessions.Pace(ctx, client, p)
		})},
		{protocol.MethodSessionSearch, For(c.Sessions.Search)},
		{protocol.MethodSessionRename, For(c.Sessions.Rename)},
		{protocol.MethodSessionFork, For(c.Sessions.Fork)},
		{protocol.MethodSessionAsked, For(c.inputHistory)},
		{protocol.MethodSessionCompact, ForRequest(c.compact)},
		{protocol.MethodTurnPrefer, For(c.Sessions.Prefer)},
		{protocol.MethodTurnSteer, For(c.Sessions.Steer)},
		{protocol.MethodTurnGet, ForClient(func(ctx context.Context, client *rpc.Client, p protocol.TurnGetParams) (protocol.TurnGetResult, error) {
			return c.Sessions.Get(ctx, client, p)
		})},
		{protocol.MethodTurnFind, ForClient(func(ctx context.Context, client *rpc.Client, p protocol.TurnFindParams) (protocol.TurnFindResult, error) {
			return c.Sessions.Find(ctx, client, p)
		})},
	}
}

func (c Conversations) load(ctx context.Context, client *rpc.Client, p protocol.SessionLoadParams) (protocol.SessionLoadResult, error) {
	result, err := c.Sessions.Attach(ctx, client, p)
	if result.Model == "" {
		result.Model = c.Model()
	}
	return result, errors.Join(err, c.Sessions.Remind(ctx, client, result.Session))
}

func (c Conversations) leave(_ context.Context, client *rpc.Client, p protocol.SessionLeaveParams) (protocol.Empty, error) {
	c.Sessions.Leave(client, p.Session)
	c.OnLeave(p.Session)
	return protocol.Empty{}, nil
}

func (c Conversations) inputHistory(ctx context.Context, p protocol.InputHistoryParams) (protocol.InputHistoryResult, error) {
	var result protocol.InputHistoryResult
	turns, err := c.Questions.PastQuestions(ctx, p.Query, p.Except, p.Limit)
	for _, turn := range turns {
		result.Questions = append(result.Questions, protocol.PastQuestion{
			Session: turn.Session, ID: turn.Event, Time: turn.Accepted.UTC().Format(time.RFC3339),
			Text: journal.QuestionText(turn.Question),
		})
	}
	return result, err
}

func (c Conversations) compact(ctx context.Context, r *rpc.Request, p protocol.SessionCompactParams) (protocol.SessionCompacted, error) {
	session := p.Session
	if session == "" {
		session = protocol.MainSession
	}
	exists, err := c.Names.HasSession(ctx, session)
	if err == nil && !exists {
		err = protocol.Errorf(protocol.CodeNotFound, "the conversation %q has no message", session)
	}
	if err != nil {
		return protocol.SessionCompacted{}, err
	}
	switch {
	case p.Undo && p.Stop:
		return protocol.SessionCompacted{}, protocol.Errorf(protocol.CodeInvalidParams, "a summary can be stopped or undone, but not both")
	case p.Undo:
		return c.Compaction.Undo(ctx, session)
	}
	r.Release() // it may take minutes; the client's next requests must not wait
	if p.Stop {
		return c.Compaction.Stop(ctx, session)
	}
	result, err := c.Compaction.Now(ctx, session)
	switch {
	case errors.Is(err, history.ErrNothing):
		err = protocol.Errorf(protocol.CodeConflict, "%v", err)
	case errors.Is(err, history.ErrStopped):
		err = protocol.Errorf(protocol.CodeCancelled, "%v", err)
	}
	return result, err
}
