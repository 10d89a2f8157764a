package doctor

import (
	"context"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/sandbox"
)

// mcpServers looks whether the MCP servers of config.org could be started: whether their programs are
// there, and the keys that they are given. Whether they answer, the kernel's status says.
func mcpServers(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return nil // told by settings
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
	return ok("the MCP server %s can be started; \"org-agent mcp list\" says how it is", server.Name)
}
