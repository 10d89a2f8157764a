// Package journal records everything that happens, in one SQLite file with one row for every event,
// model call, proposal, verdict, act and receipt. History, log, explanation, replay and crash
// recovery read only the journal.
//
// Ownership: a [Journal] is safe for many goroutines, and several processes may have the same file
// open. Returned values belong to the caller, unless a method says otherwise.
//
// Order: writes are done one at a time, each in one transaction with its journal row. Rows are
// numbered in the order of their commits. Reads run beside a write and see whole transactions only.
//
// Blocking: a write waits for the write before it, and up to five seconds for another process. The
// end of its context ends this wait, but not a write that has begun. So an error of the context
// means that nothing was written. Reads end when their context ends.
//
// Durability: committed changes survive the death of the process at any moment. [TurnStore.Accept]
// also flushes to the disk before it returns: what it acknowledged, and all that was committed before
// it, survives the loss of power, on a disk that keeps what it was told to flush. After a loss of power
// the file is whole, and is as it was after some commit. [RecordStore.AppendDeferred] writes together
// with the next change.
//
// Damage: a kernel opens its journal with [Start], which checks one that was not closed and puts what
// can be read in the place of a damaged one.
//
// Errors: a [*protocol.Error], or an error that wraps the error of the context. The code is
// CodeStorage, with advice, if the file or its disk is at fault. Each method names its other codes.
package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Journal is an open journal: its file, and a store for each part of its content. The stores share
// the file, its one writer and its transactions, so their order, blocking, durability and errors
// are the package's. Give a consumer only the stores that it uses. Make a Journal with [Open].
type Journal struct {
	Records     *RecordStore     // the rows, of every kind
	Turns       *TurnStore       // questions and the state of their answers
	Acts        *ActStore        // actions and their receipts
	Asks        *AskStore        // approvals and questions for a person
	Rules       *RuleStore       // the use of the rules of policy.org
	Sessions    *SessionStore    // the conversations, by name
	Transcripts *TranscriptStore // conversations in the form that models receive
	Subagents   *SubagentStore   // the tasks of subagents
	Leases      *LeaseStore      // the planned times of tasks
	Inbox       *InboxStore      // what is kept for the owner
	Queue       *EventQueue      // the events that wait for a heartbeat
	Chats       *ChatStore       // what was written in the chats of channels
	Outgoing    *OutgoingStore   // what is to be sent to them
	Channels    *ChannelState    // what their drivers keep
	Usage       *UsageStore      // tokens and costs
	Search      *SearchIndex     // the index of words
	Archive     *Archive         // what is old, in a file beside it

	database *database
}

// Open opens the journal at path and brings its schema up to date. It creates a missing file with
// mode 0600, in a directory that must exist. It fails with CodeStorage if the file cannot be
// created or written, is no journal, is damaged, or was written by a newer org-agent.
func Open(ctx context.Context, path string) (*Journal, error) { return open(ctx, path, false, nil) }

// open opens the journal. With kept it keeps a copy of one of an older schema.
func open(ctx context.Context, path string, kept bool, progress func(string)) (*Journal, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the journal %s: %w", path, err)
	}
	j := newJournal(absolute)
	j.database.progress = progress
	if err := j.database.createFile(); err != nil {
		return nil, err
	}
	if err := j.database.open(ctx, kept); err != nil {
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
		Rules:       &RuleStore{db},
		Sessions:    &SessionStore{db},
		Transcripts: newTranscriptStore(db),
		Subagents:   &SubagentStore{db},
		Leases:      &LeaseStore{db},
		Inbox:       &InboxStore{db},
		Queue:       &EventQueue{db},
		Chats:       &ChatStore{db},
		Outgoing:    &OutgoingStore{db},
		Channels:    &ChannelState{db},
		Usage:       &UsageStore{db},
		Search:      &SearchIndex{db},
		Archive:     newArchive(db),
		database:    db,
	}
}

// Close waits for the running write and closes the file. A second call does nothing.
func (j *Journal) Close() error { return j.database.close() }

// Path returns the absolute path of the journal's file.
func (j *Journal) Path() string { return j.database.path }
