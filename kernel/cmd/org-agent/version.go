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

func (c *versionCommand) Run(w *world) error {
	if c.JSON {
		return w.printJSON(map[string]any{"version": version, "protocol": protocol.Version})
	}
	_, err := fmt.Fprintf(w.out, "org-agent %s, protocol %d\n", version, protocol.Version)
	return err
}

// printJSON writes one value on a line of its own.
func (w *world) printJSON(value any) error {
	return json.NewEncoder(w.out).Encode(value)
}
