package tool_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// TestSearchWhileNotesAreRead: where the notes are still being read, no model is told that there is nothing.
func TestSearchWhileNotesAreRead(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "MEMORY.org"), []byte("* Tea\nThe samovar hums.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, _, err := journal.OpenFiles(t.Context(), filepath.Join(home, "files.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	x := &memory.Index{Files: files, Logger: slog.New(slog.DiscardHandler), Roots: memory.HomeRoots(home)}
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{true, false} {
		r, err := tool.BuiltIn(tool.Deps{
			Skills: func() *skillmd.Set { return &skillmd.Set{} },
			Memory: tool.Memory{Store: &memory.Store{Home: home}, Index: x, Await: func(context.Context) bool { return whole }},
		})
		if err != nil {
			t.Fatal(err)
		}
		for query, found := range map[string]bool{"samovar": true, "kettle": false} {
			text, _, err := r.For(&tool.Caller{Conversation: tool.Conversation{Session: "main", Alone: true}}).Call(t.Context(), "memory_search", argumentsOf(t, `{"query":"`+query+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text, "1 found") != found || strings.Contains(text, "notes are being read") == whole || strings.Contains(text, "Nothing that is kept") != (whole && !found) {
				t.Errorf("whole %v, %s: %s", whole, query, text)
			}
		}
	}
}
