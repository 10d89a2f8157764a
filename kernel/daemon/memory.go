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

// memoryDeps holds the memory, and the index over it and the person's notes.
type memoryDeps struct {
	store  *memory.Store
	index  *memory.Index
	upkeep *memory.Upkeep
}

// openMemory opens the memory and its index. The index may be outdated or empty until the upkeep, which
// does not delay the start, has read the files.
func (d *daemon) openMemory(ctx context.Context, settings config.Settings) (closeIndex func() error, err error) {
	files, _, err := journal.OpenFiles(ctx, d.paths.Index)
	if err != nil {
		return nil, err
	}
	index := &memory.Index{Files: files, Logger: d.log, Outside: []string{d.paths.Home, d.paths.State}, Roots: memory.HomeRoots(d.paths.Home), Notes: d.notes}
	index.SetMeaning(d.openMeaning(settings.Embeddings))
	store := &memory.Store{Home: d.paths.Home, Journal: d.journal.Records, NewID: newID, Now: d.now, Index: index, Held: d.tags.Held, Changed: func(c memory.Change) {
		d.clients.NotifyAll(protocol.MethodMemoryChanged, service.MemoryChange(c))
	}}
	upkeep := memory.NewUpkeep(index, d.paths.Home, func(text string) string { return d.agent.Hide(text) }, d.log)
	upkeep.Watcher = d.watcher
	d.memory = memoryDeps{store: store, index: index, upkeep: upkeep}
	return files.Close, nil
}

// now returns the current time in the person's time zone.
func (d *daemon) now() time.Time { return d.persona.Now() }

// openMeaning returns the search by meaning, which needs a server for embeddings. It returns nil if the
// settings name none.
func (d *daemon) openMeaning(server *config.EmbeddingServer) *memory.Meaning {
	if server == nil {
		return nil
	}
	return &memory.Meaning{Least: cmp.Or(server.Likeness, memory.Likeness), Embedder: embedding.Embedder{
		Server: d.newServer(config.Model{Name: "embeddings", BaseURL: server.BaseURL, Model: server.Model, Key: server.Key}),
		Name:   llm.RedactURL(server.BaseURL) + " " + server.Model,
	}}
}

// pastDeps returns what the tools for earlier conversations need.
func (d *daemon) pastDeps() tool.Past {
	return tool.Past{
		Now:      d.now,
		Sessions: func(ctx context.Context) (protocol.SessionListResult, error) { return d.sessions.List(ctx) },
		Search: func(ctx context.Context, p protocol.SessionSearchParams) (protocol.SessionSearchResult, error) {
			return d.sessions.Search(ctx, p)
		},
	}
}

// notes returns the directories of the person's notes at this moment.
func (d *daemon) notes() []string { return d.home.Notes(d.settings.Last()) }
