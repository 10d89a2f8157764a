// Package embedding asks a model server for the vectors by which notes are found by meaning.
package embedding

import (
	"context"
	"fmt"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/memory"
)

// timeout is how long a server may take for the vectors of one request.
const timeout = time.Minute

// Embedder asks a server for vectors. It implements [memory.Embedder].
type Embedder struct {
	Server Server
	// Name is the name of the model. Vectors of models with different names are not compared.
	Name string
}

// Server asks a model server, with a key that the server accepts.
type Server interface {
	Ask(ctx context.Context, ask func(llm.Provider) error) error
}

// vectorMaker is a provider whose server makes vectors of texts.
type vectorMaker interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Model implements [memory.Embedder].
func (e Embedder) Model() string { return e.Name }

// Embed implements [memory.Embedder]. Its error wraps [memory.ErrNoVector] if the server refuses
// the texts as invalid or too long.
func (e Embedder) Embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = e.Server.Ask(ctx, func(provider llm.Provider) error {
		server, err := llm.As[vectorMaker](provider, "make vectors of texts")
		if err == nil {
			vectors, err = server.Embed(ctx, texts)
		}
		return err
	})
	switch llm.ClassOf(err) {
	case llm.ClassBadRequest, llm.ClassTooLong:
		return nil, fmt.Errorf("%w: %w", memory.ErrNoVector, err)
	}
	return vectors, err
}
