// Package undo lists the changes that a turn made to texts, so that a client can undo them. It reads
// the acts and receipts of the turn from the journal, and each kind of action returns the changes of
// its acts.
//
// The package undoes nothing itself. A client undoes a change in the text, and [Record] writes into
// the journal that a person did so. The journal does not show whether a change is still in the text.
package undo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Journal has the parts of a journal that this package reads and writes.
type Journal struct {
	Acts Acts
	Rows Rows
}

// Acts reads the acts of turns.
type Acts interface {
	ActsOf(ctx context.Context, turns ...string) ([]journal.Act, error)
}

// Rows reads the rows of receipts and undos, and appends the rows of undos.
type Rows interface {
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
}

// Kinds returns the changes that an act made to texts, and a line for each effect that cannot be undone.
type Kinds interface {
	Undo(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, irreversible []string)
}

// Changes is a page of the changes of a turn.
type Changes struct {
	// Changes are the changes to texts, in the order in which they were made.
	Changes []protocol.Change
	// Irreversible has a line for each effect of the turn that cannot be undone.
	Irreversible []string
	// Next is the offset of the next page, 0 if this page is the last.
	Next int
}

// PageBytes bounds the texts of a page, in bytes. The change that exceeds the bound is the last one of
// its page.
const PageBytes = 1 << 20

// Read returns a page of the changes of a turn that begins at the offset from. Every page has all lines
// about irreversible effects.
func Read(ctx context.Context, j Journal, kinds Kinds, turn string, from int) (Changes, error) {
	acts, err := j.Acts.ActsOf(ctx, turn)
	if err != nil {
		return Changes{}, err
	}
	outcomes, err := outcomesOf(ctx, j, turn)
	if err != nil {
		return Changes{}, err
	}
	var all Changes
	number, size := 0, 0
	for _, a := range acts {
		outcome := outcomes[a.ID]
		if a.Kind != journal.ActAction || outcome.failed {
			continue
		}
		read, err := action.Read(a.Action)
		if err != nil {
			return Changes{}, fmt.Errorf("read the act %s: %w", a.ID, err)
		}
		changes, irreversible := kinds.Undo(read.Action(), outcome.receipt.Receipt)
		all.Irreversible = append(all.Irreversible, irreversible...)
		for _, change := range changes {
			switch {
			case all.Next > 0:
			case size > PageBytes:
				all.Next = number
			default:
				if number++; number > from {
					change.Act, change.Unsure, change.Undone = a.ID, !outcome.performed, outcome.undoTime()
					all.Changes = append(all.Changes, change)
					size += len(change.Old) + len(change.New)
				}
			}
		}
	}
	return all, nil
}

// outcome is the outcome of an act. Neither performed nor failed is set if the outcome is unknown.
type outcome struct {
	receipt   journal.Receipt
	performed bool
	failed    bool // the act changed nothing
	undoneAt  time.Time
}

// undoTime returns the time at which a person undid the act, "" if nobody did.
func (o outcome) undoTime() string {
	if o.undoneAt.IsZero() {
		return ""
	}
	return o.undoneAt.UTC().Format(time.RFC3339)
}

// outcomesOf returns the outcomes of a turn's acts, by the ids of the acts.
func outcomesOf(ctx context.Context, j Journal, turn string) (map[string]outcome, error) {
	outcomes := map[string]outcome{}
	query := journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindReceipt, journal.KindUndo}}
	for {
		rows, err := j.Rows.Entries(ctx, query)
		if err != nil || len(rows) == 0 {
			return outcomes, err
		}
		for _, row := range rows {
			o := outcomes[row.ID]
			var receipt journal.Receipt
			if row.Kind == journal.KindUndo {
				o.undoneAt = row.Time
			} else if err := json.Unmarshal(row.Data, &receipt); err != nil {
				return nil, fmt.Errorf("read a receipt: %w", err)
			} else if receipt.Failure == "" {
				o.receipt, o.performed, o.failed = receipt, true, false
			} else if !o.performed {
				o.failed = !receipt.Unknown
			}
			outcomes[row.ID] = o
			query.After = row.Seq
		}
	}
}

// Record writes into the journal that a person undid the acts of a turn with these ids. It writes
// nothing if the turn has no act with one of the ids.
func Record(ctx context.Context, j Journal, turn journal.Turn, acts []string) error {
	performed, err := j.Acts.ActsOf(ctx, turn.ID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, a := range performed {
		known[a.ID] = true
	}
	for _, id := range acts {
		if !known[id] {
			return protocol.Errorf(protocol.CodeNotFound, "the turn %s has no act %q", turn.ID, id)
		}
	}
	for _, id := range acts {
		if _, err := j.Rows.Append(ctx, journal.Entry{Kind: journal.KindUndo, Session: turn.Session, Turn: turn.ID, ID: id}); err != nil {
			return err
		}
	}
	return nil
}
