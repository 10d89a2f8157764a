package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
)

// changesBytes is the maximum size of the texts in a list of changes, in bytes.
const changesBytes = 1 << 20

// Memory answers with the contents of the memory, its changes, and the proposals for it.
type Memory struct {
	Store  *memory.Store
	Index  *memory.Index
	Upkeep IndexUpkeep
	// Path converts a path of a query to the system's form.
	Path func(string) string
	// Offer reports whether the person may be offered to have their notes searched too.
	Offer func() bool
}

// IndexUpkeep updates the index when files change.
type IndexUpkeep interface {
	// Await reports whether the index has been completed since the start, and since there were other
	// directories of notes. If not, it waits for a moment first.
	Await(ctx context.Context) bool
}

// Methods returns the methods of this service.
func (m Memory) Methods() []Method {
	return []Method{
		{protocol.MethodMemorySearch, For(m.search)},
		{protocol.MethodMemoryChanges, For(m.changes)},
		{protocol.MethodMemoryUndo, For(m.undo)},
		{protocol.MethodMemoryIndex, For(m.index)},
		{protocol.MethodMemoryProposals, For(m.proposals)},
		{protocol.MethodMemoryAccept, For(m.accept)},
		{protocol.MethodMemoryDrop, For(m.drop)},
	}
}

