package daemon

import (
	"context"
	"fmt"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/memory"
)

const (
	// likeness is the cosine from which on a note is found by its meaning, if nothing is set.
	likeness = 0.5
	// embedPatience is how long a server may take for the vectors of one request.
	embedPatience = time.Minute
	// embedAgain is when the server is asked again after it failed; each time twice as long,
	// up to the longest.
	embedAgain, embedLongest = 30 * time.Second, 30 * time.Minute
)

// vectorMaker is a provider whose server makes vectors of texts.
type vectorMaker interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// embedder asks the server that config.org names for vectors.
type embedder struct {
	server *route.Server
	model  string
}

// meaning is what the settings say about finding notes by what they mean; nil for nothing.
func (d *daemon) meaning(settings config.Settings) *memory.Meaning {
	set := settings.Embeddings
	if set == nil {
		return nil
	}
	model := config.Model{Name: "embeddings", BaseURL: set.BaseURL, Model: set.Model, Key: set.Key}
	made := &memory.Meaning{Least: set.Likeness, Embedder: &embedder{
		server: d.server(model),
		model:  llm.RedactURL(set.BaseURL) + " " + set.Model,
	}}
	if made.Least == 0 {
		made.Least = likeness
	}
	return made
}

// Model implements [memory.Embedder].
func (e *embedder) Model() string { return e.model }

// Embed implements [memory.Embedder].
func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, embedPatience)
	defer cancel()
	var vectors [][]float32
	err := e.server.Ask(ctx, func(p llm.Provider) error {
		server, err := llm.As[vectorMaker](p, "make vectors of texts")
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

// embedNotes finds out what notes mean that were put into the index, until ctx ends. It asks
// for nothing while nothing is new.
func (d *daemon) embedNotes(ctx context.Context) {
	if d.index.Meaning == nil {
		return
	}
	again := embedAgain
	var wait <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.embedding:
			if again > embedAgain {
				continue // it failed before: the pause is not made shorter by a person who writes
			}
		case <-wait:
		}
		begun := time.Now()
		made, err := d.index.Embed(ctx)
		wait = nil
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			d.log.Warn("notes are found by their words only until it is known what they mean", "pause", again, "err", d.agent.Hide(err.Error()))
			wait, again = time.After(again), min(2*again, embedLongest)
		default:
			if again = embedAgain; made > 0 {
				d.log.Info("it is known what notes mean", "texts", made, "dur", time.Since(begun))
			}
		}
	}
}
