package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Stub is what the journal keeps of a row whose data is in the archive.
type Stub struct {
	// Archived is the sum by which the archive has the data.
	Archived string
	// Missing says why the data is not here, for a person. It is set by reads only.
	Missing string `json:",omitempty"`
}

// stubLimit is more than a stub can have, in bytes.
const stubLimit = 1000

// keptFields are the parts of the data that stay in the journal, because [TurnStore.Progress] reads them.
var keptFields = [...]string{"For", "taken", "seconds", "cost"}

// stubOf returns the sum of the data, and what stays in the journal in its place; nil if the data stays.
func stubOf(data json.RawMessage) (sum string, stub json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields["Archived"] != nil {
		return "", nil, nil // no object of ours, or archived already
	}
	kept := map[string]any{}
	for _, name := range keptFields {
		if value, ok := fields[name]; ok && len(value) < stubLimit/8 {
			kept[name] = value
		}
	}
	hash := sha256.Sum256(data)
	sum = hex.EncodeToString(hash[:])
	kept["Archived"] = sum
	stub, err = encode(kept)
	return sum, stub, err
}

// readStub returns the stub that a row has in place of its data. ok is false if the data is there.
func readStub(data []byte) (stub Stub, ok bool) {
	if len(data) >= stubLimit || json.Unmarshal(data, &stub) != nil {
		return stub, false
	}
	return stub, len(stub.Archived) == 2*sha256.Size
}

// restored returns the data of a row, from the archive if it is there. If the archive does not have it, the
// result is the stub, which says why.
func (f *archiveFile) restored(ctx context.Context, seq int64, data json.RawMessage) (json.RawMessage, error) {
	stub, ok := readStub(data)
	if !ok {
		return data, nil
	}
	whole, err := f.get(ctx, seq, stub.Archived)
	if err == nil {
		return whole, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["Missing"] = fmt.Sprintf("it was moved to the archive %s, which does not have it: %v", f.path, err)
	return encode(fields)
}
