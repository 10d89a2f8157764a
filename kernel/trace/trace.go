// Package trace tells why: the whole story of a turn, from the event to the receipts, as
// the journal has it and nothing else does. It reads; it decides and changes nothing.
//
// A [Trace] is plain data. Its [Trace.Outline] is Org that runs nothing, whatever the texts
// in it are, and bounded; the rows themselves, for programs, are its Entries.
package trace

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
)

// Trace is the story of a turn.
type Trace struct {
	// Named is what was asked for.
	Named journal.Named
	Turn  journal.Turn
	// Entries are the journal's rows of the turn, oldest first.
	Entries []journal.Entry
	// Left says that the turn has more rows: only the first were read.
	Left bool
}

// entriesBytes bounds the data that is read of one turn.
const entriesBytes = 64 << 20

// Read finds the turn that an id belongs to, or the beginning of an id, and reads its rows.
// Errors are those of [journal.Journal.Resolve]. Blanks around the id and "id:" before it,
// as people copy it, do not count.
func Read(ctx context.Context, j *journal.Journal, id string) (Trace, error) {
	named, err := j.Resolve(ctx, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(id), "id:")))
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Named: named}
	if t.Turn, err = j.Turn(ctx, named.Turn); err != nil {
		return Trace{}, fmt.Errorf("trace the %s %s: %w", named.Kind, named.ID, err)
	}
	query := journal.Query{Turn: named.Turn}
	for size := 0; ; {
		entries, err := j.Entries(ctx, query)
		if err != nil {
			return Trace{}, fmt.Errorf("trace the turn %s: %w", named.Turn, err)
		}
		if len(entries) == 0 {
			return t, nil
		}
		t.Entries = append(t.Entries, entries...)
		query.After = entries[len(entries)-1].Seq
		for _, e := range entries {
			size += len(e.Data)
		}
		if size > entriesBytes {
			t.Left = true
			return t, nil
		}
	}
}
