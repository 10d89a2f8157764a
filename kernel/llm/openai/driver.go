package openai

import (
	"context"
	"maps"

	"org-agent/kernel/llm"
)

// Driver returns the driver of OpenAI's protocol. Its providers also list their models, tell their context
// windows, make vectors of texts, transcribe and speak.
func Driver() llm.Driver {
	return llm.Driver{
		Name: "openai",
		Open: func(c llm.ServerConfig) (llm.Provider, error) {
			provider, err := New(configOf(c))
			if err != nil {
				return nil, err
			}
			return provider, nil
		},
		Discover: func(ctx context.Context) []llm.FoundServer { return Discover(ctx, LocalEndpoints()) },
	}
}

func configOf(c llm.ServerConfig) Config {
	own := Config{Name: c.Name, BaseURL: c.BaseURL, APIKey: c.Key, Model: c.Model, GrammarField: c.GrammarField, Headers: c.Headers, Extra: map[string]any{}}
	if c.Query != "" {
		own.BaseURL += "?" + c.Query
	}
	if c.Effort != "" {
		own.Extra["reasoning_effort"] = c.Effort
	}
	maps.Copy(own.Extra, c.Body)
	return own
}
