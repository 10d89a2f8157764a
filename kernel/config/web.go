package config

import (
	"fmt"
	"strings"

	"org-agent/kernel/org"
)

// The kinds of search servers.
const (
	SearchSearxNG = "searxng"
	SearchBrave   = "brave"
)

// SearchServer is the heading "Search" below "Web": a server that the web is searched with.
type SearchServer struct {
	Kind    string
	BaseURL string
	Key     KeySource
}

// ProxyFaulty is the proxy of settings that say something of one that cannot be read: no page is
// fetched then, as it is not known through what.
const ProxyFaulty = "?"

// web reads the heading "Web" itself.
func (p *settingsParser) web(h *org.Heading) {
	before := len(p.settings.Diagnostics)
	defer func() {
		if len(p.settings.Diagnostics) > before {
			p.settings.Proxy = ProxyFaulty
		}
	}()
	p.drawer(h, []property{{"PROXY", func(value string) error {
		if value == "environment" {
			p.settings.Proxy = value
			return nil
		}
		if err := checkBaseURL(value); err != nil {
			return fmt.Errorf("%w, nor is it \"environment\"", err)
		}
		p.settings.Proxy = value
		return nil
	}}})
}

// search reads a heading below "Web". As with a model, one that is at fault is left out.
func (p *settingsParser) search(h *org.Heading) {
	if !strings.EqualFold(h.Title, "Search") {
		p.fault(h.Line, "the heading %q below Web is not read: there is Search", h.Title)
		return
	}
	if p.settings.Search != nil {
		p.fault(h.Line, "%s stands twice", h.Title)
		return
	}
	var server SearchServer
	whole := p.drawer(h, []property{
		{"KIND", func(value string) error {
			if server.Kind = strings.ToLower(value); server.Kind != SearchSearxNG && server.Kind != SearchBrave {
				return fmt.Errorf("%q is not searxng or brave", value)
			}
			return nil
		}},
		{"BASE_URL", func(value string) error { server.BaseURL = value; return checkBaseURL(value) }},
		{"API_KEY", func(value string) (err error) { server.Key, err = ParseKeySource(value); return err }},
	})
	switch {
	case whole && server.BaseURL == "":
		p.fault(h.Line, "Search needs a property BASE_URL, as :BASE_URL: http://localhost:8888")
	case whole && server.Kind == "":
		p.fault(h.Line, "Search needs a property KIND, which is searxng or brave")
	case whole && server.Kind == SearchBrave && server.Key == (KeySource{}):
		p.fault(h.Line, "Search of the kind brave needs a property API_KEY, as :API_KEY: env:BRAVE_API_KEY")
	case whole:
		p.settings.Search = &server
	}
}
