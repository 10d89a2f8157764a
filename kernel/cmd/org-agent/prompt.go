package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// promptCommand is "org-agent prompt".
type promptCommand struct {
	Session string   `help:"The session whose history is shown (default: main)." placeholder:"NAME"`
	Add     []string `help:"Attach a file, a directory or an image; \"-\" is standard input." placeholder:"FILE" sep:"none"`
	Mode    string   `help:"Print only the system prompt, in this mode: full, minimal or none." enum:"full,minimal,none," default:"" placeholder:"MODE"`
	Kind    string   `help:"Print only the system prompt, for this kind of turn: chat, task, heartbeat or subagent." enum:"chat,task,heartbeat,subagent," default:"" placeholder:"KIND"`
	Profile string   `help:"Apply this profile, a file of profiles/ in the home." placeholder:"NAME"`
	JSON    bool     `help:"Print JSON."`
	Text    []string `arg:"" optional:"" help:"The message (default: a placeholder)."`
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
	if c.Profile != "" {
		params.Set("properties", []any{[]any{protocol.SettingProfile, c.Profile}})
	}
	if c.Mode != "" {
		params.Set(protocol.PromptMode, c.Mode)
	}
	if c.Kind != "" {
		params.Set(protocol.PromptKind, c.Kind)
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

// print writes each message below its role on stdout, and the sizes on stderr. With a mode or a
// kind, stdout is exactly the system prompt.
func (c *promptCommand) print(w *world, result protocol.PromptResult) {
	printSections(w.err, result)
	if c.Mode+c.Kind != "" {
		fmt.Fprint(w.out, result.Parts[0].Text)
		return
	}
	for _, part := range result.Parts {
		fmt.Fprintf(w.out, "--- %s ---\n%s\n", part.Role, part.Text)
		fmt.Fprintf(w.err, "%-9s %-10s %9d bytes  about %d tokens\n", part.Name, part.Role, part.Bytes, part.Tokens)
		for _, item := range part.Context {
			fmt.Fprintf(w.err, "          along: %s\n", item)
		}
	}
	c.printHistory(w, result.History)
	for _, set := range result.Settings {
		fmt.Fprintf(w.err, "%s, set by %s: %s\n", set.Name, set.From, text.Prefix(strings.Join(strings.Fields(set.Value), " "), 100))
	}
	fmt.Fprintf(w.err, "%-20s %9d bytes  about %d tokens, by the skill %s to %s; nothing was sent\n", "all", result.Bytes, result.Tokens, result.Skill, result.Model)
}

// printHistory says how much of the earlier conversation is shown.
func (c *promptCommand) printHistory(w *world, h *protocol.History) {
	if h == nil {
		return
	}
	source := "by " + h.Source
	if h.Source == "" {
		source = "as nobody says; WINDOW in config.org does"
	}
	fmt.Fprintf(w.err, "earlier turns: %d as said, notes of %d, %d not at all; %d results shortened, %d left out; about %d tokens of %d, %s\n",
		h.Turns, h.Summarised, h.Left, h.Shortened, h.Omitted, h.Tokens, h.Window, source)
}

// printSections lists the sections of the system prompt, then those that are left out.
func printSections(w io.Writer, result protocol.PromptResult) {
	absent := map[string][]string{}
	var reasons []string
	for _, s := range result.Sections {
		if s.Why != "" {
			if absent[s.Why] == nil {
				reasons = append(reasons, s.Why)
			}
			absent[s.Why] = append(absent[s.Why], s.Name)
			continue
		}
		sources := "shipped"
		if len(s.Sources) > 0 {
			sources = strings.Join(s.Sources, ", ")
		}
		cut := ""
		if s.Whole > 0 {
			cut = fmt.Sprintf(", cut from %d", s.Whole)
		}
		fmt.Fprintf(w, "%-12s %-6s %-9s %7d bytes %4d lines  about %d tokens  %s  %s%s\n", s.Name, s.Trust, s.Tier, s.Bytes, s.Lines, s.Tokens, s.Hash, sources, cut)
	}
	for _, why := range reasons {
		fmt.Fprintf(w, "%s: %s\n", why, strings.Join(absent[why], ", "))
	}
	if result.Over > 0 {
		fmt.Fprintf(w, "the required sections have about %d tokens more than the model has room for\n", result.Over)
	}
}
