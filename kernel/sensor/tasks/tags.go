package tasks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/journal"
)

// Tags are the tags by which headings outside of the file of tasks are tasks, or once were. They are held in all that
// models write. A tag that was added stays, also when the person chooses another one, and so it does for later kernels,
// which know it before an Emacs has announced it again. The methods may be called from any goroutine.
type Tags struct {
	store  TagStore
	chosen func() string

	adding   sync.Mutex // held while a tag is recorded
	recorded []string   // each once in any case, as the others are

	mu    sync.Mutex
	known []string
}

// TagStore is where tags are recorded.
type TagStore interface {
	TaskTags(ctx context.Context) ([]string, error)
	AddTaskTag(ctx context.Context, tag string) error
	Consents(ctx context.Context) (map[string]journal.Consent, error)
}

// OpenTags returns the tags that were added before, and those of the tasks that are armed. chosen returns the tag that the
// settings name now. It counts as long as they do, added or not.
func OpenTags(ctx context.Context, store TagStore, chosen func() string) (*Tags, error) {
	t := &Tags{store: store, chosen: chosen, recorded: []string{Tag}}
	recorded, err := store.TaskTags(ctx)
	if err != nil {
		return nil, err
	}
	for _, tag := range recorded {
		t.recorded = withTag(t.recorded, tag)
	}
	consents, err := store.Consents(ctx)
	if err != nil {
		return nil, err
	}
	t.known = slices.Clone(t.recorded)
	for _, c := range consents {
		t.known = withTag(t.known, c.Tag)
	}
	return t, nil
}

// withTag returns tags with one more, unless it is "" or among them in any case.
func withTag(tags []string, tag string) []string {
	tag = strings.ToLower(tag)
	if tag == "" || slices.Contains(tags, tag) {
		return tags
	}
	return append(tags, tag)
}

// Held returns the tags in small letters. It never waits.
func (t *Tags) Held() []string {
	t.mu.Lock()
	all := slices.Clone(t.known)
	t.mu.Unlock()
	return withTag(all, t.chosen())
}

// Add adds a tag. When it returns, the tag is held. Without an error later kernels hold it, too.
func (t *Tags) Add(ctx context.Context, tag string) error {
	t.mu.Lock()
	t.known = withTag(t.known, tag)
	t.mu.Unlock()
	t.adding.Lock()
	defer t.adding.Unlock()
	recorded := withTag(t.recorded, tag)
	if len(recorded) == len(t.recorded) {
		return nil
	}
	if err := t.store.AddTaskTag(ctx, strings.ToLower(tag)); err != nil {
		return fmt.Errorf("record that the tag %s is held: %w", tag, err)
	}
	t.recorded = recorded
	return nil
}
