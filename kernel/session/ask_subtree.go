package session

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// waitingSubtree returns the subtree of a waiting ask, below a question of that level. Here and below, tags are held besides
// those that always are, see [org.Options].
func waitingSubtree(level int, a protocol.Ask, tags ...string) string {
	if a.Sort == protocol.AskQuestion {
		return questionForm(level, a, tags...)
	}
	return approvalSubtree(level, a, tags...)
}

// closedSubtree returns the subtree of a closed ask, below a question of that level. Undone: a person
// undid what it allowed.
func closedSubtree(level int, a protocol.Ask, undone bool, tags ...string) string {
	if a.Sort == protocol.AskQuestion {
		return questionClosed(level, a, tags...)
	}
	return approvalClosed(level, a, undone, tags...)
}

// approvalSubtree returns the subtree of an approval below a question of that level. It reads like a
// short letter: the request of the agent, its effects, the reason for asking, the change itself, and
// the choices.
func approvalSubtree(level int, a protocol.Ask, tags ...string) string {
	var b strings.Builder
	b.WriteString(askHeading(level, "TODO May I ", lowerFirst(summaryOf(a)), "?", a.Text != ""))
	text, cut := excerpt(a.Text)
	if cut > 0 {
		fmt.Fprintf(&b, "- %s of what you would allow are not shown here: =v= below shows all\n", unshown(a, cut))
	}
	for _, effect := range a.Effects {
		fmt.Fprintf(&b, "- %s\n", verbatimPath(effect))
	}
	if reason := askReason(a); reason != "" {
		fmt.Fprintf(&b, "- you are asked because %s\n", verbatimPath(reason))
	}
	if text != "" {
		language := "text"
		if a.Language == "diff" {
			language = "diff"
		}
		fence := fenceFor(text)
		fmt.Fprintf(&b, "\n%s%s\n%s\n%s\n", fence, language, strings.TrimSuffix(text, "\n"), fence)
	}
	if cut > 0 {
		fmt.Fprintf(&b, "\nCut here: %s are not shown. =v= below shows all, and so does =org-agent approve %s=.\n", unshown(a, cut), a.ID)
	}
	// The client knows the last line as the one on which single letters are keys. It has at most 80 columns.
	choices := "=v= look closely    =m= more choices"
	if a.Reading != nil {
		b.WriteString(readingOffer(*a.Reading))
		choices = "=r= reading here    =v= look closely    =m= more"
	}
	fmt.Fprintf(&b, "\n=C-c C-c= yes, once    =C-c C-k= no    %s\n", choices)
	return askSubtree(level, a.ID, "approval", b.String(), tags...)
}

// readingOffer lists the read-only set of a project, and how a person accepts it.
func readingOffer(offer protocol.ReadingOffer) string {
	var b strings.Builder
	b.WriteString("\n=r= below also allows reading in this project, with these rules in =policy.org=:\n\n```text\n")
	for _, row := range offer.Rows {
		fmt.Fprintf(&b, "%s | %s\n", row.Rule, row.Matches)
	}
	b.WriteString("```\n")
	return b.String()
}

// lowerFirst returns a summary, which begins with a verb, in the form for the text behind "May I".
func lowerFirst(summary string) string {
	first, size := utf8.DecodeRuneInString(summary)
	return string(unicode.ToLower(first)) + summary[size:]
}

// askReason returns why the person is asked. If the reason only repeats an effect of the action, no
// rule covers the action.
func askReason(a protocol.Ask) string {
	reason := strings.TrimSuffix(a.Reason, ".")
	if slices.ContainsFunc(a.Effects, func(effect string) bool { return strings.HasPrefix(effect, reason) }) {
		return "no rule of yours allows it"
	}
	return reason
}

// verbatimPath marks the path that a line ends in: Org reads emphasis between slashes, and code
// between tildes.
func verbatimPath(line string) string {
	at := pathBegins.FindStringIndex(line)
	if at == nil || strings.ContainsAny(line[at[0]:], "=\n,;") {
		return line
	}
	return line[:at[0]+1] + "=" + line[at[0]+1:] + "="
}

// pathBegins matches the blank before the first path of a line and how the path begins.
var pathBegins = regexp.MustCompile(` ~?/`)

