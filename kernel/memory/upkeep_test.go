package memory_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"org-agent/kernel/memory"
)

// TestUpkeep checks that the index follows the files, and that no goroutine of the upkeep runs when
// Run has returned.
func TestUpkeep(t *testing.T) {
	x, home, notes := newIndex(t)
	put(t, notes, "tea.org", "* Tea\nThe samovar hums.\n")
	u := memory.NewUpkeep(x, home, func(text string) string { return text }, slog.New(slog.DiscardHandler))
	waited, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if u.Await(waited) {
		t.Error("the index is whole before anybody made it")
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { u.Run(ctx); close(done) }()
	defer func() { stop(); <-done }()
	for end := time.Now().Add(10 * time.Second); !u.Await(t.Context()); {
		if time.Now().After(end) {
			t.Fatal("the index is not whole")
		}
	}
	if got := places(t, x, "samovar"); got != "tea.org:1 Tea" {
		t.Errorf("found is %q", got)
	}
	put(t, notes, "more.org", "* More\nof a kettle\n")
	for end := time.Now().Add(10 * time.Second); places(t, x, "kettle") == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what was written is not found")
		}
	}
}
