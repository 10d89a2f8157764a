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

// Pages returns the fetcher of web pages. judge returns an error for an address that may not be
// connected to. nil allows only addresses on the internet. redirect reports what the rules decide
// about the target of a redirect.
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

// SearchServer returns the search server of config.org, or nil if there is none. Its key is
// resolved at the first use, which may run a command or ask a person. A failed resolution is tried
// again at the next use.
func (i Instance) SearchServer(settings *config.SearchServer) *websearch.Server {
	if settings == nil {
		return nil
	}
	s := &websearch.Server{Kind: websearch.Kind(settings.Kind), BaseURL: settings.BaseURL}
	if settings.Key == (config.KeySource{}) {
		return s
	}
	stored := make(chan secret.Text, 1) // the key, "" until it is resolved; the receiver owns it until it sends it back
	stored <- ""
	s.Key = func(ctx context.Context) (secret.Text, error) {
		select {
		case key := <-stored:
			var err error
			if key == "" {
				key, err = settings.Key.Resolve(ctx, i.Env)
			}
			stored <- key
			return key, err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return s
}

// MCPServers returns the MCP servers of the settings. Their keys are resolved when a server starts.
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

// secrets returns the keys as secrets of a server. Each is resolved when the server starts.
func (i Instance) secrets(keys []config.NamedKey) (secrets []mcp.Secret) {
	for _, named := range keys {
		secrets = append(secrets, mcp.Secret{Name: named.Name, Value: func(ctx context.Context) (secret.Text, error) {
			return named.Key.Resolve(ctx, i.Env)
		}})
	}
	return secrets
}
