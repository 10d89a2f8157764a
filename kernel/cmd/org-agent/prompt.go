package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
)

// promptCommand is "org-agent prompt".
type promptCommand struct {
	Session string   `help:"The session whose history is shown (default: main)." placeholder:"NAME"`
	Add     []string `help:"A file, a directory or an image that goes along; \"-\" is standard input." placeholder:"FILE" sep:"none"`
	JSON    bool     `help:"Print JSON."`
	Text    []string `arg:"" optional:"" help:"The message (default: a stand-in)."`
}

func (c *promptCommand) Run(ctx context.Context, w *world) error {
	added, err := w.added(c.Add)
	if err != nil {
		return err
	}
	conn, err := w.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	params := protocol.Object{
		{Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)}, {Key: "text", Value: strings.Join(c.Text, " ")},
		{Key: "channel", Value: protocol.Keyword(protocol.ChannelCLI)},
	}
	if c.Session != "" {
		params.Set("session", c.Session)
	}
	added.put(&params)
	var result protocol.PromptResult
	if err := conn.Call(ctx, protocol.MethodPromptGet, params, &result); err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(w.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(result)
	}
	if len(result.Parts) == 0 {
		fmt.Fprintf(w.err, "org-agent: %s\n", result.Note)
		return nil
	}
	c.print(w, result)
	return nil
}

// print writes the messages on stdout, each below its role, and their sizes on stderr.
func (c *promptCommand) print(w *world, result protocol.PromptResult) {
	for _, part := range result.Parts {
		fmt.Fprintf(w.out, "--- %s ---\n%s\n", part.Role, part.Text)
		fmt.Fprintf(w.err, "%-9s %-10s %9d bytes  about %d tokens\n", part.Name, part.Role, part.Bytes, part.Tokens)
		for _, item := range part.Context {
			fmt.Fprintf(w.err, "          along: %s\n", item)
		}
	}
	fmt.Fprintf(w.err, "%-20s %9d bytes  about %d tokens, by the skill %s to %s; nothing was sent\n", "all", result.Bytes, result.Tokens, result.Skill, result.Model)
}
