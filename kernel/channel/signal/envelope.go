package signal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"org-agent/kernel/channel"
)

// The types here are those of signal-cli's JSON, with what is used of them.

// envelope is a message of somebody to one of our devices.
type envelope struct {
	Source    string `json:"source"`
	Number    string `json:"sourceNumber"`
	UUID      string `json:"sourceUuid"`
	Name      string `json:"sourceName"`
	Timestamp int64  `json:"timestamp"`

	Data *content `json:"dataMessage"`
	Edit *edit    `json:"editMessage"`
	Sync *struct {
		Sent *sent `json:"sentMessage"`
	} `json:"syncMessage"`
	Call *struct {
		Offer *struct {
			Type string `json:"type"`
		} `json:"offerMessage"`
	} `json:"callMessage"`
}

// edit is a new text of an earlier message.
type edit struct {
	Target int64    `json:"targetSentTimestamp"`
	Data   *content `json:"dataMessage"`
}

// sent is what the account sent from another device.
type sent struct {
	Destination string `json:"destination"`
	Number      string `json:"destinationNumber"`
	UUID        string `json:"destinationUuid"`
	Edit        *edit  `json:"editMessage"`

	what content // its fields are beside these
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *sent) UnmarshalJSON(line []byte) error {
	type fields sent // without this method
	return cmp.Or(json.Unmarshal(line, (*fields)(s)), json.Unmarshal(line, &s.what))
}

// content is what somebody wrote or did.
type content struct {
	Timestamp  int64        `json:"timestamp"`
	Message    string       `json:"message"`
	Expires    int64        `json:"expiresInSeconds"`
	Expiration bool         `json:"isExpirationUpdate"`
	Reaction   *reaction    `json:"reaction"`
	Quote      *quote       `json:"quote"`
	Mentions   []mention    `json:"mentions"`
	Files      []attachment `json:"attachments"`
	Group      *group       `json:"groupInfo"`
	Sticker    *struct{}    `json:"sticker"`
	Payment    *struct {
		Note string `json:"note"`
	} `json:"payment"`
	Contacts []contact `json:"contacts"`
	Poll     *struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	} `json:"pollCreate"`
	Vote    *struct{} `json:"pollVote"`
	PollEnd *struct{} `json:"pollTerminate"`
	Pin     *target   `json:"pinMessage"`
	Unpin   *target   `json:"unpinMessage"`
	Delete  *struct {
		Timestamp int64 `json:"timestamp"`
	} `json:"remoteDelete"`
	AdminDelete *target   `json:"adminDelete"`
	Story       *struct{} `json:"storyContext"`
}

type group struct {
	ID   string `json:"groupId"`
	Name string `json:"groupName"`
	Type string `json:"type"`
}

// target names a message.
type target struct {
	Author    string `json:"targetAuthor"`
	Number    string `json:"targetAuthorNumber"`
	UUID      string `json:"targetAuthorUuid"`
	Timestamp int64  `json:"targetSentTimestamp"`
}

func (t *target) author() address { return address{t.Number, t.UUID, t.Author} }

type reaction struct {
	Emoji  string `json:"emoji"`
	Remove bool   `json:"isRemove"`
	target
}

type quote struct {
	ID     int64  `json:"id"`
	Author string `json:"author"`
	Number string `json:"authorNumber"`
	UUID   string `json:"authorUuid"`
	Text   string `json:"text"`
}

// mention stands for some UTF-16 code units of the text.
type mention struct {
	Name   string `json:"name"`
	Number string `json:"number"`
	UUID   string `json:"uuid"`
	Start  int    `json:"start"`
	Length int    `json:"length"`
}

type attachment struct {
	Media string `json:"contentType"`
	Name  string `json:"filename"`
	ID    string `json:"id"`
	Size  *int64 `json:"size"`
	Voice bool   `json:"voiceNote"`
}

type contact struct {
	Name struct {
		Nickname string `json:"nickname"`
		Given    string `json:"given"`
		Family   string `json:"family"`
	} `json:"name"`
	Phones []struct {
		Value string `json:"value"`
	} `json:"phone"`
	Mails []struct {
		Value string `json:"value"`
	} `json:"email"`
}

// message returns what happened by an envelope, and whether it is anything for a conversation. Receipts, signs of typing
// and stories are not.
func (d *Driver) message(ctx context.Context, line string) (channel.Message, bool) {
	var e envelope
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		d.log.Warn("an envelope in another form", "channel", d.Name(), "err", err)
		return channel.Message{}, false
	}
	sender := address{e.Number, e.UUID, e.Source}
	m := channel.Message{Sender: d.person(sender, e.Name), Myself: d.self(sender)}
	if m.Sender.ID == "" {
		return m, false
	}
	m.Chat = channel.Chat{ID: m.Sender.ID, Title: m.Sender.Name}
	data, change := e.Data, e.Edit
	switch {
	case e.Sync != nil && e.Sync.Sent != nil:
		if !m.Myself {
			d.log.Warn("somebody else claims what only the account's devices can", "channel", d.Name(), "sender", m.Sender.ID)
			return m, false
		}
		if d.uuid.Load() == nil && validUUID(e.UUID) {
			d.learn(ctx, e.UUID)
		}
		sent := e.Sync.Sent
		data, change = &sent.what, sent.Edit
		to := d.person(address{sent.Number, sent.UUID, sent.Destination}, "")
		m.Chat = channel.Chat{ID: to.ID, Title: to.Name}
	case e.Call != nil && e.Call.Offer != nil:
		m.Kind, m.Text = channel.Event, "called"
		data = &content{Timestamp: e.Timestamp}
	}
	if change != nil {
		data = change.Data
	}
	if data == nil || data.Story != nil || !d.fill(&m, data, cmp.Or(data.Timestamp, e.Timestamp)) {
		return m, false
	}
	if change != nil {
		if m.Kind != channel.Said {
			return m, false
		}
		m.Kind, m.Of = channel.Edited, d.edits.original(messageID(m.Sender.ID, change.Target))
		d.edited(ctx, m.ID, m.Of)
	}
	return m, m.Chat.ID != ""
}

