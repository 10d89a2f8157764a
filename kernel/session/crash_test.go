package session_test

import (
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// The kernel died between keeping what ends a turn and keeping the end: what was
// kept stands once, and the turn is what it says.
func TestCrashBetweenTheAnswerAndItsEnd(t *testing.T) {
	for kind, want := range map[string]protocol.TurnState{
		journal.ActAnswer: protocol.TurnAnswered, journal.ActNotice: protocol.TurnInterrupted,
	} {
		h := open(t, t.TempDir(), echo)
		accepted, _, err := h.journal.Turns.Accept(t.Context(), message("q1", "hello"), "t1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.journal.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "t1", State: protocol.TurnRunning}); err != nil {
			t.Fatal(err)
		}
		err = h.journal.Acts.PutAct(t.Context(), journal.Act{
			ID: "a1", Session: accepted.Session, Turn: "t1", Event: "q1", Kind: kind, Final: true,
			Text: "** Kept\n:PROPERTIES:\n:ID:       a1\n:END:\n",
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
		turn, err := h.journal.Turns.Turn(t.Context(), "t1")
		if err != nil || turn.State != want {
			t.Errorf("%s: the turn is %s, %v", kind, turn.State, err)
		}
		if text := h.file(t, "main"); strings.Count(text, "\n** ") != 1 || !strings.Contains(text, "** Kept") {
			t.Errorf("%s: the file is\n%s", kind, text)
		}
		if open, _, _ := h.Counts(); open != 0 {
			t.Errorf("%d sessions are open that nobody uses", open)
		}
		h.close(t)
	}
}

// A client that keeps the file may be back before the turn that broke off has ended. It inserts what
// says so, and writes the file itself: if the kernel did so as well, each would find the other's changes.
func TestCrashOfATurnWhoseFileIsKept(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	if _, _, err := h.journal.Turns.Accept(t.Context(), message("q1", "hello"), "t1"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.journal.Turns.SetTurn(t.Context(), journal.TurnChange{ID: "t1", State: protocol.TurnRunning}); err != nil {
		t.Fatal(err)
	}
	c := &client{id: "emacs", emacs: true}
	if result := h.attach(t, c, protocol.SessionLoadParams{Session: "main"}); !result.Keeper {
		t.Fatal("the client does not keep the file")
	}
	if err := h.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
	if texts := c.actTexts(); len(texts) != 1 || !strings.Contains(texts[0], ":STATE:    interrupted") {
		t.Errorf("the client got %q", texts)
	}
	if text := h.file(t, "main"); text != "" {
		t.Errorf("the kernel wrote the file of the client:\n%s", text)
	}
	h.Detach(c)
	if text := h.file(t, "main"); strings.Count(text, ":STATE:    interrupted") != 1 {
		t.Errorf("the file is\n%s", text)
	}
	h.close(t)
}
