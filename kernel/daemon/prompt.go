package daemon

import (
	"context"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// standIn is the message of a prompt that is looked at before there is one.
const standIn = "…"

// prompt shows what a model would be sent for an event. Its parameters are those of the
// event; without a text a stand-in is shown for it.
func (d *daemon) prompt(ctx context.Context, client *rpc.Client, params *protocol.Object) (protocol.PromptResult, error) {
	if strings.TrimSpace(params.Text("text")) == "" && params.Text("sensor") != string(protocol.SensorUserCommand) {
		params.Set("text", standIn)
	}
	if params.Text("sensor") == "" {
		params.Set("sensor", protocol.Keyword(protocol.SensorChatMessage))
	}
	event, err := d.readEvent(client, *params)
	if err != nil {
		return protocol.PromptResult{}, err
	}
	return d.agent.Prompt(ctx, event), ctx.Err()
}
