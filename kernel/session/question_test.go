package session

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

func line(source string) string {
	return text.Prefix(strings.Join(strings.Fields(source), " "), 200)
}

// A form is one inert subtree in which every field is found, whatever is asked, and becomes
// one heading with the answers below.
func TestQuestionForm(t *testing.T) {
	items := regexp.MustCompile(`(?m)^[0-9]+\. `)
	boxes := regexp.MustCompile(`(?m)^ +- \[[ X]\] ?`)
	for _, source := range append(hostile, "2. two", "- [ ] a box", "- [X] a :: b", "Answer: x", "[@5] [[https://a.org][b]] *b*", "1) x :agent:") {
		asked := line(source)
		if asked == "" {
			continue
		}
		q := protocol.Ask{ID: "f1", Sort: protocol.AskQuestion, Session: "main", Turn: "t", Event: "e", Skill: "chat", Form: &protocol.QuestionForm{
			Title: text.Prefix(asked, 72), Fields: []protocol.FormField{
				{Name: "a", Kind: protocol.FieldChoices, Question: asked, Options: []string{asked, "x " + asked, "b"}, Own: true, Default: asked},
				{Name: "b", Kind: protocol.FieldText, Question: asked, Default: asked},
				{Name: "c", Kind: protocol.FieldSecret, Question: asked},
				{Name: "d", Kind: protocol.FieldYesNo, Question: asked, Default: "no"},
			}}}
		form := waitingSubtree(1, q)
		answered := closed(q, time.Now(), protocol.AskOutcome{Decision: protocol.Answered, Client: "emacs", Answers: []protocol.FieldAnswer{
			{Name: "a", Values: []string{asked, source}}, {Name: "b", Values: []string{source}}, {Name: "c"}}})
		declined := closed(q, time.Now(), protocol.AskOutcome{Decision: protocol.Declined, Client: "emacs", Comment: source})
		withdrawn := closed(q, time.Now(), protocol.AskOutcome{})
		for _, subtree := range []string{form, closedSubtree(1, answered, false), closedSubtree(1, declined, false), closedSubtree(1, withdrawn, false)} {
			if ok, why := org.IsInert(subtree); !ok {
				t.Errorf("%.40q: not inert: %s\n%s", source, why, subtree)
			}
			if document := org.Parse(subtree); len(document.Headings) != 1 || document.Headings[0].Level != 2 {
				t.Errorf("%.40q: %d headings\n%s", source, len(document.Headings), subtree)
			}
			if waits := len(waitingIn(subtree)) == 1; waits != (subtree == form) {
				t.Errorf("%.40q: waiting: %v\n%s", source, waits, subtree)
			}
			if subtree != form && closeIn("* Q\n"+form+"* \n", form, subtree) != "* Q\n"+subtree+"* \n" {
				t.Errorf("%.40q: not closed in its place", source)
			}
		}
		if n, m := len(items.FindAllString(form, -1)), len(boxes.FindAllString(form, -1)); n != 4 || m != 6 || strings.Count(form, "- [X]") < 2 {
			t.Errorf("%.40q: %d fields and %d boxes in\n%s", source, n, m, form)
		}
		if !strings.Contains(closedSubtree(1, answered, false), " :: given, and kept nowhere\n") {
			t.Errorf("%.40q: the secret in\n%s", source, closedSubtree(1, answered, false))
		}
	}
}
