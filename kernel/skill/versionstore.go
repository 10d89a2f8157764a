package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"org-agent/kernel/atomicfile"
)

// A versionStore stores the text of the last good version of each of the home's notes. If a note is
// broken when the kernel starts, its stored version is loaded. The goroutine that holds
// Registry.loading owns the versionStore. A failure to store a text is only logged.
type versionStore struct{ directory string }

// read returns the stored text of a note, or nil if there is none.
func (k versionStore) read(name string) ([]byte, error) {
	if k.directory == "" {
		return nil, nil
	}
	source, err := os.ReadFile(filepath.Join(k.directory, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last good version: %w", err)
	}
	return source, nil
}

// write stores a note's text, unless the same text is stored already.
func (k versionStore) write(name string, source []byte) error {
	if k.directory == "" {
		return nil
	}
	if old, err := k.read(name); err == nil && old != nil && bytes.Equal(old, source) {
		return nil
	}
	if err := os.MkdirAll(k.directory, 0o700); err != nil {
		return fmt.Errorf("keep the last good version: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(k.directory, name), source, 0o600); err != nil {
		return fmt.Errorf("keep the last good version: %w", err)
	}
	return nil
}

// retain deletes all notes but these. Otherwise the text of a deleted note could replace a new note
// with the same name.
func (k versionStore) retain(names map[string]bool) error {
	if k.directory == "" {
		return nil
	}
	entries, err := os.ReadDir(k.directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look through the last good versions: %w", err)
	}
	var faults []error
	for _, entry := range entries {
		if !names[entry.Name()] {
			faults = append(faults, os.Remove(filepath.Join(k.directory, entry.Name())))
		}
	}
	return errors.Join(faults...)
}

// restored loads the last good version of a broken note. It returns nil if there is none, or if
// that version does not load any more.
func (r *Registry) restored(ctx context.Context, s *slot, options Options) *Note {
	source, err := r.keep.read(s.name)
	if err != nil {
		r.config.Logger.Warn("a note is not live", "file", s.origin.path(s.name), "err", err)
	}
	if source == nil {
		return nil
	}
	n, faults := loadAndTest(ctx, s.origin.path(s.name), source, options)
	if len(faults) > 0 {
		return nil
	}
	return n
}

// storeLive stores the live versions of the home's notes, and no others.
func (r *Registry) storeLive() {
	names := map[string]bool{}
	for _, s := range r.slots {
		if s.origin.shipped {
			continue
		}
		names[s.name] = true
		if !s.published || s.restorable == s.live {
			continue
		}
		if err := r.keep.write(s.name, []byte(s.live.text)); err != nil {
			r.config.Logger.Warn("a note is not kept", "file", s.origin.path(s.name), "err", err)
			continue
		}
		s.restorable = s.live
	}
	if len(r.directory) > 0 { // a note in an unreadable directory is not deleted
		return
	}
	if err := r.keep.retain(names); err != nil {
		r.config.Logger.Warn("deleted notes are not forgotten", "err", err)
	}
}
