package daemon

import (
	"cmp"
	"context"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/memory"
	"org-agent/kernel/memory/embedding"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/tool"
)

// memories is what is kept, and the index over it and the person's notes.
type memories struct {
	store  *memory.Store
	index  *memory.Index
	upkeep *memory.Upkeep
}

// openMemory opens the index, which is made anew if it is not what it was; what stands in it is
// found out behind the start, by its upkeep.
func (d *daemon) openMemory(ctx context.Context, settings config.Settings) (closeIndex func() error, err error) {
	files, _, err := journal.OpenFiles(ctx, d.paths.Index)
	if err != nil {
		return nil, err
	}
	index := &memory.Index{Files: files, Logger: d.log, Meaning: d.meaning(settings.Embeddings), Outside: []string{d.paths.Home, d.paths.State}, Roots: memory.HomeRoots(d.paths.Home)}
	for _, path := range settings.Notes {
		index.Roots = append(index.Roots, memory.Root{Path: d.notePath(path)})
	}
	store := &memory.Store{Home: d.paths.Home, Journal: d.journal.Records, NewID: newID, Now: d.now, Index: index, Changed: func(c memory.Change) {
		d.clients.NotifyAll(protocol.MethodMemoryChanged, service.MemoryChange(c))
	}}
	upkeep := memory.NewUpkeep(index, d.paths.Home, func(text string) string { return d.agent.Hide(text) }, d.log)
	d.memory = memories{store: store, index: index, upkeep: upkeep}
	return files.Close, nil
}

// now is the time where the person is.
func (d *daemon) now() time.Time { return d.persona.Now() }

// meaning is what the settings say about finding notes by what they mean; nil for nothing.
func (d *daemon) meaning(set *config.EmbeddingServer) *memory.Meaning {
	if set == nil {
		return nil
	}
	return &memory.Meaning{Least: cmp.Or(set.Likeness, memory.Likeness), Embedder: embedding.Embedder{
		Server: d.server(config.Model{Name: "embeddings", BaseURL: set.BaseURL, Model: set.Model, Key: set.Key}),
		Name:   llm.RedactURL(set.BaseURL) + " " + set.Model,
	}}
}

// past is what tools may look at of what was said.
func (d *daemon) past() tool.Past {
	return tool.Past{
		Now:      d.now,
		Sessions: func(ctx context.Context) (protocol.SessionListResult, error) { return d.sessions.List(ctx) },
		Search: func(ctx context.Context, p protocol.SessionSearchParams) (protocol.SessionSearchResult, error) {
			return d.sessions.Search(ctx, p)
		},
	}
}

// notePath is a directory of NOTES in config.org. One that is not there is logged.
func (d *daemon) notePath(path string) string {
	directory, found := d.home.Directory(path)
	if !found {
		d.log.Warn("a directory of NOTES in config.org is not there", "directory", path)
	}
	return directory
}
