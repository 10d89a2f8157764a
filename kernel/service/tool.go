package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/tool"
)

// Tools lets other programs call the kernel's own tools. Tools of MCP servers are not offered,
// because the programs can use those servers directly.
type Tools struct {
	Registry *tool.Registry
	Sessions CallSessions
	Calls    Calls
	NewID    func() string
	Logger   *slog.Logger

	run string // distinguishes the connections of this kernel from those of earlier ones
}

// CallSessions submits a call as a turn of its conversation.
type CallSessions interface {
	Submitter
	Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error)
	Turn(ctx context.Context, p protocol.TurnParams) (journal.Turn, error)
}

// Calls makes the events of calls, and returns the outcomes.
type Calls interface {
	// CallText returns a call as the text of an event.
	CallText(p protocol.ToolCallParams) (string, error)
	// AwaitCall must be called before the event is submitted. The caller must call forget at the
	// end.
	AwaitCall(event string) (outcome <-chan protocol.ToolCallResult, forget func())
}

// Methods returns the methods of this service.
func (t Tools) Methods() []Method {
	t.run = t.NewID()
	return []Method{
		{protocol.MethodToolList, For(t.list)},
		{protocol.MethodToolCall, ForRequest(t.call)},
	}
}

func (t Tools) list(context.Context, protocol.Empty) (protocol.ToolListResult, error) {
	var result protocol.ToolListResult
	for _, offered := range t.Registry.Offered() {
		// Another program's call has no model that could start a subagent.
		if !offered.Foreign() && !offered.Private() && offered.Effect() != protocol.ToolSpawns {
			result.Tools = append(result.Tools, protocol.ToolInfo{Name: offered.Name(), Does: offered.Does(), Effect: offered.Effect(), Schema: offered.Schema()})
		}
	}
	return result, nil
}

// call makes a call for another program, in the conversation of its connection. The conversation
// records the call and its outcome, and a person is asked there if the policy asks. The call ends
// when the client disconnects or cancels it.
func (t Tools) call(ctx context.Context, r *rpc.Request, p protocol.ToolCallParams) (protocol.ToolCallResult, error) {
	text, err := t.Calls.CallText(p)
	if err != nil {
		return protocol.ToolCallResult{}, protocol.Errorf(protocol.CodeInvalidParams, "%v", err)
	}
	event := protocol.Event{ID: t.NewID(), Session: t.session(r.Client, p.Program), Sensor: protocol.SensorToolCall, Route: protocol.Route{Kind: protocol.RouteMCP}, Text: text}
	outcome, forget := t.Calls.AwaitCall(event.ID)
	defer forget()
	submitted, err := t.Sessions.Submit(ctx, event)
	if err != nil {
		return protocol.ToolCallResult{}, err
	}
	r.Release() // the same client may make or cancel other calls
	poll := time.NewTicker(time.Second)
	defer poll.Stop()
	for {
		select {
		case result := <-outcome:
			return result, nil
		case <-ctx.Done():
			_, err := t.Sessions.Cancel(context.WithoutCancel(ctx), protocol.TurnParams{Turn: submitted.Turn})
			if err != nil {
				t.Logger.Error("a call for which no program waits any more was not stopped", "turn", submitted.Turn, "err", err)
			}
			return protocol.ToolCallResult{}, ctx.Err()
		case <-poll.C: // a turn that was stopped before it began sends no outcome
			turn, err := t.Sessions.Turn(ctx, protocol.TurnParams{Turn: submitted.Turn})
			if err == nil && turn.State.Final() && len(outcome) == 0 {
				return protocol.ToolCallResult{Turn: turn.ID, Verdict: "failed", Text: turn.Notice, Code: endedCode(turn.State)}, nil
			}
		}
	}
}

// endedCode returns the error code of a call whose turn ended in this state.
func endedCode(state protocol.TurnState) protocol.ToolErrorCode {
	if state == protocol.TurnCancelled || state == protocol.TurnInterrupted {
		return protocol.ToolCancelled
	}
	return protocol.ToolFailed
}

// session returns the conversation of a program's calls. A program says itself what it is called, so
// each connection has a conversation of its own: nobody sees what another program of that name did.
func (t Tools) session(client *rpc.Client, program string) string {
	id := ""
	if client != nil {
		id = client.ID()
	}
	sum := sha256.Sum256([]byte(t.run + "\x00" + id))
	return programName(program) + "-" + hex.EncodeToString(sum[:3])
}

// programName returns the name of a program as it stands in that of its conversation.
func programName(program string) string {
	name := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, program)
	const limit = 40
	if runes := []rune(name); len(runes) > limit {
		name = string(runes[:limit])
	}
	return strings.TrimRight("mcp-"+name, "-.")
}
