package access

import (
	"fmt"
	"slices"
	"strings"
)

// What is what an owner may decide in a chat.
type What string

// What may be decided.
const (
	Approvals What = "approvals" // actions that wait to be allowed
	Questions What = "questions"
	Both      What = "both"
)

// From is whose asks are shown in a chat.
type From string

// From where asks come.
const (
	FromChat     From = "chat"     // from what was said in this chat
	FromAnywhere From = "anywhere" // from every conversation
)

// Deciding is a row of the table of what an owner may decide in a private chat.
type Deciding struct {
	Line    int
	Channel string
	Chat    string // its ID, exact; a thread has a row of its own
	Owner   string // the ID of the account that decides
	What    What
	From    From
}

// Covers reports whether the row is for an approval, or for a question.
func (d Deciding) Covers(question bool) bool {
	return d.What == Both || question == (d.What == Questions)
}

var decidingColumns = []string{"channel", "chat", "owner", "what", "from"}

// deciding reads a row of the table of what may be decided. Of two rows for one chat none holds.
func (r *Rules) deciding(line int, cells []string) error {
	d := Deciding{
		Line: line, Channel: strings.ToLower(cells[0]), Chat: cells[1], Owner: cells[2],
		What: What(strings.ToLower(cells[3])), From: From(strings.ToLower(cells[4])),
	}
	switch {
	case d.Channel == "":
		return fmt.Errorf("the channel is missing, such as telegram")
	case d.Chat == "" || d.Chat == "*" || d.Owner == "" || d.Owner == "*":
		return fmt.Errorf("a row is for one private chat and one owner, by their ids")
	case !slices.Contains([]What{Approvals, Questions, Both}, d.What):
		return fmt.Errorf("what is decided is approvals, questions or both, not %q%s", cells[3], suggestion(string(d.What), []What{Approvals, Questions, Both}))
	case !slices.Contains([]From{FromChat, FromAnywhere}, d.From):
		return fmt.Errorf("it is from chat (what was said there) or anywhere, not %q", cells[4])
	}
	if person := r.people[[2]string{d.Channel, d.Owner}]; person.Role != Owner {
		r.fault(line, "%s on %s is no owner in the table of people: nothing is decided there", d.Owner, d.Channel)
		return nil
	}
	if i := slices.IndexFunc(r.decides, func(o Deciding) bool { return o.Channel == d.Channel && o.Chat == d.Chat }); i >= 0 {
		r.twice[[2]string{d.Channel, d.Chat}] = true
		r.fault(line, "the chat %s on %s is in line %d as well: keep one of the two rows; until then nothing is decided there", d.Chat, d.Channel, r.decides[i].Line)
		return nil
	}
	r.decides = append(r.decides, d)
	return nil
}

// Deciding returns the rows by which owners may decide in chats, none while the file cannot be read. A row counts if its
// owner has that role.
func (r *Rules) Deciding() (rows []Deciding) {
	if r.unread != "" {
		return nil
	}
	for _, d := range r.decides {
		if r.barred[d.Owner] != 0 || r.silent[d.Chat] != 0 || r.undecided[d.Chat] != 0 || r.twice[[2]string{d.Channel, d.Chat}] {
			continue
		}
		rows = append(rows, d)
	}
	return rows
}
