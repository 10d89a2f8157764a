package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/protocol"
)

// memoryCommands is "org-agent memory".
type memoryCommands struct {
	Search  memorySearchCommand  `cmd:"" help:"Look for words in what is kept and in your notes; \"words in quotes\" stand together, word* is a beginning."`
	List    memoryListCommand    `cmd:"" help:"List what the agent would keep, change or forget, and waits for you."`
	Accept  memoryAcceptCommand  `cmd:"" help:"Accept proposals."`
	Drop    memoryDropCommand    `cmd:"" help:"Drop proposals."`
	Changes memoryChangesCommand `cmd:"" help:"List what the agent kept, changed and forgot, the latest first."`
	Undo    memoryUndoCommand    `cmd:"" help:"Take a change back, the latest if none is named."`
	Index   memoryIndexCommand   `cmd:"" help:"Make the index what the files are now."`
}

type memorySearchCommand struct {
	Tag   []string `help:"Only with this tag; of several, all." placeholder:"TAG"`
	Since string   `help:"Only of this day or later." placeholder:"YYYY-MM-DD"`
	Until string   `help:"Only of this day or earlier." placeholder:"YYYY-MM-DD"`
	File  []string `help:"Only in this file or directory." placeholder:"PATH"`
	Kept  bool     `help:"Only what is kept, without your notes elsewhere."`
	Limit int      `help:"How many results at most, up to 199." default:"20"`
	JSON  bool     `help:"Print JSON."`
	Query []string `arg:"" optional:"" help:"What to look for; without it, the latest."`
}

func (c *memorySearchCommand) Run(ctx context.Context, w *world) error {
	params := protocol.MemorySearchParams{Query: strings.Join(c.Query, " "), Tags: c.Tag, Since: c.Since, Until: c.Until, Kept: c.Kept, Limit: c.Limit}
	for _, file := range c.File {
		path, err := filepath.Abs(file)
		if err != nil {
			return fmt.Errorf("find %s: %w", file, err)
		}
		params.Files = append(params.Files, path)
	}
	var found protocol.MemorySearchResult
	if err := w.call(ctx, protocol.MethodMemorySearch, params, &found); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(found)
	}
	for _, h := range found.Hits {
		line := fmt.Sprintf("%s:%d: %s", h.File, h.Line, h.Title)
		if len(h.Tags) > 0 {
			line += "  :" + strings.Join(h.Tags, ":") + ":"
		}
		if h.Scope != "" {
			line += "  (only for " + h.Scope + ")"
		}
		fmt.Fprintln(w.out, line)
		if h.Snippet != "" {
			fmt.Fprintln(w.out, "    "+h.Snippet)
		}
	}
	if found.Indexing {
		fmt.Fprintln(w.err, "org-agent: the index is still being made; there may be more in a moment")
	}
	switch {
	case len(found.Hits) == 0:
		return errors.New("nothing that is kept, and none of your notes, has all of that")
	case found.More:
		fmt.Fprintln(w.err, "org-agent: there is more; --limit shows it, another word narrows it")
	}
	return nil
}

type memoryListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *memoryListCommand) Run(ctx context.Context, w *world) error {
	var list protocol.MemoryProposalsResult
	if err := w.call(ctx, protocol.MethodMemoryProposals, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(list)
	}
	for _, p := range list.Proposals {
		would := map[protocol.MemoryOperation]string{protocol.MemorySaved: "keep", protocol.MemoryUpdated: "change", protocol.MemoryForgotten: "forget"}[p.Operation]
		line := fmt.Sprintf("%s  %s  %-6s  %s", p.Proposal, localTime(p.Time), would, p.Title)
		if len(p.Tags) > 0 {
			line += "  :" + strings.Join(p.Tags, ":") + ":"
		}
		fmt.Fprintf(w.out, "%s  (from %s)\n", line, p.Session)
		for text := range strings.Lines(p.Text) {
			fmt.Fprintln(w.out, "    "+strings.TrimRight(text, "\n"))
		}
	}
	return nil
}