// search answers a person, who may see all entries.
func (m Memory) search(ctx context.Context, p protocol.MemorySearchParams) (protocol.MemorySearchResult, error) {
	query := journal.FileQuery{Text: p.Query, Tags: p.Tags, AnyScope: true, Limit: p.Limit}
	if query.Limit <= 0 {
		query.Limit = 20
	}
	query.Limit = min(query.Limit, 199) + 1 // one more shows that there are more results
	var err error
	if query.From, err = memory.Day(p.Since); err == nil {
		query.To, err = memory.Day(p.Until)
	}
	if err != nil {
		return protocol.MemorySearchResult{}, protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	for _, file := range p.Files {
		query.Under = append(query.Under, m.Path(file))
	}
	nothing := strings.TrimSpace(p.Query) == "" && len(p.Tags)+len(p.Files) == 0 && query.From.IsZero() && query.To.IsZero()
	if len(query.Under) == 0 && (p.MemoryOnly || nothing) {
		query.Under = m.memoryFiles()
	}
	indexing := !m.Upkeep.Await(ctx)
	found, err := m.Index.SearchAlike(ctx, query, memory.MeaningText(p.Query))
	if err != nil {
		return protocol.MemorySearchResult{}, err
	}
	result := protocol.MemorySearchResult{More: len(found) == query.Limit, Indexing: indexing, Offer: m.Offer()}
	for _, f := range found[:min(len(found), query.Limit-1)] {
		hit := protocol.MemoryHit{ID: f.ID, File: f.Path, Line: f.Line, Title: f.Title, Day: f.Day, Tags: f.Tags, Scope: f.Scope, Own: f.Own, Snippet: f.Snippet}
		for _, place := range f.Places {
			hit.Matches = append(hit.Matches, protocol.SearchMatch{Start: place.Start, End: place.End})
		}
		result.Hits = append(result.Hits, hit)
	}
	return result, nil
}

// memoryFiles returns the files of the memory, without the person's other notes.
func (m Memory) memoryFiles() []string {
	var paths []string
	for _, root := range m.Index.AllRoots() {
		if root.Memory {
			paths = append(paths, root.Path)
		}
	}
	return paths
}

func (m Memory) changes(ctx context.Context, p protocol.MemoryChangesParams) (protocol.MemoryChangesResult, error) {
	limit := p.Limit
	if limit <= 0 {
		limit = 100
	}
	changes, err := m.Store.Changes(ctx, min(limit, 1000))
	if err != nil {
		return protocol.MemoryChangesResult{}, err
	}
	var result protocol.MemoryChangesResult
	size := 0
	for _, c := range changes {
		if size += len(c.Before) + len(c.After); size > changesBytes {
			break
		}
		result.Changes = append(result.Changes, MemoryChange(c))
	}
	return result, nil
}

// undo undoes a change, or the latest one if none is named.
func (m Memory) undo(ctx context.Context, p protocol.MemoryUndoParams) (protocol.MemoryChange, error) {
	id := p.ID
	if id == "" {
		latest, err := m.Store.Latest(ctx)
		if err != nil {
			return protocol.MemoryChange{}, protocol.Errorf(protocol.CodeNotFound, "%w", err)
		}
		id = latest.ID
	}
	back, err := m.Store.Undo(ctx, id)
	if err != nil {
		return protocol.MemoryChange{}, protocol.Errorf(protocol.CodeConflict, "undo the change %s: %w", id, err)
	}
	return MemoryChange(back), nil
}

// MemoryChange converts a change for the wire.
func MemoryChange(c memory.Change) protocol.MemoryChange {
	return protocol.MemoryChange{
		ID: c.ID, Operation: protocol.MemoryOperation(c.Operation), File: c.Path, Record: c.Record, Title: c.Title(),
		Before: c.Before, After: c.After, Undoes: c.Undoes, Undone: c.Undone, Time: c.Time.UTC().Format(time.RFC3339),
	}
}

// index updates the index from the current files, and returns when it is done.
func (m Memory) index(ctx context.Context, p protocol.MemoryIndexParams) (protocol.MemoryIndexResult, error) {
	begun := time.Now()
	if p.Anew {
		if err := m.Index.Files.Clear(ctx); err != nil {
			return protocol.MemoryIndexResult{}, err
		}
	}
	read, err := m.Index.Refresh(ctx)
	if err != nil {
		return protocol.MemoryIndexResult{}, err
	}
	documents, err := m.Index.Files.Documents(ctx)
	if err != nil {
		return protocol.MemoryIndexResult{}, fmt.Errorf("count the indexed files: %w", err)
	}
	return protocol.MemoryIndexResult{Files: len(documents), Read: read, Seconds: time.Since(begun).Seconds()}, nil
}

func (m Memory) proposals(ctx context.Context, _ protocol.Empty) (protocol.MemoryProposalsResult, error) {
	waiting, err := m.Store.Proposals(ctx)
	var result protocol.MemoryProposalsResult
	for _, p := range waiting {
		result.Proposals = append(result.Proposals, protocol.MemoryProposal{
			Proposal: p.ID, Operation: protocol.MemoryOperation(p.Operation), Title: p.Title, Text: p.Text, Tags: p.Tags, Scope: p.Scope, Lasting: p.Lasting,
			ID: p.Record, File: p.Path, Before: p.Before, Session: p.Session, Event: p.Event, Time: p.Time.UTC().Format(time.RFC3339),
		})
	}
	return result, err
}

func (m Memory) accept(ctx context.Context, p protocol.MemoryAcceptParams) (protocol.MemoryDecideResult, error) {
	var result protocol.MemoryDecideResult
	if p.Edited && len(p.IDs) != 1 {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "only one proposal can be edited at a time")
	}
	var edited *memory.Record
	if p.Edited {
		edited = &memory.Record{Title: p.Title, Text: p.Text, Tags: p.Tags}
	}
	for _, id := range p.IDs {
		change, err := m.Store.Accept(ctx, id, edited)
		if err != nil {
			result.Refused = append(result.Refused, protocol.MemoryRefusal{Proposal: id, Message: err.Error()})
			continue
		}
		result.Changes = append(result.Changes, MemoryChange(change))
	}
	return result, checkNamed(p.IDs)
}

func (m Memory) drop(ctx context.Context, p protocol.MemoryDropParams) (protocol.MemoryDecideResult, error) {
	var result protocol.MemoryDecideResult
	for _, id := range p.IDs {
		if _, err := m.Store.Drop(ctx, id); err != nil {
			result.Refused = append(result.Refused, protocol.MemoryRefusal{Proposal: id, Message: err.Error()})
			continue
		}
		result.Dropped = append(result.Dropped, id)
	}
	return result, checkNamed(p.IDs)
}

func checkNamed(ids []string) error {
	if len(ids) > 0 {
		return nil
	}
	return protocol.Errorf(protocol.CodeInvalidParams, "no proposal is named")
}
