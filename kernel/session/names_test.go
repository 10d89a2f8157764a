package session_test

import (
	"context"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// TestNamesAreOfOneAnswer: the labels of footnotes are unique in the file, and a name that the file has
// already is held, also while the answer is written.
func TestNamesAreOfOneAnswer(t *testing.T) {
	const answer = "A claim[^1].\n\n#+NAME: data\n| 1 |\n\n[^1]: Its source.\n"
	h := open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		turn.Preview(answer[:20])
		if err := turn.Insert(ctx, "(:type :response)", answer); err != nil {
			return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
		}
		return session.Outcome{State: protocol.TurnAnswered}
	})
	defer h.close(t)
	c := &client{id: "c1"}
	h.attach(t, c, protocol.SessionLoadParams{})
	for i, id := range []string{"q1", "q2", "q3"} {
		if _, err := h.Submit(t.Context(), message(id, "Why?")); err != nil {
			t.Fatal(err)
		}
		until(t, "the answer", func() bool {
			return count[protocol.TurnFinished](c) == i+1 && strings.Count(h.file(t, "main"), "claim") == i+1
		})
	}
	text := h.file(t, "main")
	for _, want := range []string{"claim[fn:1].", "claim[fn:1-2].", "claim[fn:1-3].", "\n[fn:1] Its", "\n[fn:1-2] Its", "\n[fn:1-3] Its"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is there %d times in\n%s", want, strings.Count(text, want), text)
		}
	}
	if n := strings.Count(text, "\n#+NAME: data"); n != 1 || strings.Count(text, "\n#\u200b+NAME: data") != 2 {
		t.Errorf("the name is live %d times in\n%s", n, text)
	}
}
