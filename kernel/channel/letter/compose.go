package letter

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/channel/rich"
	"org-agent/kernel/describe"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// The largest letter with buttons. A person reads it on a small screen.
const (
	letterLimit = 1500 // characters
	textLines   = 20   // of what an action would do
	optionCount = 8
	labelLimit  = 30 // characters; a longer option has its number on its button
)

// choice is a button.
type choice struct {
	label    string
	decision protocol.Decision
	answers  []protocol.FieldAnswer
}

// compose returns the letter about an ask, and its buttons. It has none, and says to look in Emacs, unless all of it can be
// read in a chat. textLimit is that of the chat.
func compose(a protocol.Ask, textLimit int) (letter string, choices []choice) {
	var why string
	if a.Sort == protocol.AskQuestion {
		letter, choices, why = question(a)
	} else {
		letter, choices, why = approval(a)
	}
	switch {
	case why != "":
	case obscure(letter):
		why = "It has something in it that cannot be seen here"
	case utf8.RuneCountInString(letter) > letterLimit || rich.Plain(letter).Length() > textLimit:
		why = "It is too long to be read here"
	default:
		return letter, choices
	}
	return fmt.Sprintf("%s waits for you%s. %s: look in Emacs, with M-x org-agent-approvals.", kindOf(a), whose(a), why), nil
}

func kindOf(a protocol.Ask) string {
	if a.Sort == protocol.AskQuestion {
		return "A question"
	}
	return "An action"
}

// whose says which conversation asks.
func whose(a protocol.Ask) string {
	where := " in the conversation " + text.PlainLine(cmp.Or(a.Parent, a.Session), 60)
	if a.Subagent != "" {
		where += ", of the subagent " + text.PlainLine(a.Subagent, 60)
	}
	return where
}

// approval returns the letter about an action. Each line of what the action would do has a bar before it, so that
// none can be taken for one of the letter.
func approval(a protocol.Ask) (letter string, choices []choice, why string) {
	lines := strings.Split(strings.TrimSuffix(a.Text, "\n"), "\n")
	switch {
	case a.Cut > 0 || a.Text == "" || a.Hash == "":
		return "", nil, "Not all of it can be shown here"
	case len(lines) > textLines:
		return "", nil, "It is too long to be read here"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "May the agent do this%s?\n\n%s\n", whose(a), a.Summary)
	for _, effect := range a.Effects {
		fmt.Fprintf(&b, "- %s\n", effect)
	}
	if a.Reason != "" {
		fmt.Fprintf(&b, "- you are asked because %s\n", strings.TrimSuffix(a.Reason, "."))
	}
	fmt.Fprintf(&b, "\nThis is all of it (%s):\n", cmp.Or(string(a.Language), "text"))
	for _, line := range lines {
		fmt.Fprintf(&b, "│ %s\n", line)
	}
	b.WriteString("\nOnly the buttons decide.")
	return b.String(), []choice{{label: "Allow once", decision: protocol.AllowOnce}, {label: "Deny", decision: protocol.Deny}}, ""
}

// question returns the letter about a question that is answered by one of a few choices.
func question(a protocol.Ask) (letter string, choices []choice, why string) {
	const typed = "It is not answered by one of a few choices"
	if a.Form == nil || len(a.Form.Fields) != 1 {
		return "", nil, typed
	}
	field := a.Form.Fields[0]
	answer := func(label, value string) {
		choices = append(choices, choice{label, protocol.Answered, []protocol.FieldAnswer{{Name: field.Name, Values: []string{value}}}})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The agent asks%s:\n\n%s\n", whose(a), a.Form.Title)
	if field.Question != "" && field.Question != a.Form.Title {
		fmt.Fprintf(&b, "%s\n", field.Question)
	}
	switch {
	case field.Kind == protocol.FieldYesNo:
		answer("Yes", "yes")
		answer("No", "no")
	case field.Kind == protocol.FieldChoice && len(field.Options) > 0 && len(field.Options) <= optionCount:
		b.WriteByte('\n')
		for i, option := range field.Options {
			fmt.Fprintf(&b, "%d. %s\n", i+1, option)
			label := option
			if utf8.RuneCountInString(option) > labelLimit || strings.TrimSpace(option) == "" {
				label = fmt.Sprint(i + 1)
			}
			answer(label, option)
		}
	default:
		return "", nil, typed
	}
	choices = append(choices, choice{label: "I will not answer", decision: protocol.Declined})
	b.WriteString("\nOnly the buttons answer.")
	return b.String(), choices, ""
}

// marks begin what stands for something that cannot be seen; see [describe.Visible].
const marks = "⟨"

// obscure reports whether a letter has something in it that a chat might show otherwise than Emacs: what cannot be seen, what
// stands for it, and letters that are written from right to left and may change places with others.
func obscure(letter string) bool {
	return strings.Contains(letter, marks) || describe.Visible(letter) != letter || strings.ContainsFunc(letter, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic, unicode.Adlam)
	})
}

// decided returns what a letter says when what it asked is decided.
func decided(a protocol.Ask, zone *time.Location) string {
	said := map[protocol.Decision]string{
		protocol.AllowOnce: "Allowed once", protocol.AllowTurn: "Allowed for the turn", protocol.AllowSession: "Allowed for the conversation", protocol.AllowAlways: "Allowed always",
		protocol.AllowReading: "Allowed, with reading in the project", protocol.Deny: "Denied", protocol.Answered: "Answered", protocol.Declined: "Not answered",
	}[a.Decision]
	if a.Decision == protocol.AllowOnce && a.Edited != "" {
		said = "Allowed once, as you changed it"
	}
	if said == "" {
		return "Not decided: it does not wait any more."
	}
	who := "by you"
	switch protocol.Channel(a.Client) {
	case protocol.ChannelEmacs:
		who = "in Emacs"
	case protocol.ChannelCLI:
		who = "in a shell"
	}
	said += " " + who
	if at := a.ClosedAt(); !at.IsZero() {
		said += at.In(zone).Format(", 15:04")
	}
	what := a.Summary
	if a.Sort == protocol.AskQuestion && a.Form != nil {
		what = a.Form.Title
		for _, answer := range a.Answers {
			what += " " + strings.Join(answer.Values, ", ")
		}
	}
	if what = text.PlainLine(what, 300); what == "" || obscure(what) {
		return said + "."
	}
	return said + ": " + what
}
