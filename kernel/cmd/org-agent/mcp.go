package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/mcp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// mcpCommands is "org-agent mcp" with its subcommands.
type mcpCommands struct {
	Serve mcpServeCommand `cmd:"" default:"1" help:"Offer the kernel's tools to the program on stdin and stdout (the default)."`
	List  mcpListCommand  `cmd:"" help:"List the MCP servers of config.org, and their tools."`
}

// mcpServeCommand is "org-agent mcp".
type mcpServeCommand struct{}

func (c *mcpServeCommand) Run(ctx context.Context, proc *process) error {
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	return mcp.Offer(ctx, conn, version, io.NopCloser(proc.stdin), unclosed{proc.stdout})
}

// unclosed is a writer whose Close does nothing, because standard output must stay open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// mcpListCommand is "org-agent mcp list".
type mcpListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *mcpListCommand) Run(ctx context.Context, proc *process) error {
	s, err := proc.status(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(s.MCP)
	}
	if len(s.MCP) == 0 {
		fmt.Fprintln(proc.stderr, "org-agent: config.org has no usable MCP server: add a heading below \"* MCP\" with a property COMMAND or URL")
		return nil
	}
	for _, server := range s.MCP {
		fmt.Fprintf(proc.stdout, "%s: %s\n", server.Name, mcpLine(server))
		for _, name := range server.Tools {
			fmt.Fprintf(proc.stdout, "  %s\n", name)
		}
		for _, left := range server.Left {
			fmt.Fprintf(proc.stdout, "  left out: %s\n", left)
		}
	}
	return nil
}

// mcpLine describes a server's state.
func mcpLine(s protocol.MCPServer) string {
	parts := []string{string(s.State)}
	if s.State == mcp.Ready {
		parts = append(parts, text.Count(len(s.Tools), "tool"))
	}
	if len(s.Left) > 0 {
		parts = append(parts, fmt.Sprintf("%d left out", len(s.Left)))
	}
	for _, more := range []string{s.Server, s.Address} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	if s.Again != "" {
		parts = append(parts, "again at "+localTime(s.Again))
	}
	if s.Fault != "" {
		return strings.Join(parts, ", ") + ": " + text.Line(s.Fault)
	}
	return strings.Join(parts, ", ")
}
