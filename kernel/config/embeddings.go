package config

import (
	"fmt"
	"strconv"

	"org-agent/kernel/org"
)

// EmbeddingServer is the heading "Embeddings" below "Memory": a server with the embeddings of
// OpenAI's protocol.
type EmbeddingServer struct {
	BaseURL string
	Model   string
	Key     KeySource
	// Likeness is the lowest cosine at which a note counts as found; 0 if it is not set.
	Likeness float64
}

// embeddings reads a heading below "Memory". Like a model, a heading with a fault is left out.
func (p *settingsParser) embeddings(h *org.Heading) {
	if !p.only(h, "Memory", "Embeddings", p.settings.Embeddings != nil) {
		return
	}
	var server EmbeddingServer
	whole := p.drawer(h, []property{
		{"BASE_URL", func(value string) error { server.BaseURL = value; return checkBaseURL(value) }},
		{"MODEL", func(value string) error { server.Model = value; return nil }},
		{"API_KEY", func(value string) (err error) { server.Key, err = parseKeySource(value); return err }},
		{"LIKENESS", func(value string) error {
			likeness, err := strconv.ParseFloat(value, 64)
			if err != nil || !(likeness > 0 && likeness < 1) {
				return fmt.Errorf("%q is not a number between 0 and 1", value)
			}
			server.Likeness = likeness
			return nil
		}},
	})
	switch {
	case whole && server.BaseURL == "":
		p.fault(h.Line, "Embeddings needs a property BASE_URL, such as :BASE_URL: http://localhost:11434/v1")
	case whole && server.Model == "":
		p.fault(h.Line, "Embeddings needs a property MODEL, such as :MODEL: nomic-embed-text")
	case whole:
		p.settings.Embeddings = &server
	}
}