// fill fills a message from its content. It returns false if there is nothing in it.
func (d *Driver) fill(m *channel.Message, c *content, timestamp int64) bool {
	m.ID, m.Sent = messageID(m.Sender.ID, timestamp), time.UnixMilli(timestamp)
	if timestamp <= 0 {
		return false
	}
	if c.Group != nil {
		id, ok := groupChat(c.Group.ID)
		if !ok {
			d.log.Warn("a message to a group with an id in another form", "channel", d.Name(), "sender", m.Sender.ID)
			return false
		}
		m.Chat = channel.Chat{ID: id, Title: c.Group.Name, Group: true}
	}
	if m.Kind == channel.Event {
		return true
	}
	if d.fillChange(m, c) {
		return m.Of == "" || !strings.HasPrefix(m.Of, ":")
	}
	m.Text, m.Mentions = d.text(c)
	for i := range c.Contacts {
		m.Text = joined(m.Text, c.Contacts[i].text())
	}
	for _, a := range c.Files {
		m.Attachments = append(m.Attachments, d.attachment(a, m.Chat.ID))
	}
	if q := c.Quote; q != nil {
		author := address{q.Number, q.UUID, q.Author}
		if who := d.person(author, ""); who.ID != "" {
			m.Reply = &channel.Quote{ID: d.edits.original(messageID(who.ID, q.ID)), Sender: who, Text: q.Text, ToMe: d.self(author)}
		}
	}
	if m.Text != "" {
		d.remember(m.ID, m.Text)
	}
	return m.Text != "" || len(m.Attachments) > 0
}

// fillChange fills a message that is none that somebody wrote, and reports whether it is such a one.
func (d *Driver) fillChange(m *channel.Message, c *content) bool {
	of := func(kind channel.MessageKind, author address, timestamp int64, text string) {
		m.Kind, m.Of, m.Text = kind, d.edits.original(messageID(d.id(author), timestamp)), text
	}
	happened := func(text string) { m.Kind, m.Text = channel.Event, text }
	switch r := c.Reaction; {
	case r != nil && r.Remove:
		of(channel.Unreact, r.author(), r.Timestamp, r.Emoji)
	case r != nil:
		of(channel.Reacted, r.author(), r.Timestamp, r.Emoji)
	case c.Delete != nil:
		m.Kind, m.Of = channel.Deleted, d.edits.original(messageID(m.Sender.ID, c.Delete.Timestamp))
	case c.AdminDelete != nil:
		of(channel.Deleted, c.AdminDelete.author(), c.AdminDelete.Timestamp, "")
	case c.Pin != nil:
		of(channel.Event, c.Pin.author(), c.Pin.Timestamp, "pinned a message")
	case c.Unpin != nil:
		of(channel.Event, c.Unpin.author(), c.Unpin.Timestamp, "unpinned a message")
	case c.Expiration && c.Expires > 0:
		happened(fmt.Sprintf("messages disappear after %s", time.Duration(min(c.Expires, 1<<31))*time.Second))
	case c.Expiration:
		happened("messages do not disappear any more")
	case c.Poll != nil:
		happened(strings.Join(slices.Concat([]string{"began a poll: " + c.Poll.Question}, c.Poll.Options), "\n- "))
	case c.Vote != nil:
		happened("voted in a poll")
	case c.PollEnd != nil:
		happened("ended a poll")
	case c.Payment != nil:
		happened(strings.TrimSpace("sent a payment " + c.Payment.Note))
	case c.Sticker != nil:
		happened("sent a sticker")
	case c.Group != nil && c.Group.Type == "UPDATE" && c.Message == "" && len(c.Files) == 0:
		happened("changed the group")
	default:
		return false
	}
	return true
}

// text returns the text as people see it, with the names of those who are mentioned, and whether the account is one.
func (d *Driver) text(c *content) (text string, me bool) {
	if len(c.Mentions) == 0 {
		return c.Message, false
	}
	units := utf16.Encode([]rune(c.Message))
	slices.SortStableFunc(c.Mentions, func(a, b mention) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	done := 0
	for _, one := range c.Mentions {
		who := address{one.Number, one.UUID, one.Name}
		me = me || d.self(who)
		if one.Start < done || one.Length <= 0 || one.Start > len(units) || one.Length > len(units)-one.Start {
			continue // it mentions somebody without a place in the text
		}
		b.WriteString(string(utf16.Decode(units[done:one.Start])))
		p := d.person(who, "")
		b.WriteString("@" + cmp.Or(p.Name, p.Username, p.ID, one.Name))
		done = one.Start + one.Length
	}
	b.WriteString(string(utf16.Decode(units[done:])))
	return b.String(), me
}

// text returns a contact as people read it.
func (c *contact) text() string {
	text := cmp.Or(strings.TrimSpace(c.Name.Given+" "+c.Name.Family), c.Name.Nickname)
	for _, p := range c.Phones {
		text = joined(text, p.Value)
	}
	for _, m := range c.Mails {
		text = joined(text, m.Value)
	}
	return text
}

// joined returns two texts, one below the other.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// quoteLength is how many characters of a text are kept for replies.
const quoteLength = 300

// remember keeps the beginning of a text for a reply to its message.
func (d *Driver) remember(id, text string) {
	n := 0
	for i := range text {
		if n++; n > quoteLength {
			text = text[:i]
			break
		}
	}
	d.quotes.Put(id, text, len(id)+len(text))
}
