package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// memoryCommands is "org-agent memory".
type memoryCommands struct {
	Search  memorySearchCommand  `cmd:"" help:"Search memories and notes. \"Words in quotes\" must be adjacent; word* finds words that begin so."`
	List    memoryListCommand    `cmd:"" help:"List the agent's proposals to remember, change or forget something."`
	Accept  memoryAcceptCommand  `cmd:"" help:"Accept proposals."`
	Drop    memoryDropCommand    `cmd:"" help:"Drop proposals."`
	Changes memoryChangesCommand `cmd:"" help:"List what the agent remembered, changed and forgot, latest first."`
	Undo    memoryUndoCommand    `cmd:"" help:"Undo a change, by default the latest."`
	Index   memoryIndexCommand   `cmd:"" help:"Bring the index up to date with the files."`
}

type memorySearchCommand struct {
	Tag        []string `help:"Only headings with this tag; repeat it to require several." placeholder:"TAG"`
	Since      string   `help:"Only from this day on." placeholder:"YYYY-MM-DD"`
	Until      string   `help:"Only up to this day." placeholder:"YYYY-MM-DD"`
	File       []string `help:"Only in this file or directory." placeholder:"PATH"`
	MemoryOnly bool     `help:"Only memories, not your notes."`
	Limit      int      `help:"The maximum number of results, up to 199." default:"20"`
	JSON       bool     `help:"Print JSON."`
	Query      []string `arg:"" optional:"" help:"The words to search for (default: list the latest)."`
}

func (c *memorySearchCommand) Run(ctx context.Context, proc *process) error {
	params := protocol.MemorySearchParams{Query: strings.Join(c.Query, " "), Tags: c.Tag, Since: c.Since, Until: c.Until, MemoryOnly: c.MemoryOnly, Limit: c.Limit}
	for _, file := range c.File {
		path, err := filepath.Abs(file)
		if err != nil {
			return fmt.Errorf("find %s: %w", file, err)
		}
		params.Files = append(params.Files, path)
	}
	var found protocol.MemorySearchResult
	if err := proc.call(ctx, protocol.MethodMemorySearch, params, &found); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(found)
	}
	for _, h := range found.Hits {
		line := fmt.Sprintf("%s:%d: %s", h.File, h.Line, h.Title)
		if len(h.Tags) > 0 {
			line += "  :" + strings.Join(h.Tags, ":") + ":"
		}
		if h.Scope != "" {
			line += "  (only for " + h.Scope + ")"
		}
		fmt.Fprintln(proc.stdout, line)
		if h.Snippet != "" {
			fmt.Fprintln(proc.stdout, "    "+h.Snippet)
		}
	}
	if found.Indexing {
		fmt.Fprintln(proc.stderr, "org-agent: the index is not complete yet; later there may be more results")
	}
	switch {
	case len(found.Hits) == 0:
		return errors.New("no memory and no note contains all of that")
	case found.More:
		fmt.Fprintln(proc.stderr, "org-agent: there are more results; --limit shows them, another word narrows the search")
	}
	return nil
}

type memoryListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *memoryListCommand) Run(ctx context.Context, proc *process) error {
	var list protocol.MemoryProposalsResult
	if err := proc.call(ctx, protocol.MethodMemoryProposals, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(list)
	}
	if len(list.Proposals) == 0 {
		_, err := fmt.Fprintln(proc.stderr, "org-agent: no proposal to remember something waits for you")
		return err
	}
	for _, p := range list.Proposals {
		operation := map[protocol.MemoryOperation]string{protocol.MemorySaved: "keep", protocol.MemoryUpdated: "change", protocol.MemoryForgotten: "forget"}[p.Operation]
		line := fmt.Sprintf("%s  %s  %-6s  %s", p.Proposal, localTime(p.Time), operation, p.Title)
		if len(p.Tags) > 0 {
			line += "  :" + strings.Join(p.Tags, ":") + ":"
		}
		fmt.Fprintf(proc.stdout, "%s  (from %s)\n", line, p.Session)
		for text := range strings.Lines(p.Text) {
			fmt.Fprintln(proc.stdout, "    "+strings.TrimRight(text, "\n"))
		}
	}
	return nil
}

