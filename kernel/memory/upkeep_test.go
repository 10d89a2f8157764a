package memory_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
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

// within waits until a condition holds.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute: " + what)
		}
	}
}

// TestUpkeepOfOtherDirectories checks that directories of notes that are added are found and watched, that
// those that are removed are not found from that moment on and leave the index, and that vectors are made
// by the server that is set.
func TestUpkeepOfOtherDirectories(t *testing.T) {
	x, home, notes := newIndex(t)
	more := t.TempDir()
	var mu sync.Mutex
	var directories []string
	set := func(paths ...string) {
		mu.Lock()
		defer mu.Unlock()
		directories = paths
	}
	x.Notes = func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(directories)
	}
	put(t, notes, "tea.org", "* Tea\nThe samovar hums.\n")
	put(t, more, "car.org", "* The automobile\nIt stands in Oslo.\n")
	u := memory.NewUpkeep(x, home, func(text string) string { return text }, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { u.Run(ctx); close(done) }()
	defer func() { stop(); <-done }()
	within(t, "the index is whole", func() bool { return u.Await(t.Context()) })
	set(more)
	u.Reload()
	within(t, "a directory that was added is indexed", func() bool { return u.Await(t.Context()) })
	if got := places(t, x, "Oslo"); got != "car.org:1 The automobile" {
		t.Errorf("in a directory that was added found is %q", got)
	}
	put(t, more, "deep/later.org", "* Later\nA kettle.\n")
	within(t, "it is watched", func() bool { return places(t, x, "kettle") != "" })
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Alike: [][]string{{"car", "automobile"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	u.SetMeaning(meaningOf(t, server, "vectors"))
	found := func(text string) string {
		return titles(x.SearchAlike(t.Context(), memory.Query{Text: text, Any: true, Scopes: []string{""}, Limit: 8}, text))
	}
	within(t, "what it means is known", func() bool { return found("car") == "The automobile" })
	u.SetMeaning(nil)
	if got := found("car"); got != "" {
		t.Errorf("without a server found is %q", got)
	}
	set()
	if got := places(t, x, "Oslo"); got != "" {
		t.Errorf("of a directory that was removed found is %q", got)
	}
	u.Reload()
	within(t, "it leaves the index", func() bool {
		known, err := x.Files.Documents(t.Context())
		_, there := known[filepath.Join(more, "car.org")]
		return err == nil && !there
	})
	if got := places(t, x, "samovar"); got != "tea.org:1 Tea" {
		t.Errorf("of what stayed found is %q", got)
	}
}
