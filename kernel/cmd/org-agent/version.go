package main

import (
	"encoding/json"
	"fmt"

	"org-agent/kernel/protocol"
)

// versionCommand is "org-agent version".
type versionCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *versionCommand) Run(proc *process) error {
	if c.JSON {
		return proc.printJSON(map[string]any{"version": version, "protocol": protocol.Version})
	}
	_, err := fmt.Fprintf(proc.stdout, "org-agent %s, protocol %d\n", version, protocol.Version)
	return err
}

// printJSON prints a value as JSON on one line.
func (proc *process) printJSON(value any) error {
	return json.NewEncoder(proc.stdout).Encode(value)
}
