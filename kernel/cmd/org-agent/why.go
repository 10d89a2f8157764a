package main

import (
	"context"
	"io"
	"time"

	"org-agent/kernel/explain"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// whyCommand is "org-agent why". It reads the journal directly, so it works without a kernel and
// beside one that hangs.
type whyCommand struct {
	ID   string `arg:"" help:"The id of a question, answer, action, approval or turn, or the beginning of the id."`
	JSON bool   `help:"Print the turn and its journal rows as JSON."`
}

// whyTimeout is how long reading may take. The journal may be on a disk that hangs.
const whyTimeout = 30 * time.Second

func (c *whyCommand) Run(ctx context.Context, proc *process) error {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, whyTimeout)
	defer cancel()
	j, err := journal.OpenToRead(ctx, paths.Journal)
	if err != nil {
		return err
	}
	defer j.Close()
	t, err := explain.Reader{Rows: j.Records, Turns: j.Turns}.Read(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(tracePrinted{
			ID: t.Named.ID, Kind: t.Named.Kind, Turn: t.Turn.ID, Event: t.Turn.Event, Session: t.Turn.Session,
			State: t.Turn.State, Skill: t.Turn.Skill, Model: t.Turn.Model, Entries: t.Entries, Left: t.Truncated,
		})
	}
	_, err = io.WriteString(proc.stdout, t.Outline(builtInKinds()))
	return err
}

// tracePrinted is a trace as JSON.
type tracePrinted struct {
	ID      string             `json:"id"`
	Kind    string             `json:"kind"`
	Turn    string             `json:"turn"`
	Event   string             `json:"event"`
	Session string             `json:"session"`
	State   protocol.TurnState `json:"state"`
	Skill   string             `json:"skill,omitempty"`
	Model   string             `json:"model,omitempty"`
	Entries []journal.Entry    `json:"entries"`
	Left    bool               `json:"left,omitempty"`
}
