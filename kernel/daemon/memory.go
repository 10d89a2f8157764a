package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/tool"
	"org-agent/kernel/undo"
)

// openMemory opens the index, which is made anew if it is not what it was; what stands in
// it is found out behind the start, by [daemon.followNotes].
func (d *daemon) openMemory(ctx context.Context, settings config.Settings) (closeIndex func() error, err error) {
	files, _, err := journal.OpenFiles(ctx, d.paths.Index)
	if err != nil {
		return nil, err
	}
	d.indexed, d.merging = make(chan struct{}), make(chan struct{}, 1)
	d.embedding, d.leaving = make(chan struct{}, 1), make(chan string, 16)
	d.index = &memory.Index{Files: files, Logger: d.log, Meaning: d.meaning(settings), Outside: []string{d.paths.Home, d.paths.State}, Roots: []memory.Root{
		{Path: filepath.Join(d.paths.Home, "MEMORY.org"), Memory: true},
		{Path: filepath.Join(d.paths.Home, "MEMORY.md"), Memory: true},
		{Path: filepath.Join(d.paths.Home, "memory"), Memory: true},
	}}
	for _, path := range settings.Notes {
		d.index.Roots = append(d.index.Roots, memory.Root{Path: d.notePath(path)})
	}
	d.kept = &memory.Store{Home: d.paths.Home, Journal: d.journal, NewID: newID, Now: d.now, Changed: func(ctx context.Context, c memory.Change) {
		if err := d.index.Take(ctx, c.Path); err != nil { // it is taken in when the file is seen to be another
			d.log.Warn("what was kept is not found yet", "file", c.Path, "err", err)
		}
		d.editors.notify(protocol.MethodMemoryChanged, changeForWire(c))
	}}
	return files.Close, nil
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

// notePath is a directory of the settings as the system has it: links in the path of a
// directory that is to be looked through are followed, those in it are not.
func (d *daemon) notePath(path string) string {
	if rest, tilde := strings.CutPrefix(path, "~"); tilde && (rest == "" || rest[0] == '/') {
		path = filepath.Join(d.config.Env("HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.paths.Home, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	d.log.Warn("a directory of NOTES in config.org is not there", "directory", path)
	return filepath.Clean(path)
}

// memoryPaths are the files of what is kept, without the person's notes elsewhere.
func (d *daemon) memoryPaths() []string {
	var paths []string
	for _, root := range d.index.Roots {
		if root.Memory {
			paths = append(paths, root.Path)
		}
	}
	return paths
}

// memorySearch answers a person, who may see everything, whatever it is for.
func (d *daemon) memorySearch(ctx context.Context, _ *rpc.Client, p *protocol.MemorySearchParams) (protocol.MemorySearchResult, error) {
	query := journal.FileQuery{Text: p.Query, Tags: p.Tags, AnyScope: true, Limit: p.Limit}
	if query.Limit <= 0 {
		query.Limit = 20
	}
	query.Limit = min(query.Limit, 199) + 1 // one more says that there are
	var err error
	if query.From, err = memory.Day(p.Since); err == nil {
		query.To, err = memory.Day(p.Until)
	}
	if err != nil {
		return protocol.MemorySearchResult{}, protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	for _, file := range p.Files {
		query.Under = append(query.Under, d.notePath(file))
	}
	nothing := strings.TrimSpace(p.Query) == "" && len(p.Tags)+len(p.Files) == 0 && query.From.IsZero() && query.To.IsZero()
	if len(query.Under) == 0 && (p.Kept || nothing) {
		query.Under = d.memoryPaths()
	}
	indexing := !d.awaitIndex(ctx)
	found, err := d.index.SearchAlike(ctx, query, memory.Meant(p.Query))
	if err != nil {
		return protocol.MemorySearchResult{}, err
	}
	result := protocol.MemorySearchResult{More: len(found) == query.Limit, Indexing: indexing, Offer: !d.settings.Load().NotesSaid}
	for _, f := range found[:min(len(found), query.Limit-1)] {
		hit := protocol.MemoryHit{ID: f.ID, File: f.Path, Line: f.Line, Title: f.Title, Day: f.Day, Tags: f.Tags, Scope: f.Scope, Own: f.Own, Snippet: f.Snippet}
		for _, place := range f.Places {
			hit.Matches = append(hit.Matches, protocol.SearchMatch{Start: place.Start, End: place.End})
		}
		result.Hits = append(result.Hits, hit)
	}
	return result, nil
}

// awaitIndex waits a moment for a kernel that has just started to know what the files are,
// and reports whether it does.
func (d *daemon) awaitIndex(ctx context.Context) bool {
	select {
	case <-d.indexed:
		return true
	default:
	}
	moment := time.NewTimer(time.Second)
	defer moment.Stop()
	select {
	case <-d.indexed:
		return true
	case <-moment.C:
	case <-ctx.Done():
	}
	return false
}

func (d *daemon) memoryChanges(ctx context.Context, _ *rpc.Client, p *protocol.MemoryChangesParams) (protocol.MemoryChangesResult, error) {
	limit := p.Limit
	if limit <= 0 {
		limit = 100
	}
	changes, err := d.kept.Changes(ctx, min(limit, 1000))
	if err != nil {
		return protocol.MemoryChangesResult{}, err
	}
	var result protocol.MemoryChangesResult
	size := 0
	for _, c := range changes {
		if size += len(c.Before) + len(c.After); size > undo.Bytes {
			break
		}
		result.Changes = append(result.Changes, changeForWire(c))
	}
	return result, nil
}

func (d *daemon) memoryUndo(ctx context.Context, _ *rpc.Client, p *protocol.MemoryUndoParams) (protocol.MemoryChange, error) {
	id := p.ID
	if id == "" {
		latest, err := d.kept.Latest(ctx)
		if err != nil {
			return protocol.MemoryChange{}, protocol.Errorf(protocol.CodeNotFound, "%w", err)
		}
		id = latest.ID
	}
	back, err := d.kept.Undo(ctx, id)
	if err != nil {
		return protocol.MemoryChange{}, protocol.Errorf(protocol.CodeConflict, "take the change %s back: %w", id, err)
	}
	return changeForWire(back), nil
}

func changeForWire(c memory.Change) protocol.MemoryChange {
	return protocol.MemoryChange{
		ID: c.ID, Operation: protocol.MemoryOperation(c.Operation), File: c.Path, Record: c.Record, Title: c.Title(),
		Before: c.Before, After: c.After, Undoes: c.Undoes, Undone: c.Undone, Time: c.Time.UTC().Format(time.RFC3339),
	}
}

// memoryIndex makes the index what the files are now, and is done when it is.
func (d *daemon) memoryIndex(ctx context.Context, _ *rpc.Client, p *protocol.MemoryIndexParams) (protocol.MemoryIndexResult, error) {
	begun := time.Now()
	if p.Anew {
		if err := d.index.Files.Clear(ctx); err != nil {
			return protocol.MemoryIndexResult{}, err
		}
	}
	read, err := d.index.Refresh(ctx)
	if err != nil {
		return protocol.MemoryIndexResult{}, err
	}
	documents, err := d.index.Files.Documents(ctx)
	if err != nil {
		return protocol.MemoryIndexResult{}, fmt.Errorf("count what is indexed: %w", err)
	}
	return protocol.MemoryIndexResult{Files: len(documents), Read: read, Seconds: time.Since(begun).Seconds()}, nil
}
