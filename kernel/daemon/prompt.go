package daemon

import (
	"context"
	"slices"
	"strings"

	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// standIn is the message of a prompt that is looked at before there is one.
const standIn = "…"

// prompt shows what a model would be sent for an event. Its parameters are those of the
// event; without a text a stand-in is shown for it.
func (d *daemon) prompt(ctx context.Context, client *rpc.Client, params *protocol.Object) (protocol.PromptResult, error) {
	mode, kind := prompt.Mode(params.Take(protocol.PromptMode)), prompt.Kind(params.Take(protocol.PromptKind))
	if mode != "" && !slices.Contains(prompt.Modes(), mode) {
		return protocol.PromptResult{}, protocol.Errorf(protocol.CodeInvalidParams, "there is no mode %q of a prompt; there are full, minimal and none", mode)
	}
	if kind != "" && !slices.Contains(prompt.Kinds(), kind) {
		return protocol.PromptResult{}, protocol.Errorf(protocol.CodeInvalidParams, "there is no kind %q of a prompt; there are chat, task, heartbeat and subagent", kind)
	}
	event, err := d.readShown(client, params)
	if err == nil {
		err = d.settle(ctx, &event)
	}
	if err != nil {
		return protocol.PromptResult{}, err
	}
	return d.agent.Prompt(ctx, event, mode, kind), ctx.Err()
}

// readShown is the event that a client only wants to see something of.
func (d *daemon) readShown(client *rpc.Client, params *protocol.Object) (protocol.Event, error) {
	if strings.TrimSpace(params.Text("text")) == "" && params.Text("sensor") != string(protocol.SensorUserCommand) {
		params.Set("text", standIn)
	}
	if params.Text("sensor") == "" {
		params.Set("sensor", protocol.Keyword(protocol.SensorChatMessage))
	}
	return d.readEvent(client, *params)
}
