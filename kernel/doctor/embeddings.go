package doctor

import (
	"context"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
)

// embeddings checks whether the server of embeddings answers. It asks for one word, because only an
// answer shows that the key is valid, that the server has the model, and how long its vectors are.
func embeddings(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil || loaded.Embeddings == nil {
		return nil // the check settings reports it, or there is no server
	}
	set := loaded.Embeddings
	var vectors [][]float32
	server := config.Model{Name: "embeddings", BaseURL: set.BaseURL, Model: set.Model, Key: set.Key}
	err = c.withProvider(ctx, server, func(ctx context.Context, p llm.Provider) error {
		able, err := llm.As[interface {
			Embed(context.Context, []string) ([][]float32, error)
		}](p, "make vectors of texts")
		if err == nil {
			vectors, err = able.Embed(ctx, []string{"notes"})
		}
		return err
	})
	if err != nil {
		advice := llm.HintOf(err)
		if advice == "" {
			advice = "correct Embeddings below Memory in config.org"
		}
		return []Finding{fail(advice+"; until then notes are found by their words only", "the server for embeddings: %v", err)}
	}
	return []Finding{ok("the server for embeddings: %s answers for %s, with vectors of %d numbers", llm.RedactURL(set.BaseURL), set.Model, len(vectors[0]))}
}