type memoryAcceptCommand struct {
	All bool     `help:"All pending proposals."`
	ID  []string `arg:"" optional:"" help:"The ids of the proposals; \"org-agent memory list\" shows them."`
}

func (c *memoryAcceptCommand) Run(ctx context.Context, proc *process) error {
	ids := c.ID
	if c.All {
		var list protocol.MemoryProposalsResult
		if err := proc.call(ctx, protocol.MethodMemoryProposals, protocol.Empty{}, &list); err != nil {
			return err
		}
		for _, p := range list.Proposals {
			ids = append(ids, p.Proposal)
		}
	}
	return proc.decideMemory(ctx, ids, protocol.MethodMemoryAccept, protocol.MemoryAcceptParams{IDs: ids})
}

type memoryDropCommand struct {
	ID []string `arg:"" help:"The ids of the proposals; \"org-agent memory list\" shows them."`
}

func (c *memoryDropCommand) Run(ctx context.Context, proc *process) error {
	return proc.decideMemory(ctx, c.ID, protocol.MethodMemoryDrop, protocol.MemoryDropParams{IDs: c.ID})
}

// decideMemory accepts or drops proposals and prints the outcome of each.
func (proc *process) decideMemory(ctx context.Context, ids []string, method string, params any) error {
	if len(ids) == 0 {
		return usagef("no proposal is named; \"org-agent memory list\" lists them")
	}
	var result protocol.MemoryDecideResult
	if err := proc.call(ctx, method, params, &result); err != nil {
		return err
	}
	for _, change := range result.Changes {
		fmt.Fprintln(proc.stdout, changeLine(change))
	}
	var faults []error
	for _, refused := range result.Refused {
		faults = append(faults, fmt.Errorf("%s: %s", refused.Proposal, refused.Message))
	}
	return errors.Join(faults...)
}

type memoryChangesCommand struct {
	Limit int  `help:"The maximum number of changes to list." default:"20"`
	JSON  bool `help:"Print JSON."`
}

func (c *memoryChangesCommand) Run(ctx context.Context, proc *process) error {
	var list protocol.MemoryChangesResult
	if err := proc.call(ctx, protocol.MethodMemoryChanges, protocol.MemoryChangesParams{Limit: c.Limit}, &list); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(list)
	}
	for _, change := range list.Changes {
		fmt.Fprintln(proc.stdout, changeLine(change))
	}
	return nil
}

// changeLine describes a change in one line.
func changeLine(c protocol.MemoryChange) string {
	line := fmt.Sprintf("%s  %s  %-9s  %s  %s", c.ID, localTime(c.Time), c.Operation, filepath.Base(c.File), c.Title)
	switch {
	case c.Undoes != "":
		line += "  (undid " + c.Undoes + ")"
	case c.Undone:
		line += "  (undone)"
	}
	return line
}

type memoryUndoCommand struct {
	JSON bool   `help:"Print JSON."`
	ID   string `arg:"" optional:"" help:"The id of the change; \"org-agent memory changes\" shows it."`
}

func (c *memoryUndoCommand) Run(ctx context.Context, proc *process) error {
	var change protocol.MemoryChange
	if err := proc.call(ctx, protocol.MethodMemoryUndo, protocol.MemoryUndoParams{ID: c.ID}, &change); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(change)
	}
	fmt.Fprintln(proc.stdout, changeLine(change))
	return nil
}

type memoryIndexCommand struct {
	Anew bool `help:"Delete the index first."`
	JSON bool `help:"Print JSON."`
}

func (c *memoryIndexCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.MemoryIndexResult
	if err := proc.call(ctx, protocol.MethodMemoryIndex, protocol.MemoryIndexParams{Anew: c.Anew}, &result); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result)
	}
	fmt.Fprintf(proc.stdout, "indexed: %s; %d read, in %.2f s\n", text.Count(result.Files, "file"), result.Read, result.Seconds)
	return nil
}
