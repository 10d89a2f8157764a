package instance

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"

	"org-agent/kernel/config"
	"org-agent/kernel/fetch"
	"org-agent/kernel/mcp"
	"org-agent/kernel/secret"
	"org-agent/kernel/websearch"
)

// Pages makes what fetches pages of the web. judge says which addresses may be asked; nil for
// those of servers in the internet. redirect is what the rules say of where a page leads to.
func (i Instance) Pages(settings config.Settings, judge func(netip.Addr) error, redirect func(string) (allowed, refused bool)) *fetch.Fetcher {
	c := fetch.Config{Judge: judge, Redirect: redirect}
	switch settings.Proxy {
	case "":
	case "environment":
		c.Proxy = fetch.EnvironmentProxy(i.Env)
	default:
		proxy, err := url.Parse(settings.Proxy)
		if err == nil && proxy.Host == "" { // config.ProxyFaulty
			err = errors.New("it has no host")
		}
		c.Proxy = func(*url.URL) (*url.URL, error) { return proxy, err }
	}
	return fetch.New(c)
}

// SearchServer makes the search server of config.org, nil without one. Its key is fetched when it
// is first needed, which may run a command or ask a person, and again as long as it cannot be had.
func (i Instance) SearchServer(settings *config.SearchServer) *websearch.Server {
	if settings == nil {
		return nil
	}
	s := &websearch.Server{Kind: websearch.Kind(settings.Kind), BaseURL: settings.BaseURL}
	if settings.Key == (config.KeySource{}) {
		return s
	}
	kept := make(chan secret.Text, 1) // holds the key, "" before, for one caller at a time
	kept <- ""
	s.Key = func(ctx context.Context) (secret.Text, error) {
		select {
		case key := <-kept:
			var err error
			if key == "" {
				key, err = settings.Key.Resolve(ctx, i.Env)
			}
			kept <- key
			return key, err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return s
}

// MCPServers are the servers of the settings, with their keys where they are.
func (i Instance) MCPServers(settings config.Settings) (servers []mcp.Server) {
	for _, s := range settings.MCP {
		servers = append(servers, i.mcpServer(s))
	}
	return servers
}

func (i Instance) mcpServer(s config.MCPServer) mcp.Server {
	server := mcp.Server{
		Name: s.Name, Command: slices.Clone(s.Command), Directory: i.expanded(s.Directory), Variables: s.Variables,
		URL: s.URL, Old: s.Old, Timeout: s.Timeout, Secrets: i.secrets(s.Secrets), Headers: i.secrets(s.Headers),
	}
	for n, word := range server.Command {
		server.Command[n] = i.expanded(word)
	}
	if server.Directory == "" {
		server.Directory = i.Paths.Home
	}
	if s.Key != (config.KeySource{}) {
		bearer := i.secrets([]config.NamedKey{{Name: "Authorization", Key: s.Key}})[0]
		bearer.Before = "Bearer "
		server.Headers = append(server.Headers, bearer)
	}
	return server
}

// secrets are keys by their names. Each is fetched when a server is started.
func (i Instance) secrets(keys []config.NamedKey) (secrets []mcp.Secret) {
	for _, named := range keys {
		secrets = append(secrets, mcp.Secret{Name: named.Name, Value: func(ctx context.Context) (secret.Text, error) {
			return named.Key.Resolve(ctx, i.Env)
		}})
	}
	return secrets
}
