package access_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/channel/access"
)

// TestDeciding has a case for each way in which a row of what is decided in chats counts, and does not.
func TestDeciding(t *testing.T) {
	const owners = people + "| telegram | 1 | me | owner | |\n| telegram | 2 | Ann | friend | |\n"
	const head = "* Deciding\n| channel | chat | owner | what | from |\n|--+--+--+--+--|\n"
	for _, c := range []struct{ text, want, fault string }{
		{owners, "", ""},
		{owners + head, "", ""},
		{owners + head + "| Telegram | =1= | 1 | Both | chat |\n", "telegram 1 1 both chat", ""},
		{owners + head + "| telegram | 1 | 1 | approvals | anywhere |\n| telegram | 1/7 | 1 | questions | chat |\n", "telegram 1 1 approvals anywhere, telegram 1/7 1 questions chat", ""},
		{owners + head + "| telegram | 1 | 2 | both | chat |\n", "", "2 on telegram is no owner"},
		{owners + head + "| telegram | 1 | 3 | both | chat |\n", "", "3 on telegram is no owner"},
		{owners + head + "| matrix | 1 | 1 | both | chat |\n", "", "1 on matrix is no owner"},
		{owners + head + "| telegram | * | 1 | both | chat |\n", "", "one private chat and one owner"},
		{owners + head + "| telegram | 1 | | both | chat |\n", "", "one private chat and one owner"},
		{owners + head + "| | 1 | 1 | both | chat |\n", "", "the channel is missing"},
		{owners + head + "| telegram | 1 | 1 | always | chat |\n", "", `approvals, questions or both, not "always"`},
		{owners + head + "| telegram | 1 | 1 | approval | chat |\n", "", "did you mean approvals?"},
		{owners + head + "| telegram | 1 | 1 | both | everywhere |\n", "", "or anywhere, not"},
		{owners + head + "| telegram | 1 | 1 | both |\n", "", "the row has 4 cells"},
		{owners + head + "| telegram | 1 | 1 | both | chat |\n| telegram | 1 | 1 | both | everywhere |\n", "", "or anywhere, not"},
		{owners + head + "| telegram | 1 | 1 | both | chat |\n| telegram | 1 | 1 | questions | chat |\n", "", "in line 9 as well"},
		{owners + "* Deciding\n| telegram | 1 | 1 | both | chat |\n", "", "begins with | channel | chat | owner | what | from |"},
		{owners + "| telegram | 9 | x | ownr | |\n| telegram | 1 | me | blocked | |\n" + head + "| telegram | 1 | 1 | both | chat |\n", "", "1 on telegram is no owner"},
		{owners + "* More\n| telegram | 1 | 1 | approvals | chat |\n", "", "a row counts only in the tables"},
	} {
		rules := access.Parse(c.text, "channels.org")
		var rows []string
		for _, d := range rules.Deciding() {
			rows = append(rows, fmt.Sprint(d.Channel, " ", d.Chat, " ", d.Owner, " ", d.What, " ", d.From))
		}
		if got := strings.Join(rows, ", "); got != c.want {
			t.Errorf("%s\n%s, wanted %s", c.text, got, c.want)
		}
		if faults := fmt.Sprint(rules.Faults()); c.fault == "" && len(rules.Faults()) > 0 || !strings.Contains(faults, c.fault) {
			t.Errorf("%s\n%s, wanted %s", c.text, faults, c.fault)
		}
	}
	for _, c := range []struct {
		what              access.What
		approval, answers bool
	}{{access.Approvals, true, false}, {access.Questions, false, true}, {access.Both, true, true}} {
		if d := (access.Deciding{What: c.what}); d.Covers(false) != c.approval || d.Covers(true) != c.answers {
			t.Errorf("%s covers %v, %v", c.what, d.Covers(false), d.Covers(true))
		}
	}
}
