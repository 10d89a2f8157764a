package fetch

import (
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// EnvironmentProxy returns a [Config.Proxy] that follows the variables HTTPS_PROXY, HTTP_PROXY and
// NO_PROXY, in upper or lower case.
func EnvironmentProxy(env func(string) string) func(*url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if value := env(name); value != "" {
				return value
			}
		}
		return ""
	}
	c := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"),
		NoProxy: first("NO_PROXY", "no_proxy"),
	}
	return c.ProxyFunc()
}
