package doctor

import (
	"context"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/sandbox"
)

// mcpServers checks whether the MCP servers of config.org can be started: whether their programs
// and their keys exist. The status of the kernel reports whether they answer.
func mcpServers(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return nil // the check settings reports it
	}
	var found []Finding
	for _, server := range loaded.MCP {
		found = append(found, c.mcpServer(ctx, server))
	}
	return found
}

func (c Config) mcpServer(ctx context.Context, server config.MCPServer) Finding {
	if len(server.Command) > 0 {
		program := server.Command[0]
		if rest, under := strings.CutPrefix(program, "~/"); under {
			program = c.Env("HOME") + "/" + rest
		}
		if _, err := sandbox.Find(program, c.Env("PATH")); err != nil {
			return fail("install it, or correct COMMAND below MCP in config.org", "the MCP server %s cannot be started: %v", server.Name, err)
		}
	}
	for _, key := range server.Keys() {
		if _, err := key.Resolve(ctx, c.Env); err != nil {
			return fail("look at the heading of the server below MCP in config.org", "the MCP server %s cannot be given its key: %v", server.Name, err)
		}
	}
	if server.URL != "" {
		return ok("the MCP server %s is at %s; \"org-agent mcp list\" says whether it answers", server.Name, server.URL)
	}
	return ok("the MCP server %s can be started; \"org-agent mcp list\" shows its state", server.Name)
}
