package settings

import (
	"context"
	"slices"
	"sync"

	"org-agent/kernel/protocol"
)

// draftLimit is how many resolved drafts are remembered.
const draftLimit = 16

// drafts are messages that were resolved but not yet sent, the latest last. The zero value is ready
// to use. It is safe for many goroutines.
type drafts struct {
	mu     sync.Mutex
	events []protocol.Event
}

// put remembers a draft by its id, in place of an earlier one.
func (d *drafts) put(event protocol.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = slices.DeleteFunc(d.events, func(e protocol.Event) bool { return e.ID == event.ID })
	if len(d.events) == draftLimit {
		d.events = slices.Delete(d.events, 0, 1)
	}
	d.events = append(d.events, event)
}

// take forgets the draft of that id, if there is one, and returns it.
func (d *drafts) take(id string) (protocol.Event, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.events, func(e protocol.Event) bool { return e.ID == id })
	if i < 0 {
		return protocol.Event{}, false
	}
	event := d.events[i]
	d.events = slices.Delete(d.events, i, i+1)
	return event, true
}

// ResolveDraft is [Resolver.Resolve] for a message that is not sent yet. If the client names the id
// of the message, [Resolver.ResolveSent] uses this result.
func (r *Resolver) ResolveDraft(ctx context.Context, event *protocol.Event) error {
	err := r.Resolve(ctx, event)
	if err == nil && event.ID != "" && event.HasHeading() {
		r.drafts.put(*event)
	}
	return err
}

// ResolveSent is [Resolver.Resolve] for a message that was sent, unless it was resolved as a
// draft.
func (r *Resolver) ResolveSent(ctx context.Context, event *protocol.Event) error {
	draft, found := r.drafts.take(event.ID)
	if !found || draft.Command != event.Command {
		return r.Resolve(ctx, event)
	}
	event.Session, event.Presets, event.Above = draft.Session, draft.Presets, draft.Above
	event.Properties, event.Settings = draft.Properties, draft.Settings
	return nil
}