// approvalClosed is the closed subtree: a heading with the decision, and whether a person undid what
// it allowed, and below it by whom, when and why it was made.
func approvalClosed(level int, a protocol.Ask, undone bool, tags ...string) string {
	words := "DONE Approved " + decisionScope(a)
	if undone {
		words += ", undone"
	}
	switch a.Decision {
	case "":
		words = "CANCELLED Not decided"
	case protocol.Deny:
		words = "CANCELLED Refused"
	}
	return askSubtree(level, a.ID, "approval", askHeading(level, words+": ", summaryOf(a), "", false)+
		closedLine(a.Decision != "", a.Client, a.ClosedAt(), a.Comment), tags...)
}

// closedLine returns the line below a closed heading: who closed the ask, or that its turn ended, the
// time, and the reason if there is one.
func closedLine(decided bool, client string, at time.Time, reason string) string {
	who := "Its turn ended"
	if decided {
		who = decidedBy(client)
	}
	if reason = text.Line(reason); reason == "" {
		return fmt.Sprintf("%s, %s.\n", who, stamp(at))
	}
	return fmt.Sprintf("%s, %s: %s\n", who, stamp(at), text.Prefix(reason, 500))
}

// headingWidth is the column in which Org puts the last character of a tag.
const headingWidth = 77

// askHeading is the heading of an ask below a question of that level: a subject between two other
// texts. With its tag it ends in the column in which Org's headings end. A subject that is cut there
// is repeated below, unless what follows shows it.
func askHeading(level int, before, subject, behind string, shown bool) string {
	room := headingWidth - len(" :agent:") - (level + len("* ")) - len(before) - len(behind)
	short := org.Shorten(subject, room)
	heading := fmt.Sprintf("* %s%s%s\n", before, short, behind)
	if short != subject && !shown {
		heading += "In full: " + subject + "\n"
	}
	return heading
}

func summaryOf(a protocol.Ask) string {
	if a.Summary == "" { // an approval of an earlier version
		return text.Prefix(text.Line(a.Action), 72)
	}
	return a.Summary
}

func decisionScope(a protocol.Ask) string {
	words := map[protocol.Decision]string{
		protocol.AllowOnce: "once", protocol.AllowTurn: "for the turn", protocol.AllowSession: "for the session", protocol.AllowAlways: "always", protocol.AllowReading: "with reading in the project",
	}
	if a.Edited != "" {
		return "once, edited"
	}
	return words[a.Decision]
}

// decidedBy returns who decided: the person, with the program that they used.
func decidedBy(client string) string {
	switch protocol.Channel(client) {
	case protocol.ChannelCLI:
		return "You, in a shell"
	case protocol.ChannelEmacs:
		return "You, in Emacs"
	case "":
		return "You"
	}
	return "You, on " + client
}

// stamp formats a time as an inactive timestamp of Org.
func stamp(t time.Time) string { return t.Local().Format("[2006-01-02 Mon 15:04]") }

// askSubtree makes a subtree of a text with a heading; its property ASKS names the kind of ask.
func askSubtree(level int, id, asks, text string, tags ...string) string {
	converter := org.NewConverter(org.Options{
		QuestionLevel: level, Answer: true, Dialect: org.OrgWithMarkdown, Tags: tags,
		Properties: []org.Property{{Key: "ID", Value: id}, {Key: "ASKS", Value: asks}},
	})
	return converter.Write(text) + converter.Close()
}

// excerpt returns the beginning of a text, in whole lines if possible, and the number of omitted
// bytes.
func excerpt(source string) (kept string, cut int) {
	kept = text.Prefix(source, protocol.AskBytes)
	if lines := slices.Collect(strings.Lines(kept)); len(lines) > protocol.AskLines {
		kept = strings.Join(lines[:protocol.AskLines], "")
	}
	if end := strings.LastIndexByte(kept, '\n'); len(kept) < len(source) && end > 0 {
		kept = kept[:end+1]
	}
	return kept, len(source) - len(kept)
}

// unshown says how much of the text of an approval is left out at its end.
func unshown(a protocol.Ask, cut int) string {
	lines := 1 + strings.Count(strings.TrimSuffix(a.Text[len(a.Text)-cut:], "\n"), "\n")
	switch {
	case a.Cut > 0:
		return fmt.Sprintf("more than %d lines (%d bytes)", lines, cut+a.Cut)
	case lines == 1:
		return fmt.Sprintf("%d bytes", cut)
	}
	return fmt.Sprintf("%d lines (%d bytes)", lines, cut)
}

// fenceFor returns a fence that no line of the text can close.
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
