package session

import (
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Every heading of what is asked ends where Org's do, and all of it is to be read.
func TestAskHeadings(t *testing.T) {
	summary := "Change ~/" + strings.Repeat("notes/", 10) + "end"
	title := "印刷" + strings.Repeat("する", 40)
	at := time.Date(2026, 11, 22, 13, 41, 0, 0, time.Local)
	approval := protocol.Approval{ID: "a", Summary: summary, Reason: "it does"}
	question := journal.Question{Question: protocol.Question{ID: "q", Form: protocol.QuestionForm{Title: title}}, Closed: at}
	for _, subtree := range []string{
		approvalSubtree(1, approval),
		approvalSubtree(7, approval),
		approvalClosed(1, journal.Approval{Approval: approval, Decision: protocol.Deny, Client: "emacs", Closed: at, Comment: "no\nway"}),
		approvalClosed(1, journal.Approval{Approval: approval, Decision: protocol.AllowSession, Client: "cli", Closed: at}),
		approvalClosed(1, journal.Approval{Approval: approval, Closed: at}),
		questionForm(1, question.Question),
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
		if !strings.Contains(rest, "\nIn full: "+summary+"\n") && !strings.Contains(rest, "\nIn full: "+title+"\n") {
			t.Errorf("what is asked is not whole in\n%s", subtree)
		}
	}
	refused := approvalClosed(1, journal.Approval{Approval: protocol.Approval{ID: "a", Summary: "Do it"}, Decision: protocol.Deny, Client: "emacs", Closed: at, Comment: "no\nway"})
	if !strings.HasPrefix(refused, "** CANCELLED Refused: Do it ") || !strings.HasSuffix(refused, "\nYou, in Emacs, [2026-11-22 Sun 13:41]: no way\n") {
		t.Errorf("it is closed as\n%s", refused)
	}
}
