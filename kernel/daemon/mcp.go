package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/config"
	"org-agent/kernel/mcp"
	"org-agent/kernel/secret"
)

// mcpServers makes the servers of the settings. own are the names of our tools.
func (d *daemon) mcpServers(settings config.Settings, own func() []string) *mcp.Servers {
	c := mcp.Config{
		Environment: d.config.Env, Directory: filepath.Join(d.paths.State, "results"), Version: d.config.Version, Logger: d.log,
		Own: own,
	}
	for _, s := range settings.MCP {
		c.Servers = append(c.Servers, d.mcpServer(s))
	}
	return mcp.New(c)
}

// mcpServer is one of them, with its keys where they are.
func (d *daemon) mcpServer(s config.MCPServer) mcp.Server {
	user := d.config.Env("HOME")
	expanded := func(path string) string {
		if rest, under := strings.CutPrefix(path, "~"); under && user != "" && (rest == "" || rest[0] == '/') {
			return user + rest
		}
		return path
	}
	server := mcp.Server{
		Name: s.Name, Command: slices.Clone(s.Command), Directory: expanded(s.Directory), Variables: s.Variables,
		URL: s.URL, Old: s.Old, Timeout: s.Timeout, Secrets: d.named(s.Secrets), Headers: d.named(s.Headers),
	}
	for i, word := range server.Command {
		server.Command[i] = expanded(word)
	}
	if server.Directory == "" {
		server.Directory = d.paths.Home
	}
	if s.Key != (config.KeySource{}) {
		bearer := d.named([]config.NamedKey{{Name: "Authorization", Key: s.Key}})[0]
		bearer.Before = "Bearer "
		server.Headers = append(server.Headers, bearer)
	}
	return server
}

// named are keys by their names, each fetched when a server is started.
func (d *daemon) named(keys []config.NamedKey) (secrets []mcp.Secret) {
	for _, named := range keys {
		secrets = append(secrets, mcp.Secret{Name: named.Name, Value: func(ctx context.Context) (secret.Text, error) {
			return named.Key.Resolve(ctx, d.config.Env)
		}})
	}
	return secrets
}
