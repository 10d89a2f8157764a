package instance

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"sync"

	"org-agent/kernel/config"
	"org-agent/kernel/fetch"
	"org-agent/kernel/mcp"
	"org-agent/kernel/secret"
	"org-agent/kernel/websearch"
)

// Pages returns the fetcher of web pages. It asks through the proxy of config.org as settings returns
// it then. judge returns an error for an address that may not be
// connected to. nil allows only addresses on the internet. redirect reports what the rules decide
// about the target of a redirect.
func (i Instance) Pages(settings func() config.Settings, judge func(netip.Addr) error, redirect func(string) (allowed, refused bool)) *fetch.Fetcher {
	environment := fetch.EnvironmentProxy(i.Env)
	return fetch.New(fetch.Config{Judge: judge, Redirect: redirect, Proxy: func(address *url.URL) (*url.URL, error) {
		switch written := settings().Proxy; written {
		case "":
			return nil, nil
		case "environment":
			return environment(address)
		default:
			proxy, err := url.Parse(written)
			if err == nil && proxy.Host == "" { // config.ProxyFaulty
				err = errors.New("it has no host")
			}
			return proxy, err
		}
	}})
}

// SearchServer returns a function that returns the search server of config.org, or nil if there is
// none then. It returns the same server as long as the settings are the same.
func (i Instance) SearchServer(settings func() config.Settings) func() *websearch.Server {
	var mu sync.Mutex
	var made config.SearchServer // that server was made from
	var server *websearch.Server
	return func() *websearch.Server {
		now := settings().Search
		mu.Lock()
		defer mu.Unlock()
		switch {
		case now == nil:
			server = nil
		case server == nil || made != *now:
			made, server = *now, i.searchServer(*now)
		}
		return server
	}
}

// searchServer returns a search server. Its key is resolved at the first use, which may run a command
// or ask a person. It is resolved again after a failure, and after the server has refused it.
func (i Instance) searchServer(settings config.SearchServer) *websearch.Server {
	s := &websearch.Server{Kind: websearch.Kind(settings.Kind), BaseURL: settings.BaseURL}
	if settings.Key == (config.KeySource{}) {
		return s
	}
	stored := make(chan secret.Text, 1) // the key, "" until it is resolved; the receiver owns it until it sends it back
	stored <- ""
	s.Key = func(ctx context.Context, refused secret.Text) (secret.Text, error) {
		select {
		case key := <-stored:
			var err error
			if key == refused { // none was resolved yet, or it is of no use
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
		secrets = append(secrets, mcp.Secret{Name: named.Name, Source: named.Key.Written(), Value: func(ctx context.Context) (secret.Text, error) {
			return named.Key.Resolve(ctx, i.Env)
		}})
	}
	return secrets
}
