package config

import (
	"fmt"
	"strings"

	"org-agent/kernel/org"
)

// The supported kinds of search servers.
const (
	searchSearxNG = "searxng"
	searchBrave   = "brave"
)

// SearchServer is the heading "Search" below "Web": the server for web searches.
type SearchServer struct {
	Kind    string
	BaseURL string
	Key     KeySource
}

// proxyFaulty is the proxy when the setting cannot be read. No page is fetched then: fetching
// without the person's proxy could reveal what the proxy hides.
const proxyFaulty = "?"

// web reads the properties of the heading "Web".
func (p *settingsParser) web(h *org.Heading) {
	before := len(p.settings.Diagnostics)
	defer func() {
		if len(p.settings.Diagnostics) > before {
			p.settings.Proxy = proxyFaulty
		}
	}()
	p.drawer(h, []property{{"PROXY", func(value string) error {
		if value == "environment" {
			p.settings.Proxy = value
			return nil
		}
		if err := checkBaseURL(value); err != nil {
			return fmt.Errorf("%w, and it is not \"environment\"", err)
		}
		p.settings.Proxy = value
		return nil
	}}})
}

// only reports whether a heading is the one with a title that is read below another, and the first of them.
func (p *settingsParser) only(h *org.Heading, below, title string, read bool) bool {
	switch {
	case !strings.EqualFold(h.Title, title):
		p.fault(h.Line, "the heading %q below %s is not read: only %s is", h.Title, below, title)
	case read:
		p.fault(h.Line, "the heading %s occurs twice", h.Title)
	default:
		return true
	}
	return false
}

// search reads a heading below "Web". Like a model, a heading with a fault is left out.
func (p *settingsParser) search(h *org.Heading) {
	if !p.only(h, "Web", "Search", p.settings.Search != nil) {
		return
	}
	var server SearchServer
	whole := p.drawer(h, []property{
		{"KIND", func(value string) error {
			if server.Kind = strings.ToLower(value); server.Kind != searchSearxNG && server.Kind != searchBrave {
				return fmt.Errorf("%q is not searxng or brave", value)
			}
			return nil
		}},
		{"BASE_URL", func(value string) error { server.BaseURL = value; return checkBaseURL(value) }},
		{"API_KEY", func(value string) (err error) { server.Key, err = parseKeySource(value); return err }},
	})
	switch {
	case whole && server.BaseURL == "":
		p.fault(h.Line, "Search needs a property BASE_URL, such as :BASE_URL: http://localhost:8888")
	case whole && server.Kind == "":
		p.fault(h.Line, "Search needs a property KIND: searxng or brave")
	case whole && server.Kind == searchBrave && server.Key == (KeySource{}):
		p.fault(h.Line, "Search with KIND brave needs a property API_KEY, such as :API_KEY: env:BRAVE_API_KEY")
	case whole:
		p.settings.Search = &server
	}
}