type memoryAcceptCommand struct {
	All bool     `help:"All that wait."`
	ID  []string `arg:"" optional:"" help:"The proposals, as \"org-agent memory list\" lists them."`
}

func (c *memoryAcceptCommand) Run(ctx context.Context, w *world) error {
	ids := c.ID
	if c.All {
		var list protocol.MemoryProposalsResult
		if err := w.call(ctx, protocol.MethodMemoryProposals, protocol.Empty{}, &list); err != nil {
			return err
		}
		for _, p := range list.Proposals {
			ids = append(ids, p.Proposal)
		}
	}
	return w.decideMemory(ctx, ids, protocol.MethodMemoryAccept, protocol.MemoryAcceptParams{IDs: ids})
}

type memoryDropCommand struct {
	ID []string `arg:"" help:"The proposals, as \"org-agent memory list\" lists them."`
}

func (c *memoryDropCommand) Run(ctx context.Context, w *world) error {
	return w.decideMemory(ctx, c.ID, protocol.MethodMemoryDrop, protocol.MemoryDropParams{IDs: c.ID})
}

// decideMemory accepts or drops proposals and says what became of them.
func (w *world) decideMemory(ctx context.Context, ids []string, method string, params any) error {
	if len(ids) == 0 {
		return usagef("no proposal is named; \"org-agent memory list\" lists them")
	}
	var done protocol.MemoryDecideResult
	if err := w.call(ctx, method, params, &done); err != nil {
		return err
	}
	for _, change := range done.Changes {
		fmt.Fprintln(w.out, changeLine(change))
	}
	var faults []error
	for _, refused := range done.Refused {
		faults = append(faults, fmt.Errorf("%s: %s", refused.Proposal, refused.Message))
	}
	return errors.Join(faults...)
}

type memoryChangesCommand struct {
	Limit int  `help:"How many at most." default:"20"`
	JSON  bool `help:"Print JSON."`
}

func (c *memoryChangesCommand) Run(ctx context.Context, w *world) error {
	var list protocol.MemoryChangesResult
	if err := w.call(ctx, protocol.MethodMemoryChanges, protocol.MemoryChangesParams{Limit: c.Limit}, &list); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(list)
	}
	for _, change := range list.Changes {
		fmt.Fprintln(w.out, changeLine(change))
	}
	return nil
}

// changeLine is a change as people read it.
func changeLine(c protocol.MemoryChange) string {
	line := fmt.Sprintf("%s  %s  %-9s  %s  %s", c.ID, localTime(c.Time), c.Operation, filepath.Base(c.File), c.Title)
	switch {
	case c.Undoes != "":
		line += "  (took " + c.Undoes + " back)"
	case c.Undone:
		line += "  (taken back)"
	}
	return line
}

type memoryUndoCommand struct {
	JSON bool   `help:"Print JSON."`
	ID   string `arg:"" optional:"" help:"The change, as \"org-agent memory changes\" lists it."`
}

func (c *memoryUndoCommand) Run(ctx context.Context, w *world) error {
	var back protocol.MemoryChange
	if err := w.call(ctx, protocol.MethodMemoryUndo, protocol.MemoryUndoParams{ID: c.ID}, &back); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(back)
	}
	fmt.Fprintln(w.out, changeLine(back))
	return nil
}

type memoryIndexCommand struct {
	Anew bool `help:"Throw the index away first."`
	JSON bool `help:"Print JSON."`
}

func (c *memoryIndexCommand) Run(ctx context.Context, w *world) error {
	var made protocol.MemoryIndexResult
	if err := w.call(ctx, protocol.MethodMemoryIndex, protocol.MemoryIndexParams{Anew: c.Anew}, &made); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(made)
	}
	fmt.Fprintf(w.out, "%d files are indexed; %d were read, in %.2f s\n", made.Files, made.Read, made.Seconds)
	return nil
}
