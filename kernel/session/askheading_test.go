package session

import (
	"strings"
	"testing"
	"time"

	"org-agent/kernel/protocol"
)

// Every heading of what is asked ends where Org's do, and all of it is to be read.
func TestAskHeadings(t *testing.T) {
	summary := "Change ~/" + strings.Repeat("notes/", 10) + "end"
	title := "印刷" + strings.Repeat("する", 40)
	at := time.Date(2026, 11, 22, 13, 41, 0, 0, time.Local)
	approval := protocol.Ask{ID: "a", PendingAction: protocol.PendingAction{Summary: summary, Reason: "it does"}}
	question := closed(protocol.Ask{ID: "q", Form: &protocol.QuestionForm{Title: title}}, at, protocol.AskOutcome{})
	for _, subtree := range []string{
		approvalSubtree(1, approval),
		approvalSubtree(7, approval),
		approvalClosed(1, closed(approval, at, protocol.AskOutcome{Decision: protocol.Deny, Client: "emacs", Comment: "no\nway"}), false),
		approvalClosed(1, closed(approval, at, protocol.AskOutcome{Decision: protocol.AllowSession, Client: "cli"}), false),
		approvalClosed(1, closed(approval, at, protocol.AskOutcome{}), false),
		questionForm(1, question),
		questionClosed(1, question),
	} {
		heading, rest, _ := strings.Cut(subtree, "\n")
		columns := 0
		for _, r := range heading {
			if columns++; r > 0x2e80 {
				columns++
			}
		}
		if columns > 77 || !strings.HasSuffix(heading, " :agent:") || !strings.Contains(heading, "…") {
			t.Errorf("%d columns: %s", columns, heading)
		}
		if !strings.Contains(rest, "\nIn full: "+summary+"\n") && !strings.Contains(rest, "\nIn full: "+lowerFirst(summary)+"\n") && !strings.Contains(rest, "\nIn full: "+title+"\n") {
			t.Errorf("what is asked is not whole in\n%s", subtree)
		}
	}
	command := protocol.Ask{ID: "a", PendingAction: protocol.PendingAction{Summary: "Run echo 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 …", Text: "echo {1..99}"}}
	if subtree := approvalSubtree(1, command); !strings.HasPrefix(subtree, "** TODO May I run echo 1 2 3 ") || strings.Contains(subtree, "In full") {
		t.Errorf("what stands whole in the text is repeated, cut, in\n%s", subtree)
	}
	refused := approvalClosed(1, closed(protocol.Ask{ID: "a", PendingAction: protocol.PendingAction{Summary: "Do it"}}, at, protocol.AskOutcome{Decision: protocol.Deny, Client: "emacs", Comment: "no\nway"}), false)
	if !strings.HasPrefix(refused, "** CANCELLED Refused: Do it ") || !strings.HasSuffix(refused, "\nYou, in Emacs, [2026-11-22 Sun 13:41]: no way\n") {
		t.Errorf("it is closed as\n%s", refused)
	}
}
