package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

// kept answers questions in a conversation that a client keeps, which says that it saved each answer. It returns
// the client.
func kept(t *testing.T, h *fixture, save func(text string)) *client {
	t.Helper()
	c := &client{id: "c1", emacs: true, saved: true}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main"}); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, id := range []string{"q1", "q2"} {
		if _, err := h.Submit(t.Context(), message(id, "Why?")); err != nil {
			t.Fatal(err)
		}
		text += "* Why? :user:\n:PROPERTIES:\n:ID:       " + id + "\n:END:\n" + strings.Repeat("because it is so\n", 60)
		save(text + "* ")
	}
	until(t, "the turns", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
	return c
}

// TestLostPowerRemovesNothing: what a loss of power leaves of a file that was being saved is not taken for
// what a person removed: a client is sent all that it lacks. What a person removed is not sent again.
func TestLostPowerRemovesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		left  func(whole string) string
		again bool
	}{
		"nothing":                  {func(string) string { return "" }, true},
		"zeros":                    {func(whole string) string { return strings.Repeat("\x00", len(whole)) }, true},
		"its first sector":         {func(whole string) string { return whole[:512] }, true},
		"zeros behind its sectors": {func(whole string) string { return whole[:1024] + strings.Repeat("\x00", len(whole)-1024) }, true},
		"removed by a person":      {func(whole string) string { return whole[:strings.LastIndex(whole, "* Why?")] + "* " }, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, t.TempDir(), echo)
			defer h.close(t)
			path := filepath.Join(h.directory, "sessions", "main.org")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			whole := ""
			c := kept(t, h, func(text string) {
				whole = text
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			until(t, "the marks", func() bool {
				saved, err := h.journal.Turns.QuestionSaved(t.Context(), "q2")
				return err == nil && saved
			})
			h.Detach(c)
			if err := os.WriteFile(path, []byte(test.left(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			late := &client{id: "late", emacs: true}
			if _, err := h.Attach(t.Context(), late, protocol.SessionLoadParams{Session: "main"}); err != nil {
				t.Fatal(err)
			}
			sent := false
			each(late, func(p protocol.StoredTurn) { sent = sent || p.Event == "q2" && p.Question != "" })
			if sent != test.again {
				t.Errorf("the question is sent again: %v", sent)
			}
		})
	}
}

// TestSavedIsFlushed: that a client saved a file is believed when the file is on the disk.
func TestSavedIsFlushed(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	path := filepath.Join(h.directory, "sessions", "main.org")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("main.org", path); err != nil { // a file that nobody can flush
		t.Fatal(err)
	}
	kept(t, h, func(string) {})
	h.Sessions.Close() // it waits for the receipts
	if saved, err := h.journal.Turns.QuestionSaved(t.Context(), "q1"); err != nil || saved {
		t.Errorf("it counts as saved: %v, %v", saved, err)
	}
}
