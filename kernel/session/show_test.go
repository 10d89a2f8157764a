package session_test

import (
	"context"
	"strings"
	"testing"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// TestDeliveriesStandBeforeTheAnswer checks that what a tool puts into a conversation stands before the answer, also before
// the notice of a turn that failed; that a client that comes later gets the same bytes in the same order, and the file has
// them; that a client that shows plain text gets the answer alone; and that nothing can be put there when the turn is over.
func TestDeliveriesStandBeforeTheAnswer(t *testing.T) {
	for name, fails := range map[string]bool{"answered": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			var h *fixture
			var turn string
			h = open(t, t.TempDir(), func(ctx context.Context, turning *session.Turn) session.Outcome {
				turn = turning.Record.ID
				for _, d := range []session.Delivery{
					{ID: "d1", Text: "Here they are: [[elisp:(f)][x]]", Files: []string{"/home/ada/report.pdf", "/home/ada/plot.png"}},
					{ID: "d2", Files: []string{"/home/ada/[x].txt"}},
				} {
					if err := d.Show(ctx, h.Sessions, "main", turning.Record.ID); err != nil {
						t.Error(err)
					}
				}
				if fails {
					return session.Outcome{State: protocol.TurnFailed, Notice: "the model is gone"}
				}
				return echo(ctx, turning)
			})
			defer h.close(t)
			live, plain := &client{id: "emacs"}, &client{id: "cli"}
			h.attach(t, live, protocol.SessionLoadParams{})
			h.attach(t, plain, protocol.SessionLoadParams{View: protocol.ViewPlain})
			if _, err := h.Submit(t.Context(), message("q1", "hello")); err != nil {
				t.Fatal(err)
			}
			until(t, "the end", func() bool { return count[protocol.TurnFinished](live) == 1 && len(live.actTexts()) == 3 })
			texts := live.actTexts()
			if want := "** Here they are: "; !strings.HasPrefix(texts[0], want) || !strings.HasSuffix(texts[0], "\n\n[[file:/home/ada/report.pdf][report.pdf]]\n[[file:/home/ada/plot.png]]\n") {
				t.Errorf("the first delivery is\n%s", texts[0])
			}
			if !strings.Contains(texts[1], ":SENT:     t\n") || !strings.HasSuffix(texts[1], ":END:\n: /home/ada/[x].txt\n") {
				t.Errorf("the second delivery is\n%s", texts[1])
			}
			for _, text := range texts {
				if ok, why := org.IsInert(text); !ok {
					t.Errorf("%s in\n%s", why, text)
				}
			}
			want := 1
			if fails {
				want = 0
			}
			if got := plain.actTexts(); len(got) != want || want == 1 && got[0] != "Answer to hello" && !strings.Contains(got[0], "Answer to hello") {
				t.Errorf("the plain client has %q", got)
			}
			later := &client{id: "later"}
			h.attach(t, later, protocol.SessionLoadParams{})
			var kept []string
			each(later, func(p protocol.StoredTurn) { kept = append(kept, p.Answer) })
			if strings.Join(kept, "") != strings.Join(texts, "") {
				t.Errorf("later it is\n%s\nand not\n%s", strings.Join(kept, ""), strings.Join(texts, ""))
			}
			if file := h.file(t, "main"); !strings.HasSuffix(file, strings.Join(texts, "")) {
				t.Errorf("the file is\n%s", file)
			}
			if err := (session.Delivery{ID: "d3", Text: "too late"}).Show(t.Context(), h.Sessions, "main", turn); err == nil {
				t.Error("something was put into a turn that is over")
			}
		})
	}
}
