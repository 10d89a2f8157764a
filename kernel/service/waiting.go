package service

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/text"
)

// The maximum sizes, in bytes, of the actions and texts in a list of asks, and of one part of an
// approval.
const (
	asksLimit = 1 << 20
	askPart   = 1 << 20
)

// Asks lists what waits for a person, and takes the person's decisions.
type Asks struct {
	Store   AskStore
	Decider Decider
	Judge   Judge
	Kinds   ClientChecker
	Tools   ToolChecker
	// RulesChanged is called when a decision has written a rule into policy.org.
	RulesChanged func()
}

// AskStore stores asks.
type AskStore interface {
	OpenAsks(ctx context.Context) ([]protocol.Ask, error)
	Ask(ctx context.Context, id string) (protocol.Ask, error)
}

// Decider takes a decision of that kind of client. Edited is the action of the parameters; it is empty
// if they have none.
type Decider interface {
	Decide(ctx context.Context, p protocol.AskDecideParams, edited action.Proposed, client string) (protocol.AskDecideResult, error)
}

// Judge returns the policy's current verdict on an action.
type Judge interface {
	Judge(ctx context.Context, a action.Action, where policy.Where) policy.Verdict
}

// ClientChecker asks the client that would perform an action whether it could.
type ClientChecker interface {
	CheckClient(ctx context.Context, order kind.Order, a action.Action) error
}

// ToolChecker returns why a waiting call can no longer be made, or nil. Only the person who decides may see it.
type ToolChecker interface {
	Stale(ctx context.Context, name string, arguments protocol.Object) error
}

// Methods returns the methods of this service.
func (a Asks) Methods() []Method {
	return []Method{
		{protocol.MethodAskList, For(a.list)},
		{protocol.MethodAskGet, For(a.part)},
		{protocol.MethodAskCheck, For(a.check)},
		{protocol.MethodAskDecide, ForClient(a.decide)},
	}
}

// list returns what waits, the oldest first. After a megabyte it omits actions and texts.
func (a Asks) list(ctx context.Context, _ protocol.Empty) (protocol.AskListResult, error) {
	open, err := a.Store.OpenAsks(ctx)
	var result protocol.AskListResult
	size := 0
	for _, ask := range open {
		ask = ask.Shortened()
		if size += len(ask.Action) + len(ask.Text); size > asksLimit {
			ask.Cut += len(ask.Action) + len(ask.Text)
			ask.Action, ask.Text = "", ""
		}
		result.Asks = append(result.Asks, ask)
	}
	return result, err
}

// part returns a part of an approval, pending or decided, so that all of it can be read.
func (a Asks) part(ctx context.Context, p protocol.AskGetParams) (protocol.AskGetResult, error) {
	approval, err := a.Store.Ask(ctx, p.ID)
	if err != nil {
		return protocol.AskGetResult{}, err
	}
	whole := approval.Text
	if p.Action {
		whole = approval.Action
	}
	if p.From < 0 || p.From > len(whole) || p.From < len(whole) && whole[p.From]&0xc0 == 0x80 {
		return protocol.AskGetResult{}, protocol.Errorf(protocol.CodeInvalidParams,
			"no character begins at byte %d of %d: continue at the :next of the previous part", p.From, len(whole))
	}
	part := text.Prefix(whole[p.From:], askPart)
	result := protocol.AskGetResult{Text: part, Total: len(whole)}
	if next := p.From + len(part); next < len(whole) {
		result.Next = next
	}
	return result, nil
}

func (a Asks) decide(ctx context.Context, client *rpc.Client, p protocol.AskDecideParams) (protocol.AskDecideResult, error) {
	var edited action.Proposed
	if p.Edited != "" {
		var err error
		if edited, err = action.Read(p.Edited); err != nil {
			return protocol.AskDecideResult{}, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be read: %v", err)
		}
	}
	return a.take(ctx, p, edited, string(client.Capabilities().Channel()))
}

// Decide takes a person's decision that came by a channel. It replaces no action by another one.
func (a Asks) Decide(ctx context.Context, p protocol.AskDecideParams, channel string) (protocol.AskDecideResult, error) {
	p.Edited = ""
	return a.take(ctx, p, action.Proposed{}, channel)
}

// take takes a decision, unless it is for an action that would fail now.
func (a Asks) take(ctx context.Context, p protocol.AskDecideParams, edited action.Proposed, client string) (protocol.AskDecideResult, error) {
	if err := a.checkFresh(ctx, p, edited); err != nil {
		return protocol.AskDecideResult{}, err
	}
	result, err := a.Decider.Decide(ctx, p, edited, client)
	if err == nil && (result.Decision == protocol.AllowAlways || result.Decision == protocol.AllowReading) {
		a.RulesChanged()
	}
	return result, err
}

// check returns whether a waiting action could be performed now.
func (a Asks) check(ctx context.Context, p protocol.AskCheckParams) (protocol.AskCheckResult, error) {
	approval, err := a.Store.Ask(ctx, p.ID)
	if err != nil {
		return protocol.AskCheckResult{}, err
	}
	return protocol.AskCheckResult{Stale: a.stale(ctx, approval, action.Recorded(approval.Action))}, nil
}

// checkFresh returns an error for the approval of an action that would fail now. The action continues to
// wait.
func (a Asks) checkFresh(ctx context.Context, p protocol.AskDecideParams, edited action.Proposed) error {
	if p.Decision == protocol.Deny {
		return nil
	}
	approval, err := a.Store.Ask(ctx, p.ID)
	if err != nil || approval.Sort != protocol.AskApproval || !approval.Waits() {
		return nil // the decision itself reports the error
	}
	waiting := edited.Action()
	if p.Edited == "" {
		waiting = action.Recorded(approval.Action)
	}
	if stale := a.stale(ctx, approval, waiting); stale != "" {
		return protocol.Errorf(protocol.CodeStale, "it cannot be performed now, and continues to wait: %s", stale)
	}
	return nil
}

// stale judges a waiting action again, and asks its performer whether it could be performed. It
// returns what prevents the action, or "" if nothing does or that is not known. It is computed when a
// person looks or decides, and is stored nowhere: whoever proposed the action may not know what it says.
func (a Asks) stale(ctx context.Context, approval protocol.Ask, waiting action.Action) string {
	verdict := a.Judge.Judge(ctx, waiting, policy.Where{Session: approval.Session, Turn: approval.Turn})
	switch {
	case verdict.Kind != policy.Refuse:
	case verdict.Failure != nil && verdict.Failure.Code == protocol.ToolChanged:
		return verdict.Failure.Message
	default:
		return "" // the action is judged again when it is performed
	}
	order := kind.Order{ID: approval.ID, Session: approval.Session, Turn: approval.Turn, Event: approval.Event}
	if err := a.Kinds.CheckClient(ctx, order, verdict.Action); err != nil {
		return err.Error()
	}
	for _, call := range verdict.Action.Calls() {
		arguments, err := call.Arguments()
		if err == nil {
			err = a.Tools.Stale(ctx, call.Tool, arguments)
		}
		if err != nil {
			return err.Error()
		}
	}
	return ""
}
