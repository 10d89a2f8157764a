package daemon

import (
	"context"
	"strings"
	"time"
	"unicode"

	"org-agent/kernel/agent"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// toolList are the kernel's own tools, for other programs. Those of MCP servers they can have from
// there.
func (d *daemon) toolList(context.Context, *rpc.Client, *protocol.Empty) (protocol.ToolListResult, error) {
	var result protocol.ToolListResult
	for _, t := range d.tools.Offered() {
		if !t.Foreign() && t.Name() != "sessions_list" && t.Effect() != protocol.ToolSpawns { // a program's call has no model that could be handed work
			result.Tools = append(result.Tools, protocol.ToolInfo{Name: t.Name(), Does: t.Does(), Effect: t.Effect(), Schema: t.Schema()})
		}
	}
	return result, nil
}

// toolCall makes a call for another program: in a conversation of that program's, where the call
// and what came of it are kept, and in which a person is asked where the policy says so. When the
// client goes or gives up, the call ends.
func (d *daemon) toolCall(ctx context.Context, _ *rpc.Client, p *protocol.ToolCallParams) (protocol.ToolCallResult, error) {
	text, err := agent.CallOf(*p)
	if err != nil {
		return protocol.ToolCallResult{}, protocol.Errorf(protocol.CodeInvalidParams, "%v", err)
	}
	event := protocol.Event{ID: newID(), Session: programSession(p.Program), Sensor: protocol.SensorToolCall, Route: protocol.Route{Kind: protocol.RouteMCP}, Text: text}
	outcome, forget := d.agent.AwaitCall(event.ID)
	defer forget()
	submitted, err := d.sessions.Submit(ctx, event)
	if err != nil {
		return protocol.ToolCallResult{}, err
	}
	rpc.Release(ctx) // others of the same client may be made, or be called off
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case result := <-outcome:
			return result, nil
		case <-ctx.Done():
			_, err := d.sessions.Cancel(context.WithoutCancel(ctx), protocol.TurnParams{Turn: submitted.Turn})
			if err != nil {
				d.log.Error("a call that nobody waits for is not stopped", "turn", submitted.Turn, "err", err)
			}
			return protocol.ToolCallResult{}, ctx.Err()
		case <-look.C: // a turn that was stopped before it began has no outcome
			turn, err := d.sessions.Turn(ctx, protocol.TurnParams{Turn: submitted.Turn})
			if err == nil && turn.State.Final() && len(outcome) == 0 {
				return protocol.ToolCallResult{Turn: turn.ID, Verdict: "failed", Text: turn.Notice, Code: endedCode(turn.State)}, nil
			}
		}
	}
}

// endedCode is of what kind the error is of a call whose turn ended so.
func endedCode(state protocol.TurnState) protocol.ToolErrorCode {
	if state == protocol.TurnCancelled || state == protocol.TurnInterrupted {
		return protocol.ToolCancelled
	}
	return protocol.ToolFailed
}

// programSession is the conversation of a program's calls.
func programSession(program string) string {
	name := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, program)
	const most = 40
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most])
	}
	return strings.TrimRight("mcp-"+name, "-.")
}
