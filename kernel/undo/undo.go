// Package undo tells what a turn changed, and how that is taken back. It reads the journal's acts and
// receipts, and each kind of action says how its acts are taken back. It changes nothing but the
// journal, in which it notes what a person took back. Whether a change still stands is seen only in
// the text itself.
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

// Journal is what is read of a journal, and noted in it.
type Journal struct {
	Acts Acts
	Rows Rows
}

// Acts are what turns did.
type Acts interface {
	ActsOf(ctx context.Context, turns ...string) ([]journal.Act, error)
}

// Rows have the receipts of acts, and what a person took back.
type Rows interface {
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
}

// Kinds say how an act is taken back.
type Kinds interface {
	Undo(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, stays []string)
}

// Changes are what a turn changed.
type Changes struct {
	// Changes are those of texts, in the order in which they were made.
	Changes []protocol.Change
	// Stays are lines about what cannot be taken back.
	Stays []string
	// Next is where to go on from, 0 when these are all.
	Next int
}

// Bytes is how many bytes of texts one answer has, before its last change.
const Bytes = 1 << 20

// Read returns what a turn changed, without the first from changes. The lines about what stays are in
// every answer.
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
		changes, stays := kinds.Undo(read.Action(), outcome.receipt.Receipt)
		all.Stays = append(all.Stays, stays...)
		for _, change := range changes {
			switch {
			case all.Next > 0:
			case size > Bytes:
				all.Next = number
			default:
				if number++; number > from {
					change.Act, change.Unsure, change.Undone = a.ID, !outcome.made, outcome.undoneAt()
					all.Changes = append(all.Changes, change)
					size += len(change.Old) + len(change.New)
				}
			}
		}
	}
	return all, nil
}

// outcome is what became of an act.
type outcome struct {
	receipt journal.Receipt
	made    bool
	failed  bool // it is known that nothing was done
	undone  time.Time
}

// undoneAt is when it was taken back, "" if it was not.
func (o outcome) undoneAt() string {
	if o.undone.IsZero() {
		return ""
	}
	return o.undone.UTC().Format(time.RFC3339)
}

// outcomesOf reads what became of a turn's acts, by their ids.
func outcomesOf(ctx context.Context, j Journal, turn string) (map[string]outcome, error) {
	outcomes := map[string]outcome{}
	query := journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindReceipt, journal.KindUndo}}
	for {
		rows, err := j.Rows.Entries(ctx, query)
		if err != nil || len(rows) == 0 {
			return outcomes, err
		}
		for _, row := range rows {
			of := outcomes[row.ID]
			var receipt journal.Receipt
			if row.Kind == journal.KindUndo {
				of.undone = row.Time
			} else if err := json.Unmarshal(row.Data, &receipt); err != nil {
				return nil, fmt.Errorf("read a receipt: %w", err)
			} else if receipt.Failure == "" {
				of.receipt, of.made, of.failed = receipt, true, false
			} else if !of.made {
				of.failed = !receipt.Unknown
			}
			outcomes[row.ID] = of
			query.After = row.Seq
		}
	}
}

// Note records which acts of a turn a person took back.
func Note(ctx context.Context, j Journal, turn journal.Turn, acts []string) error {
	made, err := j.Acts.ActsOf(ctx, turn.ID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, a := range made {
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
