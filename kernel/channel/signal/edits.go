package signal

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// edits knows which messages were edited. Signal gives each edit a time of its own, by which phones name the message from
// then on, while it keeps the ID of its first text here. The zero value knows none. It is safe for many goroutines.
type edits struct {
	mutex sync.Mutex
	lines []string // "EDIT ORIGINAL", the last ones
	first map[string]string
}

// editBound is how many edits are known, which is what the state holds.
const editBound = 100

// editsKey is the key of the state for the lines of edits.
const editsKey = "edits"

// original returns the id of the message of which the id names an edit, and else the id.
func (e *edits) original(id string) string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if first, ok := e.first[id]; ok {
		return first
	}
	return id
}

// add adds an edit, and returns the text for the state. It is "" if the edit was known.
func (e *edits) add(edit, original string) string {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.first[edit] == original {
		return ""
	}
	e.put(edit + " " + original)
	return strings.Join(e.lines, "\n")
}

// put adds a line. The mutex is held.
func (e *edits) put(line string) {
	edit, original, found := strings.Cut(line, " ")
	if !found {
		return
	}
	if len(e.lines) == editBound {
		oldest, _, _ := strings.Cut(e.lines[0], " ")
		delete(e.first, oldest)
		e.lines = slices.Delete(e.lines, 0, 1)
	}
	if e.first == nil {
		e.first = map[string]string{}
	}
	e.lines = append(e.lines, line)
	e.first[edit] = original
}

// edited keeps that a message has a new text by which phones may name it.
func (d *Driver) edited(ctx context.Context, edit, original string) {
	kept := d.edits.add(edit, original)
	if kept == "" || d.config.State == nil {
		return
	}
	if err := d.config.State.Store(ctx, editsKey, kept); err != nil {
		d.log.Warn("store which messages were edited", "channel", d.Name(), "err", err)
	}
}

// recall reads the edits that are in the state.
func (d *Driver) recall(ctx context.Context) {
	if d.config.State == nil {
		return
	}
	kept, err := d.config.State.Load(ctx, editsKey)
	if err != nil {
		d.log.Warn("load which messages were edited", "channel", d.Name(), "err", err)
		return
	}
	d.edits.mutex.Lock()
	defer d.edits.mutex.Unlock()
	for line := range strings.Lines(kept) {
		d.edits.put(strings.TrimSuffix(line, "\n"))
	}
}
