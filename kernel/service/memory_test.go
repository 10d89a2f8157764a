package service_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// completeIndex is the upkeep of an index that is up to date.
type completeIndex struct{}

func (completeIndex) Await(context.Context) bool { return true }

func newMemory(t *testing.T) service.Memory {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := journal.OpenFiles(t.Context(), filepath.Join(t.TempDir(), "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = files.Close(), j.Close() })
	home, notes := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(notes, "house.org"), []byte("* The kitchen\nA samovar stands there.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var ids atomic.Int64
	index := &memory.Index{Files: files, Logger: discardLogger, Roots: append(memory.HomeRoots(home), memory.Root{Path: notes})}
	return service.Memory{
		Store: &memory.Store{Home: home, Journal: j.Records, Index: index, Now: time.Now, NewID: func() string { return fmt.Sprint("id-", ids.Add(1)) }},
		Index: index, Upkeep: completeIndex{}, Path: func(path string) string { return filepath.Join(notes, path) }, Offer: func() bool { return true },
	}
}

// A person searches the memory and their notes, lists the changes of the memory, and undoes one.
func TestMemory(t *testing.T) {
	m := newMemory(t)
	conn := serve(t, m.Methods())("a shell")
	r, _, err := m.Store.Save(t.Context(), "t1", memory.Record{Text: "The samovar hums.", Tags: []string{"kitchen"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	var indexed protocol.MemoryIndexResult
	if err := conn.Call(within(t), protocol.MethodMemoryIndex, protocol.MemoryIndexParams{Anew: true}, &indexed); err != nil || indexed.Files != 2 || indexed.Read != 2 {
		t.Errorf("indexed: %+v, %v", indexed, err)
	}
	for what, c := range map[string]struct {
		p    protocol.MemorySearchParams
		hits int
	}{
		"both":           {protocol.MemorySearchParams{Query: "samovar"}, 2},
		"what is kept":   {protocol.MemorySearchParams{Query: "samovar", MemoryOnly: true}, 1},
		"one file":       {protocol.MemorySearchParams{Query: "samovar", Files: []string{"house.org"}}, 1},
		"a tag":          {protocol.MemorySearchParams{Tags: []string{"kitchen"}}, 1},
		"nothing at all": {protocol.MemorySearchParams{}, 1},
		"the future":     {protocol.MemorySearchParams{Query: "samovar", Since: "2999-01-01"}, 0},
	} {
		var found protocol.MemorySearchResult
		if err := conn.Call(within(t), protocol.MethodMemorySearch, c.p, &found); err != nil || len(found.Hits) != c.hits || !found.Offer || found.Indexing {
			t.Errorf("%s: %+v, %v", what, found, err)
		}
	}
	var found protocol.MemorySearchResult
	if err := conn.Call(within(t), protocol.MethodMemorySearch, protocol.MemorySearchParams{Query: "samovar", Limit: 1}, &found); err != nil || len(found.Hits) != 1 || !found.More {
		t.Errorf("the first: %+v, %v", found, err)
	}
	wantError(t, "a day that is none", conn.Call(within(t), protocol.MethodMemorySearch, protocol.MemorySearchParams{Since: "someday"}, nil), protocol.CodeInvalidParams, "someday")

	var list protocol.MemoryChangesResult
	if err := conn.Call(within(t), protocol.MethodMemoryChanges, protocol.MemoryChangesParams{}, &list); err != nil || len(list.Changes) != 1 || list.Changes[0].Record != r.ID {
		t.Errorf("changes: %+v, %v", list, err)
	}
	var undo protocol.MemoryChange
	if err := conn.Call(within(t), protocol.MethodMemoryUndo, protocol.MemoryUndoParams{}, &undo); err != nil || undo.Undoes != list.Changes[0].ID {
		t.Errorf("taken back: %+v, %v", undo, err)
	}
	wantError(t, "a change that is none", conn.Call(within(t), protocol.MethodMemoryUndo, protocol.MemoryUndoParams{ID: "none"}, nil), protocol.CodeConflict, "none")
}

// A person accepts a proposal, edits it or drops it. Each proposal is decided once.
func TestProposals(t *testing.T) {
	m := newMemory(t)
	conn := serve(t, m.Methods())("a shell")
	for _, text := range []string{"The cat is grey.", "The dog is brown.", "The bird is green."} {
		if waits, err := m.Store.Propose(t.Context(), memory.Proposal{Operation: memory.Saved, Title: text, Text: text, Session: "main", Turn: "t1", Event: "q1"}); err != nil || !waits {
			t.Fatal(waits, err)
		}
	}
	var list protocol.MemoryProposalsResult
	if err := conn.Call(within(t), protocol.MethodMemoryProposals, protocol.Empty{}, &list); err != nil || len(list.Proposals) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	accept := func(p protocol.MemoryAcceptParams) (result protocol.MemoryDecideResult, err error) {
		err = conn.Call(within(t), protocol.MethodMemoryAccept, p, &result)
		return result, err
	}
	first, second, third := list.Proposals[0], list.Proposals[1], list.Proposals[2]
	if result, err := accept(protocol.MemoryAcceptParams{IDs: []string{first.Proposal}}); err != nil || len(result.Changes) != 1 || len(result.Refused) > 0 {
		t.Errorf("kept: %+v, %v", result, err)
	}
	if result, err := accept(protocol.MemoryAcceptParams{IDs: []string{second.Proposal}, Edited: true, Title: "A dog", Text: "It is old."}); err != nil || len(result.Changes) != 1 || result.Changes[0].Title != "A dog" {
		t.Errorf("kept in other words: %+v, %v", result, err)
	}
	var dropped protocol.MemoryDecideResult
	if err := conn.Call(within(t), protocol.MethodMemoryDrop, protocol.MemoryDropParams{IDs: []string{third.Proposal}}, &dropped); err != nil || len(dropped.Dropped) != 1 {
		t.Errorf("dropped: %+v, %v", dropped, err)
	}
	if result, err := accept(protocol.MemoryAcceptParams{IDs: []string{third.Proposal}}); err != nil || len(result.Refused) != 1 {
		t.Errorf("decided twice: %+v, %v", result, err)
	}
	_, err := accept(protocol.MemoryAcceptParams{})
	wantError(t, "no proposal", err, protocol.CodeInvalidParams, "no proposal is named")
	_, err = accept(protocol.MemoryAcceptParams{IDs: []string{"a", "b"}, Edited: true})
	wantError(t, "several in other words", err, protocol.CodeInvalidParams, "only one proposal can be edited at a time")
}
