//go:build !race

// This test has one goroutine, and with the race detector it takes three times as long.

package memory_test

import (
	"org-agent/kernel/memory"
	"strings"
	"testing"
	"time"
)

// TestLargeFile checks that records are added, found and undone in a MEMORY.org of 5 MB, and that
// its other bytes stay.
func TestLargeFile(t *testing.T) {
	s := newStore(t)
	theirs := strings.Repeat("* A heading\nwith a line of prose below it, as people write\n", 5<<20/60)
	put(t, s.Home, "MEMORY.org", theirs)
	begun := time.Now()
	r, saved, err := s.Save(t.Context(), "t-1", memory.Record{Text: "The samovar hums."}, true)
	if err != nil || !strings.HasPrefix(written(t, s, "MEMORY.org"), theirs+"* The samovar hums.\n") {
		t.Fatalf("%v", err)
	}
	x, _, _ := newIndex(t)
	x.Roots = []memory.Root{{Path: s.Home, Memory: true}}
	refreshed(t, x, 1)
	if got := places(t, x, "samovar"); !strings.HasSuffix(got, " The samovar hums.") {
		t.Errorf("found %q", got)
	}
	if _, err := s.Update(t.Context(), "t-1", memory.Record{ID: r.ID, Text: "It leaks."}); err != nil {
		t.Error(err)
	}
	if _, err := s.Undo(t.Context(), saved.ID); err == nil {
		t.Error("undone out of order")
	}
	if _, err := s.Forget(t.Context(), "t-1", r.ID); err != nil || written(t, s, "MEMORY.org") != theirs {
		t.Errorf("forgotten: %v", err)
	}
	t.Logf("all of it took %v", time.Since(begun))
}
