package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"org-agent/kernel/protocol"
)

// modelList is "org-agent models list".
type modelList struct {
	JSON bool `help:"Print JSON."`
}

func (c *modelList) Run(ctx context.Context, proc *process) error {
	var result protocol.ModelListResult
	if err := proc.call(ctx, protocol.MethodModelList, protocol.ModelListParams{}, &result); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result)
	}
	_, err := fmt.Fprint(proc.stdout, modelTable(result))
	return err
}

// modelTable returns an Org table of the models, and a line for each server that did not list its own.
func modelTable(result protocol.ModelListResult) string {
	var b strings.Builder
	b.WriteString("| model | dialect | window | price in, out | why this dialect |\n|-\n")
	for _, m := range result.Models {
		name, window := cell(m.Name), ""
		if m.Default {
			name += " (answers)"
		}
		if m.Window > 0 {
			window = strconv.Itoa(m.Window)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, m.Dialect, window, m.Price, cell(m.Why))
	}
	for _, name := range result.Silent {
		fmt.Fprintf(&b, "# %s did not list its models\n", cell(name))
	}
	return b.String()
}
