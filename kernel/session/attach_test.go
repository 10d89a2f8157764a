package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// hookedClient runs a function at the first turn that the kernel replays to it.
type hookedClient struct {
	*client
	once sync.Once
	hook func()
}

func (c *hookedClient) Notify(method string, params any) {
	c.client.Notify(method, params)
	if method == protocol.MethodTurnKept {
		c.once.Do(c.hook)
	}
}

// TestAttachWhileTheKernelWritesTheFile: an act that the kernel writes to the conversation's file while
// a client attaches reaches the client. The kernel delivered the act just before, so replay is the only
// way. Replay reads which ids the file has, and then the pages of turns; a turn that is marked as saved
// between the two was not removed by a person.
func TestAttachWhileTheKernelWritesTheFile(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	const turns = 202 // more than a page without the first, which is in the file
	now := time.Now()
	fork := journal.Fork{Session: "main", Parent: "parent"}
	for i := range turns {
		id, saved := fmt.Sprintf("q%d", i), i == 0
		turn := journal.Turn{
			ID: "turn-" + id, Event: id, Level: 1, State: protocol.TurnAnswered, Saved: saved, Question: message(id, "Why?"),
			Accepted: now, Started: now, Finished: now,
		}
		act := journal.Act{
			ID: "answer-" + id, Kind: journal.ActAnswer, Text: "** Because\n:PROPERTIES:\n:ID:       answer-" + id + "\n:END:\n",
			Saved: saved, Final: true, Time: now,
		}
		fork.Copies = append(fork.Copies, journal.Copy{Turn: turn, Acts: []journal.Act{act}})
	}
	if err := h.journal.Sessions.Fork(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.directory, "sessions", "main.org")
	write := func(id string) {
		text := h.file(t, "main") + "* Why?\n:PROPERTIES:\n:ID: " + id + "\n:END:\n** Because\n:PROPERTIES:\n:ID: answer-" + id + "\n:END:\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write("q0")
	last := fmt.Sprintf("q%d", turns-1)
	c := &hookedClient{client: &client{id: "c1", emacs: true}, hook: func() {
		write(last)
		if err := h.journal.Turns.MarkQuestionSaved(t.Context(), last); err != nil {
			t.Error(err)
		}
		if err := h.journal.Acts.MarkSaved(t.Context(), "answer-"+last); err != nil {
			t.Error(err)
		}
	}}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main"}); err != nil {
		t.Fatal(err)
	}
	var question, answer bool
	each(c.client, func(p protocol.StoredTurn) {
		question = question || p.Event == last && p.Question != ""
		answer = answer || p.ID == "answer-"+last && p.Answer != ""
	})
	if !question || !answer {
		t.Errorf("the client receives the question: %v, the answer: %v", question, answer)
	}
}

// TestAttachByAFormerName: a client that missed a renaming learns the new name before the turns that
// it lacks, because it takes notifications for a session that it does not show for another's.
func TestAttachByAFormerName(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	for _, id := range []string{"q1", "q2"} {
		if _, err := h.Submit(t.Context(), message(id, "Why?")); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the turns", func() bool { open, _, _ := h.Counts(); return open == 0 })
	if _, err := h.Rename(t.Context(), protocol.SessionRenameParams{Session: "main", To: "birds"}); err != nil {
		t.Fatal(err)
	}
	c := &client{id: "late"}
	// The buffer has the first question and nothing else.
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main", IDs: []string{"q1"}}); err != nil {
		t.Fatal(err)
	}
	shows, received := "main", 0
	for _, n := range c.told {
		switch p := n.params.(type) {
		case protocol.SessionRenamed:
			if p.Session == shows {
				shows = p.To
			}
		case protocol.StoredTurn:
			if p.Session != shows {
				t.Errorf("turn %s of %q comes while the client shows %q", p.Turn, p.Session, shows)
			}
			received++
		}
	}
	if received == 0 {
		t.Error("no turn comes")
	}
}
