package access

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/channel"
)

// Verdict is what becomes of a message.
type Verdict string

// The verdicts.
const (
	Answer   Verdict = "answer"   // it is for the agent
	Store    Verdict = "store"    // it belongs to the conversation, and is not answered
	Stranger Verdict = "stranger" // nothing of it reaches the agent; the person may be told once that somebody wrote
	Limited  Verdict = "limited"  // its sender has used what they may; it is not answered, and they may be told
	Ignore   Verdict = "ignore"   // nothing is kept of it: of somebody who is blocked, or not addressed to the agent
)

// Decision is what becomes of a message, and why.
type Decision struct {
	Verdict Verdict
	Owner   bool // the sender is an owner
	// Why names the row that decided, or says that none did. It has ids, and no names that strangers gave themselves.
	Why string
}

// Decide decides about a message of a channel, without looking at what its sender has used.
//
// Only messages that somebody wrote are answered; what else happens in a chat with people who may talk is stored. In a
// group, what others say is stored if the group has a row, and ignored if it has none.
func (r *Rules) Decide(on string, m channel.Message) Decision {
	switch {
	case r.unread != "":
		return Decision{Verdict: Ignore, Why: r.unread}
	case m.Myself:
		return Decision{Verdict: Store, Why: "the agent's own account wrote it"}
	case m.Sender.ID == "":
		return Decision{Verdict: Ignore, Why: "it has no sender"}
	}
	if line := r.barred[m.Sender.ID]; line != 0 {
		return Decision{Verdict: Ignore, Why: fmt.Sprintf("%s cannot be read, and names the sender", r.place(line))}
	}
	person, known := r.people[[2]string{on, m.Sender.ID}]
	if person.Role == Blocked {
		return Decision{Verdict: Ignore, Why: r.place(person.Line) + " says blocked"}
	}
	chat, why := r.chatRule(on, m.Chat)
	switch {
	case known:
		d := decideAnswer(chat.Answers, m, fmt.Sprintf("%s says %s; %s", r.place(person.Line), person.Role, why))
		d.Owner = person.Role == Owner
		return d
	case chat.Anyone:
		return decideAnswer(chat.Answers, m, why)
	}
	return decideStranger(chat, m, why)
}

// decideAnswer decides about a message of somebody who may talk.
func decideAnswer(rule Answers, m channel.Message, why string) Decision {
	store := func(reason string) Decision { return Decision{Verdict: Store, Why: why + ": " + reason} }
	replies := m.Reply != nil && m.Reply.ToMe
	switch {
	case m.Kind != channel.Said:
		return store("it is no new message")
	case rule == Always:
		return Decision{Verdict: Answer, Why: why}
	case (rule == Mention || rule == Reply) && replies:
		return Decision{Verdict: Answer, Why: why + ": it replies to the agent"}
	case rule == Mention && m.Mentions:
		return Decision{Verdict: Answer, Why: why + ": it mentions the agent"}
	case rule == Mention:
		return store("it neither mentions the agent nor replies to it")
	case rule == Reply:
		return store("it does not reply to the agent")
	}
	return store("nothing is answered there")
}

// decideStranger decides about a message of somebody who may not talk.
func decideStranger(chat Chat, m channel.Message, why string) Decision {
	directed := !m.Chat.Group || m.Mentions || m.Reply != nil && m.Reply.ToMe
	switch {
	case chat.Line != 0 && chat.ID != "*" && m.Chat.Group && (!directed || m.Kind != channel.Said || chat.Answers == Never):
		return Decision{Verdict: Store, Why: why + ": no row names the sender, but the group has one"}
	case m.Kind == channel.Said && directed && chat.Answers != Never:
		return Decision{Verdict: Stranger, Why: "no row names the sender"}
	}
	return Decision{Verdict: Ignore, Why: "no row names the sender, and it is not addressed to the agent"}
}

// chatRule returns what holds in a chat, and why. A thread has the row of its chat unless it has its own.
func (r *Rules) chatRule(on string, c channel.Chat) (rule Chat, why string) {
	for id := c.ID; ; {
		if line := r.silent[id]; line != 0 {
			return Chat{ID: id, Line: line, Answers: Never}, r.place(line) + " cannot be read, and names the chat"
		}
		if row, there := r.chats[[2]string{on, id}]; there && id != "*" {
			return row, fmt.Sprintf("%s says %s", r.place(row.Line), row.Answers)
		}
		slash := strings.LastIndexByte(id, '/')
		if slash < 0 {
			break
		}
		id = id[:slash]
	}
	if !c.Group {
		return Chat{Answers: Always}, "private chats are answered"
	}
	if line := r.silent["*"]; line != 0 {
		return Chat{ID: "*", Line: line, Answers: Never}, r.place(line) + " cannot be read, and is for all groups"
	}
	if row, there := r.chats[[2]string{on, "*"}]; there {
		return row, fmt.Sprintf("%s says %s", r.place(row.Line), row.Answers)
	}
	return Chat{Answers: Mention}, "groups without a row are answered when the agent is mentioned"
}

// place names a line of the file.
func (r *Rules) place(line int) string { return fmt.Sprintf("%s:%d", filepath.Base(r.file), line) }

// Usage says what somebody used.
type Usage interface {
	// Used returns how many messages of a sender on a channel were taken for an answer within the last hour, and what the
	// answers to them have cost since the person's day began, in US dollars as far as prices are known.
	Used(ctx context.Context, channel, sender string) (messages int, cost float64, err error)
}

// Guard decides about messages with what their senders have used.
type Guard struct {
	File  *File
	Usage Usage
}

// Decide decides about a message of a channel as [Rules.Decide] does, by the file as it is now. Of what would be answered,
// it limits what is not an owner's. If it cannot be found out what was used, nothing is answered.
func (g *Guard) Decide(ctx context.Context, on string, m channel.Message) Decision {
	rules := g.File.Rules()
	d := rules.Decide(on, m)
	if d.Verdict != Answer || d.Owner {
		return d
	}
	limit := func(format string, arguments ...any) Decision {
		return Decision{Verdict: Limited, Why: d.Why + "; " + fmt.Sprintf(format, arguments...)}
	}
	limits := rules.limits
	from := "by default"
	if limits.Line != 0 {
		from = "by " + rules.place(limits.Line)
	}
	if rules.faulty {
		return limit("the limits %s cannot be read", from)
	}
	messages, cost, err := g.Usage.Used(ctx, on, m.Sender.ID)
	switch {
	case err != nil:
		return limit("what the sender used cannot be found out: %v", err)
	case messages >= limits.Messages:
		return limit("%d messages of the sender were answered within an hour, and %d may be %s", messages, limits.Messages, from)
	case limits.Cost > 0 && cost >= limits.Cost:
		return limit("the answers to the sender have cost $%.2f today, and $%.2f may be used %s", cost, limits.Cost, from)
	}
	return d
}

// May reports whether somebody is an owner or a friend.
func (r *Rules) May(on, id string) bool {
	role := r.people[[2]string{on, id}].Role
	return r.unread == "" && r.barred[id] == 0 && (role == Owner || role == Friend)
}
