// Package explain shows how a turn was answered and why: everything that happened, from the event to
// the receipts. The journal is its only source, and it changes nothing.
//
// A [Trace] is plain data. [Trace.Outline] returns it as Org for people. The outline is bounded, and
// nothing in it can be run, whatever texts it has. Programs use the Entries. A [Reader] is safe for
// many goroutines and starts none.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/journal"
)

// Trace is a turn with its rows of the journal.
type Trace struct {
	// Named is the object of the id: the turn, or something in it.
	Named journal.IDTarget
	Turn  journal.Turn
	// Origin is the original if Turn is a fork's copy, or a copy of a copy. It has no ID if Turn is no
	// copy.
	Origin journal.Turn
	// Entries are the journal's rows of the turn, oldest first. For a copy they are the rows of
	// the origin from before the fork, and then those of the fork itself.
	Entries []journal.Entry
	// Truncated is set if the turn has more rows than were read.
	Truncated bool
}

// entriesBytes bounds the data of one turn that is read.
const entriesBytes = 64 << 20

// Reader reads turns from a journal.
type Reader struct {
	Rows  Rows
	Turns Turns
}

// Rows has the rows of a journal. Resolve finds the object of an id, or of the beginning of an id.
type Rows interface {
	Resolve(ctx context.Context, id string) (journal.IDTarget, error)
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// Turns has the turns of a journal.
type Turns interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
}

// Read finds the turn that an id belongs to, or the beginning of an id, and reads its rows.
// Errors are those of [journal.RecordStore.Resolve]. Blanks around the id and "id:" before it,
// as people copy it, do not count.
func (r Reader) Read(ctx context.Context, id string) (Trace, error) {
	named, err := r.Rows.Resolve(ctx, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(id), "id:")))
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Named: named}
	if t.Turn, err = r.Turns.Turn(ctx, named.Turn); err != nil {
		return Trace{}, fmt.Errorf("trace the %s %s: %w", named.Kind, named.ID, err)
	}
	turns, err := r.copiesOf(ctx, t.Turn)
	if err != nil {
		return Trace{}, fmt.Errorf("trace the origin of the turn %s: %w", named.Turn, err)
	}
	if len(turns) > 1 {
		t.Origin = turns[0]
	}
	size := 0
	for i, turn := range turns {
		before := int64(1<<63 - 1)
		if i+1 < len(turns) {
			before = turns[i+1].Seq
		}
		if err := r.readRows(ctx, &t, turn, before, &size); err != nil {
			return Trace{}, fmt.Errorf("trace the turn %s: %w", turn.ID, err)
		}
	}
	return t, nil
}

// copiesOf returns the turns that the turn is a copy of, the original first, and then the turn.
func (r Reader) copiesOf(ctx context.Context, turn journal.Turn) ([]journal.Turn, error) {
	turns := []journal.Turn{turn}
	for turn.Origin != "" {
		var err error
		if turn, err = r.Turns.Turn(ctx, turn.Origin); err != nil {
			return nil, err
		}
		turns = append(turns, turn)
	}
	slices.Reverse(turns)
	return turns, nil
}

// readRows adds the turn's own rows from before another turn was copied from it. The rows that a copy
// begins with are its origin's, and are left out.
func (r Reader) readRows(ctx context.Context, t *Trace, turn journal.Turn, before int64, size *int) error {
	query := journal.Query{Turn: turn.ID}
	own := turn.Origin == ""
	for !t.Truncated {
		entries, err := r.Rows.Entries(ctx, query)
		if err != nil || len(entries) == 0 {
			return err
		}
		query.After = entries[len(entries)-1].Seq
		for _, e := range entries {
			own = own || e.Kind == journal.KindTurn
			if own && e.Seq < before {
				t.Entries = append(t.Entries, e)
				*size += len(e.Data)
			}
		}
		t.Truncated = *size > entriesBytes
	}
	return nil
}
