package embedding_test

import (
	"context"
	"errors"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/memory"
	"org-agent/kernel/memory/embedding"
)

// server returns a server at the address, asked by a driver.
func server(driver llm.Driver, address string) *route.Server {
	return route.NewServer(driver, config.Model{Name: "embeddings", BaseURL: address, Model: "vectors"}, func(string) string { return "" })
}

func TestVectorsOfAServer(t *testing.T) {
	e := embedding.Embedder{Server: server(openai.Driver(), llmtest.Start(t).URL()), Name: "here vectors"}
	vectors, err := e.Embed(t.Context(), []string{"tea", "a samovar"})
	if err != nil || len(vectors) != 2 || len(vectors[0]) == 0 || len(vectors[0]) != len(vectors[1]) {
		t.Errorf("%d vectors, %v", len(vectors), err)
	}
	if e.Model() != "here vectors" {
		t.Errorf("the model is %q", e.Model())
	}
}

// TestServerWithoutEmbeddings checks that a missing ability of a server, and texts that it refuses, are
// final, and that an unreachable server is asked again.
func TestServerWithoutEmbeddings(t *testing.T) {
	mute := llm.Driver{Name: "mute", Open: func(llm.ServerConfig) (llm.Provider, error) { return &llmtest.Script{}, nil }}
	if _, err := (embedding.Embedder{Server: server(mute, "http://localhost:1/v1")}).Embed(t.Context(), []string{"tea"}); !errors.Is(err, memory.ErrNoVector) {
		t.Error(err)
	}
	gone := embedding.Embedder{Server: server(openai.Driver(), "http://127.0.0.1:1/v1")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := gone.Embed(ctx, []string{"tea"}); err == nil || errors.Is(err, memory.ErrNoVector) {
		t.Error(err)
	}
}
