package journal

import (
	"context"
	"encoding/json"
	"fmt"
)

// Repeats is the part of a request to a model that an earlier row has already. Each request of a
// conversation contains the previous one and something more. Written whole, the requests would grow
// the journal by the square of the turns. Repeats is in the data of a row of the kind
// model-request, and "System" and "Messages" of the row have only the new part.
// [RecordStore.Entries] returns such rows whole; with "Missing", which says why, if the archive does not have
// an earlier row.
type Repeats struct {
	// Base is the row of the earlier request; 0 for none.
	Base int64 `json:",omitempty"`
	// Same is the number of the earlier request's messages that this request begins with.
	// SameSystem reports whether it has the same system prompt.
	Same       int  `json:",omitempty"`
	SameSystem bool `json:",omitempty"`
}

// RepeatsLimit is the number of rows that a request may be spread over, so that reading one takes
// milliseconds.
const RepeatsLimit = 1000

// requestRow has the fields of a request that are needed to assemble it.
type requestRow struct {
	Repeats
	System   json.RawMessage
	Messages []json.RawMessage
	Missing  string
}

// requests assembles requests. It caches the rows that it read.
type requests struct {
	from    reader
	archive *archiveFile
	rows    map[int64]requestRow
}

// whole returns a row of the kind model-request with the whole request.
func (r *requests) whole(ctx context.Context, entry Entry) (Entry, error) {
	var own requestRow
	if err := json.Unmarshal(entry.Data, &own); err != nil || own.Base == 0 {
		return entry, nil // the row has another shape and is returned as it is
	}
	var parts [][]json.RawMessage
	size, system := own.Same, own.System
	needed, inherits, at := own.Same, own.SameSystem, entry.Seq
	for base := own.Base; needed > 0 || inherits; {
		row, err := r.read(ctx, base)
		if err == nil && row.Missing != "" {
			return own.without(entry, row.Missing)
		}
		if err == nil && (base >= at || row.Same < 0 || needed > row.Same+len(row.Messages)) {
			err = fmt.Errorf("it is not what the request of row %d goes on from", at)
		}
		if err != nil {
			return entry, fmt.Errorf("put the request of row %d together: row %d: %w", entry.Seq, base, err)
		}
		if needed > row.Same {
			parts = append(parts, row.Messages[:needed-row.Same])
			needed = row.Same
		}
		if inherits {
			system, inherits = row.System, row.SameSystem
		}
		at, base = base, row.Base
	}
	messages := make([]json.RawMessage, 0, size+len(own.Messages))
	for i := len(parts) - 1; i >= 0; i-- {
		messages = append(messages, parts[i]...)
	}
	return own.put(entry, system, append(messages, own.Messages...))
}

// put returns the row with this system prompt and these messages.
func (r requestRow) put(entry Entry, system json.RawMessage, messages []json.RawMessage) (Entry, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(entry.Data, &fields); err != nil {
		return entry, fmt.Errorf("read the row %d: %w", entry.Seq, err)
	}
	list, err := encode(messages)
	if err != nil {
		return entry, fmt.Errorf("put the request of row %d together: %w", entry.Seq, err)
	}
	fields["System"], fields["Messages"] = system, list
	for _, name := range []string{"Base", "Same", "SameSystem"} {
		delete(fields, name)
	}
	if entry.Data, err = encode(fields); err != nil {
		return entry, fmt.Errorf("put the request of row %d together: %w", entry.Seq, err)
	}
	return entry, nil
}

// without returns the row with its own part of the request, and says why the rest is missing.
func (r requestRow) without(entry Entry, missing string) (Entry, error) {
	whole, err := r.put(entry, r.System, r.Messages)
	if err != nil {
		return entry, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(whole.Data, &fields); err != nil {
		return entry, fmt.Errorf("read the row %d: %w", entry.Seq, err)
	}
	if fields["Missing"], err = encode(missing); err == nil {
		whole.Data, err = encode(fields)
	}
	return whole, err
}

// read reads the row of a request, without the earlier ones that it goes on from.
func (r *requests) read(ctx context.Context, seq int64) (row requestRow, err error) {
	if known, ok := r.rows[seq]; ok {
		return known, nil
	}
	var data []byte
	err = r.from.QueryRowContext(ctx, "SELECT data FROM journal WHERE seq = ? AND kind = 'model-request'", seq).Scan(&data)
	var whole json.RawMessage
	if err == nil {
		whole, err = r.archive.restored(ctx, seq, data)
	}
	if err == nil {
		err = json.Unmarshal(whole, &row)
	}
	if err == nil {
		r.rows[seq] = row
	}
	return row, err
}
