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

func (c *promptCommand) Run(ctx context.Context, proc *process) error {
	attached, err := proc.readAttachments(ctx, c.Add)
	if err != nil {
		return err
	}
	conn, err := proc.connect(ctx, connection{start: true})
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
	attached.addTo(&params)
	var result protocol.PromptResult
	if err := conn.Call(ctx, protocol.MethodPromptGet, params, &result); err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(proc.stdout)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(result)
	}
	if len(result.Parts) == 0 {
		fmt.Fprintf(proc.stderr, "org-agent: %s\n", result.Note)
		return nil
	}
	c.print(proc, result)
	return nil
}

// print writes each message below its role on stdout, and the sizes on stderr. With a mode or a
// kind, stdout is exactly the system prompt.
func (c *promptCommand) print(proc *process, result protocol.PromptResult) {
	printSections(proc.stderr, result)
	if c.Mode+c.Kind != "" {
		fmt.Fprint(proc.stdout, result.Parts[0].Text)
		return
	}
	for _, part := range result.Parts {
		fmt.Fprintf(proc.stdout, "--- %s ---\n%s\n", part.Role, part.Text)
		fmt.Fprintf(proc.stderr, "%-9s %-10s %9d bytes  about %d tokens\n", part.Name, part.Role, part.Bytes, part.Tokens)
		for _, item := range part.Context {
			fmt.Fprintf(proc.stderr, "          attached: %s\n", item)
		}
	}
	c.printHistory(proc, result.History)
	for _, setting := range result.Settings {
		fmt.Fprintf(proc.stderr, "%s, set by %s: %s\n", setting.Name, setting.From, text.Prefix(text.Line(setting.Value), 100))
	}
	fmt.Fprintf(proc.stderr, "%-20s %9d bytes  about %d tokens, by the skill %s to %s; nothing was sent\n", "all", result.Bytes, result.Tokens, result.Skill, result.Model)
}

// printHistory prints how much of the earlier conversation the prompt contains.
func (c *promptCommand) printHistory(proc *process, h *protocol.History) {
	if h == nil {
		return
	}
	source := "by " + h.Source
	if h.Source == "" {
		source = "a default, which WINDOW in config.org replaces"
	}
	fmt.Fprintf(proc.stderr, "earlier turns: %d whole, %d summarised, %d omitted; %d results shortened, %d omitted; about %d tokens of %d, %s\n",
		h.Turns, h.Summarised, h.Left, h.Shortened, h.Omitted, h.Tokens, h.Window, source)
}

// printSections lists the sections of the system prompt, then those that are omitted.
func printSections(w io.Writer, result protocol.PromptResult) {
	omitted := map[string][]string{}
	var reasons []string
	for _, s := range result.Sections {
		if s.Why != "" {
			if omitted[s.Why] == nil {
				reasons = append(reasons, s.Why)
			}
			omitted[s.Why] = append(omitted[s.Why], s.Name)
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
	for _, reason := range reasons {
		fmt.Fprintf(w, "%s: %s\n", reason, strings.Join(omitted[reason], ", "))
	}
	if result.Over > 0 {
		fmt.Fprintf(w, "the required sections have about %d tokens more than the model has room for\n", result.Over)
	}
}
