package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Limits of what a conversation shows of the text of an approval. The list of approvals and the
// command line show all of it.
const (
	askLines = 100
	askBytes = 8 << 10
)

// waitingSubtree is an ask that waits, below a question of that level.
func waitingSubtree(level int, a protocol.Ask) string {
	if a.Sort == protocol.AskQuestion {
		return questionForm(level, a)
	}
	return approvalSubtree(level, a)
}

// closedSubtree is what becomes of it when it is closed.
func closedSubtree(level int, a protocol.Ask) string {
	if a.Sort == protocol.AskQuestion {
		return questionClosed(level, a)
	}
	return approvalClosed(level, a)
}

// approvalSubtree is an approval below a question of that level.
func approvalSubtree(level int, a protocol.Ask) string {
	var b strings.Builder
	b.WriteString(askHeading(level, "TODO Approve", summaryOf(a)))
	fmt.Fprintf(&b, "It asks because %s. What it will do:\n", verbatimPath(strings.TrimSuffix(a.Reason, ".")))
	for _, effect := range a.Effects {
		fmt.Fprintf(&b, "- %s\n", verbatimPath(effect))
	}
	text, cut := excerpt(a.Text)
	if text != "" {
		language := "text"
		if a.Language == "diff" {
			language = "diff"
		}
		fence := fenceFor(text)
		fmt.Fprintf(&b, "\n%s%s\n%s\n%s\n", fence, language, strings.TrimSuffix(text, "\n"), fence)
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\nCut here: %d more bytes follow. =M-x org-agent-approval-view= shows all, and so does =org-agent approve %s=.\n", cut, a.ID)
	}
	scopes := "/o/ once, /t/ for this turn, /s/ for this session, /A/ always, "
	if a.Once {
		scopes = "/o/ once, "
	}
	// The client knows the last line as the one on which single letters are keys.
	fmt.Fprintf(&b, "\n/C-c C-c/ allows it once, /C-c C-k/ refuses it.\nOn this line: %s/d/ refuse, /e/ edit, /v/ look.\n", scopes)
	return askSubtree(level, a.ID, "approval", b.String())
}

// verbatimPath marks the path that a line ends in: Org reads emphasis between slashes.
func verbatimPath(line string) string {
	before, path, ok := strings.Cut(line, " /")
	if !ok || strings.ContainsAny(path, "=\n,;") {
		return line
	}
	return before + " =/" + path + "="
}

// approvalClosed is the closed subtree: a heading with the decision, and below it by whom, when
// and why it was made.
func approvalClosed(level int, a protocol.Ask) string {
	words := "DONE Approved " + scope(a)
	switch a.Decision {
	case "":
		words = "CANCELLED Not decided"
	case protocol.Deny:
		words = "CANCELLED Refused"
	}
	return askSubtree(level, a.ID, "approval", askHeading(level, words, summaryOf(a))+
		closing(a.Decision != "", a.Client, a.ClosedAt(), a.Comment))
}

// closing is the line below a closed heading: who closed it, or that its turn ended, when,
// and the reason, if one was given.
func closing(decided bool, client string, at time.Time, reason string) string {
	who := "Its turn ended"
	if decided {
		who = by(client)
	}
	if reason = strings.Join(strings.Fields(reason), " "); reason == "" {
		return fmt.Sprintf("%s, %s.\n", who, stamp(at))
	}
	return fmt.Sprintf("%s, %s: %s\n", who, stamp(at), text.Prefix(reason, 500))
}

// headingWidth is the column in which Org puts the last character of a tag.
const headingWidth = 77

// askHeading is the heading of an ask below a question of that level. With its tag it ends in the
// column in which Org's headings end. A subject that is cut there is repeated whole below.
func askHeading(level int, words, subject string) string {
	room := headingWidth - len(" :agent:") - (level + len("* ")) - len(words) - len(": ")
	short := org.Shorten(subject, room)
	heading := fmt.Sprintf("* %s: %s\n", words, short)
	if short != subject {
		heading += "In full: " + subject + "\n"
	}
	return heading
}

func summaryOf(a protocol.Ask) string {
	if a.Summary == "" { // an approval of an earlier version
		return text.Prefix(strings.Join(strings.Fields(a.Action), " "), 72)
	}
	return a.Summary
}

func scope(a protocol.Ask) string {
	words := map[protocol.Decision]string{
		protocol.AllowOnce: "once", protocol.AllowTurn: "for the turn", protocol.AllowSession: "for the session", protocol.AllowAlways: "always",
	}
	if a.Edited != "" {
		return "once, edited"
	}
	return words[a.Decision]
}

// by says who decided: the person, and where they did.
func by(client string) string {
	switch protocol.Channel(client) {
	case protocol.ChannelCLI:
		return "You, in a shell"
	case protocol.ChannelEmacs:
		return "You, in Emacs"
	}
	return "You"
}

// stamp is a time as Org's inactive timestamps have it.
func stamp(t time.Time) string { return t.Local().Format("[2006-01-02 Mon 15:04]") }

// askSubtree makes a subtree of a text with a heading; its property ASKS names the kind of ask.
func askSubtree(level int, id, asks, text string) string {
	converter := org.NewConverter(org.Options{
		QuestionLevel: level, Answer: true, Dialect: org.OrgWithMarkdown,
		Properties: []org.Property{{Key: "ID", Value: id}, {Key: "ASKS", Value: asks}},
	})
	return converter.Write(text) + converter.Close()
}

// excerpt is the beginning of a text, in whole lines if possible, and the number of bytes left
// out.
func excerpt(source string) (kept string, cut int) {
	kept = text.Prefix(source, askBytes)
	if lines := slices.Collect(strings.Lines(kept)); len(lines) > askLines {
		kept = strings.Join(lines[:askLines], "")
	}
	if end := strings.LastIndexByte(kept, '\n'); len(kept) < len(source) && end > 0 {
		kept = kept[:end+1]
	}
	return kept, len(source) - len(kept)
}

// fenceFor is a fence that no line of the text can close.
func fenceFor(text string) string {
	longest, run := 0, 0
	for _, c := range text {
		if c == '`' {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}
