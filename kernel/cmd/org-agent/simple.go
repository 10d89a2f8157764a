package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// inputLimit is how much of stdin a command reads, in bytes.
const inputLimit = 64 << 20

// readInput reads all of stdin, up to inputLimit.
func (w *world) readInput() (string, error) {
	text, err := io.ReadAll(io.LimitReader(w.in, inputLimit+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > inputLimit {
		return "", fmt.Errorf("standard input has more than %d MiB; send less", inputLimit>>20)
	}
	return string(text), nil
}

// readCommand is "org-agent read".
type readCommand struct {
	Explain bool `help:"Print the steps of the recovery on stderr."`
}

func (c *readCommand) Run(w *world) error {
	text, err := w.readInput()
	if err != nil {
		return err
	}
	proposal, steps, err := plist.ReadProposal(text, builtIn().IsReply)
	if c.Explain {
		fmt.Fprintf(w.err, "steps: %s\n", strings.Join(steps, " "))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w.out, plist.Print(proposal))
	return err
}

// md2orgCommand is "org-agent md2org".
type md2orgCommand struct{}

func (c *md2orgCommand) Run(w *world) error {
	text, err := w.readInput()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w.out, org.MarkdownToOrg(text))
	return err
}

// versionCommand is "org-agent version".
type versionCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *versionCommand) Run(w *world) error {
	if c.JSON {
		return w.printJSON(map[string]any{"version": version, "protocol": protocol.Version})
	}
	_, err := fmt.Fprintf(w.out, "org-agent %s, protocol %d\n", version, protocol.Version)
	return err
}

// printJSON writes one value on a line.
func (w *world) printJSON(value any) error {
	return json.NewEncoder(w.out).Encode(value)
}

// stopCommand is "org-agent stop".
type stopCommand struct{}

func (c *stopCommand) Run(ctx context.Context, w *world) error { return w.stop(ctx) }
