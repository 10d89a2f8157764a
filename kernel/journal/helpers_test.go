package journal

import (
	"path/filepath"
	"testing"

	"org-agent/kernel/protocol"
)

// Tests inside and outside the package begin with these.

// Fresh opens a new journal that is closed when the test ends.
func Fresh(t testing.TB) *Journal {
	t.Helper()
	return Reopen(t, filepath.Join(t.TempDir(), "journal.db"))
}

// Reopen opens the journal at path, which is closed when the test ends.
func Reopen(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// Message is a chat message with the id.
func Message(id, session, text string) protocol.Event {
	return protocol.Event{ID: id, Session: session, Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Text: text, Level: 1}
}

// Accepted takes a message and returns its turn, "turn-" and the id.
func Accepted(t testing.TB, j *Journal, id, session, text string) Turn {
	t.Helper()
	turn, fresh, err := j.Turns.Accept(t.Context(), Message(id, session, text), "turn-"+id)
	if err != nil || !fresh {
		t.Fatalf("accept %s: fresh %v, %v", id, fresh, err)
	}
	return turn
}

// Must fails the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
