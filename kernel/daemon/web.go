package daemon

import (
	"context"
	"errors"
	"net/netip"
	"net/url"

	"org-agent/kernel/config"
	"org-agent/kernel/fetch"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
	"org-agent/kernel/websearch"
)

// Pages makes what fetches pages of the web. judge says which addresses may be asked; nil for
// those of servers in the internet. redirect is what the rules say of where a page leads to.
func Pages(settings config.Settings, env func(string) string, judge func(netip.Addr) error, redirect func(string) (allowed, refused bool)) *fetch.Fetcher {
	c := fetch.Config{Judge: judge, Redirect: redirect}
	switch settings.Proxy {
	case "":
	case "environment":
		c.Proxy = fetch.EnvironmentProxy(env)
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
func SearchServer(settings *config.SearchServer, env func(string) string) *websearch.Server {
	if settings == nil {
		return nil
	}
	s := &websearch.Server{Kind: websearch.Kind(settings.Kind), BaseURL: settings.BaseURL}
	if settings.Key == (config.KeySource{}) {
		return s
	}
	kept := make(chan secret.Text, 1) // holds the key, "" before, for one who asks at a time
	kept <- ""
	s.Key = func(ctx context.Context) (secret.Text, error) {
		select {
		case key := <-kept:
			var err error
			if key == "" {
				key, err = settings.Key.Resolve(ctx, env)
			}
			kept <- key
			return key, err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return s
}

// redirected says what the rules of policy.org say of an address that a page leads to.
func (d *daemon) redirected(address string) (allowed, refused bool) {
	kind := d.policy.JudgeReach(protocol.Reach{Kind: protocol.ReachFetches, URL: address}).Kind
	return kind == policy.Allow, kind == policy.Refuse
}
