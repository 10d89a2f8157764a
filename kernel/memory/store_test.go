package memory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
)

func newStore(t testing.TB) *memory.Store {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	var mu sync.Mutex
	ids := 0
	return &memory.Store{Home: t.TempDir(), Journal: j.Records, Now: func() time.Time { return noon }, NewID: func() string {
		mu.Lock()
		defer mu.Unlock()
		ids++
		return fmt.Sprintf("id-%d", ids)
	}}
}

// written returns a file of the home of a store, empty if there is none.
func written(t testing.TB, s *memory.Store, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Home, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

func TestStore(t *testing.T) {
	s := newStore(t)
	theirs := "#+TITLE: Memory\n\nI write here too.\n* My own heading\nprose\n"
	put(t, s.Home, "MEMORY.org", theirs)
	r, saved, err := s.Save(t.Context(), "t-1", memory.Record{Text: "The car is blue.", Tags: []string{"car"}, Scope: "family", Source: "main#e-1"}, true)
	if err != nil {
		t.Fatal(err)
	}
	_, mark, _ := strings.Cut(r.String(), ":AGENT:    ")
	mark, _, _ = strings.Cut(mark, "\n")
	want := theirs + "* The car is blue. :car:\n:PROPERTIES:\n:ID:       id-1\n:CREATED:  [2026-11-22 Sun 12:00]\n:SCOPE:    family\n:SOURCE:   main#e-1\n:AGENT:    " + mark + "\n:END:\n"
	if got := written(t, s, "MEMORY.org"); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if _, _, err := s.Save(t.Context(), "t-1", memory.Record{Text: "It rains."}, false); err != nil || !strings.Contains(written(t, s, "memory/2026-11-22.org"), "* It rains.\n") {
		t.Errorf("the day is %q (%v)", written(t, s, "memory/2026-11-22.org"), err)
	}
	changed, err := s.Update(t.Context(), "t-2", memory.Record{ID: r.ID, Title: "The car", Text: "It is red."})
	if err != nil || !strings.HasPrefix(changed.Before, "* The car is blue") || !strings.Contains(written(t, s, "MEMORY.org"), "It is red.") {
		t.Errorf("updated: %v, %+v", err, changed)
	}
	if _, err := s.Undo(t.Context(), saved.ID); err == nil || !strings.Contains(err.Error(), "undo the later change first") {
		t.Errorf("undone out of order: %v", err)
	}
	if _, err := s.Undo(t.Context(), changed.ID); err != nil || written(t, s, "MEMORY.org") != want {
		t.Errorf("undone: %v\n%s", err, written(t, s, "MEMORY.org"))
	}
	forgotten, err := s.Forget(t.Context(), "t-3", r.ID)
	if err != nil || written(t, s, "MEMORY.org") != theirs {
		t.Errorf("forgotten: %v\n%s", err, written(t, s, "MEMORY.org"))
	}
	if _, err := s.Undo(t.Context(), forgotten.ID); err != nil || written(t, s, "MEMORY.org") != want {
		t.Errorf("brought back: %v\n%s", err, written(t, s, "MEMORY.org"))
	}
	if _, err := s.Undo(t.Context(), forgotten.ID); !errors.Is(err, memory.ErrUndone) {
		t.Errorf("brought back twice: %v", err)
	}
	changes, err := s.Changes(t.Context(), 2)
	if err != nil || len(changes) != 2 || changes[0].Undoes != forgotten.ID || changes[1].ID != forgotten.ID {
		t.Errorf("the changes are %+v (%v)", changes, err)
	}
}

func TestStoreRefuses(t *testing.T) {
	s := newStore(t)
	r, _, err := s.Save(t.Context(), "", memory.Record{Text: "blue"}, true)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s.Home, "MEMORY.org", strings.Replace(written(t, s, "MEMORY.org"), "* blue", "* red", 1)+"* Theirs\n:PROPERTIES:\n:ID: theirs\n:END:\n")
	before := written(t, s, "MEMORY.org")
	for id, want := range map[string]error{r.ID: memory.ErrNotOwn, "theirs": memory.ErrNotOwn, "unknown": memory.ErrNotFound, "": memory.ErrNotFound, "id": memory.ErrNotFound} {
		if _, err := s.Forget(t.Context(), "", id); !errors.Is(err, want) {
			t.Errorf("forget %q: %v, want %v", id, err, want)
		}
		if _, err := s.Update(t.Context(), "", memory.Record{ID: id, Title: "x"}); !errors.Is(err, want) {
			t.Errorf("update %q: %v, want %v", id, err, want)
		}
	}
	if _, _, err := s.Save(t.Context(), "", memory.Record{}, true); err == nil {
		t.Error("nothing was kept")
	}
	if got := written(t, s, "MEMORY.org"); got != before {
		t.Errorf("the file became\n%s", got)
	}
}

// TestManyAtOnce checks that many records saved at once are all there, also while a person saves.
func TestManyAtOnce(t *testing.T) {
	s := newStore(t)
	put(t, s.Home, "MEMORY.org", "* Theirs\n")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, _, err := s.Save(t.Context(), "", memory.Record{Text: fmt.Sprintf("fact %d.", i)}, true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text := written(t, s, "MEMORY.org")
	for i := range 20 {
		if strings.Count(text, fmt.Sprintf("* fact %d.\n", i)) != 1 {
			t.Errorf("fact %d is not there once", i)
		}
	}
}

// TestStoreIsIndexed checks that a saved record is found at once, a forgotten one no longer, and that
// Changed is called with every change.
func TestStoreIsIndexed(t *testing.T) {
	x, home, _ := newIndex(t)
	s := newStore(t)
	s.Home, s.Index = home, x
	var operations []memory.Operation
	s.Changed = func(c memory.Change) { operations = append(operations, c.Operation) }
	r, _, err := s.Save(t.Context(), "t-1", memory.Record{Text: "The samovar hums."}, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := places(t, x, "samovar"); !strings.Contains(got, "MEMORY.org") {
		t.Errorf("it is found at %q", got)
	}
	if _, err := s.Forget(t.Context(), "t-1", r.ID); err != nil {
		t.Fatal(err)
	}
	if got := places(t, x, "samovar"); got != "" {
		t.Errorf("it is still found at %q", got)
	}
	if !slices.Equal(operations, []memory.Operation{memory.Saved, memory.Forgotten}) {
		t.Errorf("the changes are %v", operations)
	}
}
