package openai

import (
	"context"

	"org-agent/kernel/llm"
)

// Driver returns the driver of OpenAI's protocol. Its providers also list their models, tell their context
// windows, make vectors of texts, transcribe and speak.
func Driver() llm.Driver {
	return llm.Driver{
		Name: "openai",
		Open: func(c llm.ServerConfig) (llm.Provider, error) {
			provider, err := New(c)
			if err != nil {
				return nil, err
			}
			return provider, nil
		},
		Discover: func(ctx context.Context) []llm.FoundServer { return Discover(ctx, LocalEndpoints()) },
	}
}
