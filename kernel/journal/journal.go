// Package journal records everything that happens: one SQLite file with one row
// for every event, model call, proposal, verdict, act and receipt. History,
// log, explanation, replay and crash recovery read it and nothing else.
//
// Ownership: a [Journal] is safe for many goroutines, and several processes
// may have the same file open. Values it returns are the caller's.
//
// Order: writes are done one at a time, each in one transaction with its
// journal row; rows are numbered in the order of commitment. Reads run beside
// a write and see whole transactions only.
//
// Blocking: a write waits for the write before it, and up to five seconds for
// another process; cancelling its context ends the wait for its place, not a
// write that has begun, so an error of the context means that nothing was
// written. Reads end when their context does.
//
// Durability: what was written survives the death of the process at any
// moment. [TurnStore.Accept] also flushes to the disk before it returns;
// [RecordStore.AppendDeferred] writes together with the next change.
//
// Errors: a [*protocol.Error], with CodeStorage and advice when the file or
// its disk is at fault, CodeNotFound and CodeConflict as each method says; or
// one that wraps the error of the context.
package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Journal is an open journal: its file, and a store for each thing that the file keeps. The stores
// share the file, its one writer and its transactions, so their order, blocking, durability and
// errors are the package's. Give a consumer the stores that it uses. Make a Journal with [Open].
type Journal struct {
	Records     *RecordStore     // what happened, a row each
	Turns       *TurnStore       // what was asked, and how far its answer is
	Acts        *ActStore        // what was done and said
	Asks        *AskStore        // what waits for a person
	Sessions    *SessionStore    // the conversations, by name
	Transcripts *TranscriptStore // what a model is shown of a conversation
	Subagents   *SubagentStore   // what was handed on
	Usage       *UsageStore      // what it took
	Search      *SearchIndex     // where words stand

	database *database
}

// Open opens the journal at path, which it creates (mode 0600) in a directory
// that must exist, and brings its schema up to date. It fails with CodeStorage
// when the file cannot be created or written, is no journal, is damaged, or
// was written by a newer org-agent.
func Open(ctx context.Context, path string) (*Journal, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the journal %s: %w", path, err)
	}
	j := newJournal(absolute)
	if err := j.database.createFile(); err != nil {
		return nil, err
	}
	if err := j.database.open(ctx); err != nil {
		return nil, errors.Join(j.database.failure(ctx, "open the journal", err), j.Close())
	}
	return j, nil
}

// newJournal returns a journal whose file is not open yet.
func newJournal(path string) *Journal {
	db := newDatabase(path)
	return &Journal{
		Records:     &RecordStore{db},
		Turns:       &TurnStore{database: db},
		Acts:        &ActStore{db},
		Asks:        &AskStore{db},
		Sessions:    &SessionStore{db},
		Transcripts: newTranscriptStore(db),
		Subagents:   &SubagentStore{db},
		Usage:       &UsageStore{db},
		Search:      &SearchIndex{db},
		database:    db,
	}
}

// Close waits for the write that runs and closes the file. A second call does nothing.
func (j *Journal) Close() error { return j.database.close() }

// Path is the absolute path of the journal's file.
func (j *Journal) Path() string { return j.database.path }
