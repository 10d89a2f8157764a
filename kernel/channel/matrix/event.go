package matrix

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
)

// seen is an event that others may be about.
type seen struct {
	sender id.UserID
	text   string
	thread id.EventID
	kind   event.Type // of a message, also of one that was encrypted; zero for an event that is not known
}

// takeEvent delivers an event of a room.
func (f *follower) takeEvent(ctx context.Context, evt *event.Event) error {
	r, err := f.roomOf(ctx, evt.RoomID)
	if err != nil {
		return err
	}
	if evt.Type == event.EventEncrypted {
		clear, err := f.driver.decrypted(ctx, evt)
		if err != nil {
			return f.cannotRead(ctx, r, evt, err)
		}
		evt = clear
	}
	return f.takeClear(ctx, r, evt)
}

// takeClear delivers an event that can be read.
func (f *follower) takeClear(ctx context.Context, r *room, evt *event.Event) error {
	m, ok, err := f.message(ctx, r, evt)
	if err != nil {
		return err
	}
	if content, is := evt.Content.Parsed.(*event.TombstoneEventContent); is && evt.StateKey != nil && content.ReplacementRoom != "" {
		f.invitation(content.ReplacementRoom, string(evt.Sender))
	}
	if !ok {
		return nil
	}
	if m.Kind == channel.Said && !m.Myself {
		f.driver.latest.Put(m.Chat.ID, evt.ID, len(m.Chat.ID)+len(evt.ID))
	}
	return f.deliver(ctx, m)
}

// roomOf is what is known of a room, and nothing of one that the account may not look into any more.
func (f *follower) roomOf(ctx context.Context, name id.RoomID) (*room, error) {
	r, err := f.driver.room(ctx, name)
	if refused(err) { // many may be in it, as far as is known
		return &room{id: name, members: map[id.UserID]string{}, joinRule: event.JoinRulePublic}, nil
	}
	return r, err
}

// message makes a message of an event. ok is false for an event that is nothing to anybody, and for what the driver sent.
func (f *follower) message(ctx context.Context, r *room, evt *event.Event) (m channel.Message, ok bool, err error) {
	m = channel.Message{ID: string(evt.ID), Sender: r.person(evt.Sender), Sent: time.UnixMilli(evt.Timestamp), Chat: r.chat(f.driver.me().ID, "")}
	own := evt.Sender == f.driver.client.UserID
	if own && evt.Unsigned.TransactionID != "" { // only this device is told what it sent
		f.echo(evt)
		return m, false, nil
	}
	m.Myself = own
	if evt.StateKey != nil {
		m.Kind, m.Text = channel.Event, f.describe(r, evt)
		return m, m.Text != "", nil
	}
	switch content := evt.Content.Parsed.(type) {
	case *event.MessageEventContent:
		return f.written(ctx, r, evt, content, m)
	case *event.ReactionEventContent:
		return f.reacted(ctx, r, evt, content, m)
	case *event.RedactionEventContent:
		return f.redacted(ctx, r, evt, content, m)
	}
	return m, false, nil
}

// echo notes what the driver sent: it is not sent again, and others may be about it.
func (f *follower) echo(evt *event.Event) {
	key := sentKey(evt.RoomID, evt.Unsigned.TransactionID)
	f.driver.sent.Put(key, evt.ID, len(key)+len(evt.ID))
	if content, is := evt.Content.Parsed.(*event.MessageEventContent); is {
		f.driver.see(evt, content)
	}
}

// see notes a message that others may be about.
func (d *Driver) see(evt *event.Event, content *event.MessageEventContent) seen {
	s := seen{sender: evt.Sender, text: textOf(evt, content), thread: content.RelatesTo.GetThreadParent(), kind: event.EventMessage}
	d.seen.Put(evt.ID, s, len(evt.ID)+len(s.text)+len(s.thread)+len(s.sender))
	return s
}

// written is a message that somebody wrote, or a new text of one.
func (f *follower) written(ctx context.Context, r *room, evt *event.Event, content *event.MessageEventContent, m channel.Message) (channel.Message, bool, error) {
	if of := content.RelatesTo.GetReplaceID(); of != "" {
		original, err := f.driver.about(ctx, r, of)
		if err != nil || content.NewContent == nil || original.kind.Type != "" && original.sender != evt.Sender { // nobody changes what others wrote
			return m, false, err
		}
		m.Kind, m.Of, m.Chat = channel.Edited, string(of), r.chat(f.driver.me().ID, original.thread)
		m.Text = textOf(evt, content.NewContent)
		m.Mentions = f.mentioned(r, content.NewContent)
		return m, true, nil
	}
	known := f.driver.see(evt, content)
	m.Chat, m.Text = r.chat(f.driver.me().ID, known.thread), known.text
	m.Mentions = f.mentioned(r, content)
	if content.MsgType == event.MsgNotice {
		m.Kind = channel.Event // a program wrote it, and no program answers it
	}
	if content.MsgType.IsMedia() || evt.Type == event.EventSticker {
		m.Attachments = []channel.Attachment{f.driver.attachment(content)}
	}
	if of := content.RelatesTo.GetNonFallbackReplyTo(); of != "" {
		quoted, err := f.driver.about(ctx, r, of)
		if err != nil {
			return m, false, err
		}
		m.Reply = &channel.Quote{ID: string(of), Text: quoted.text, ToMe: quoted.sender == f.driver.client.UserID}
		if quoted.sender != "" {
			m.Reply.Sender = r.person(quoted.sender)
		}
	}
	return m, m.Text != "" || len(m.Attachments) > 0, nil
}

// textOf is the text of a message as people see it.
func textOf(evt *event.Event, content *event.MessageEventContent) string {
	text := content.Body
	if content.RelatesTo.GetReplyTo() != "" {
		text = event.TrimReplyFallbackText(text)
	}
	switch {
	case content.MsgType.IsMedia() || evt.Type == event.EventSticker:
		return content.GetCaption()
	case content.MsgType == event.MsgEmote:
		return "* " + text
	case content.MsgType == event.MsgLocation && content.GeoURI != "":
		return strings.TrimSpace(text + " " + string(content.GeoURI))
	}
	return text
}

// mentioned reports whether a message mentions the account: it says whom it mentions, or, as older programs write it, has
// a link to the account, or its name in the text.
func (f *follower) mentioned(r *room, content *event.MessageEventContent) bool {
	me := f.driver.client.UserID
	if content.Mentions != nil {
		return content.Mentions.Has(me)
	}
	formatted := event.TrimReplyFallbackHTML(content.FormattedBody)
	for _, spelling := range []string{string(me), url.PathEscape(string(me)), url.QueryEscape(string(me))} {
		if strings.Contains(formatted, "https://matrix.to/#/"+spelling+`"`) {
			return true
		}
	}
	body := event.TrimReplyFallbackText(content.Body)
	return hasWord(body, string(me)) || hasWord(body, r.members[me])
}

// hasWord reports whether a text has a name in it, with no letter beside it.
func hasWord(text, name string) bool {
	if utf8.RuneCountInString(name) < 2 {
		return false
	}
	found, err := regexp.MatchString(`(?i)(^|[^\pL\pN_])`+regexp.QuoteMeta(name)+`($|[^\pL\pN_])`, text)
	return found && err == nil
}

// reacted is a reaction of somebody.
func (f *follower) reacted(ctx context.Context, r *room, evt *event.Event, content *event.ReactionEventContent, m channel.Message) (channel.Message, bool, error) {
	of, emoji := content.RelatesTo.GetAnnotationID(), content.RelatesTo.GetAnnotationKey()
	if of == "" || emoji == "" {
		return m, false, nil
	}
	target, err := f.driver.about(ctx, r, of)
	if err != nil {
		return m, false, err
	}
	m.Kind, m.Of, m.Text, m.Chat = channel.Reacted, string(of), emoji, r.chat(f.driver.me().ID, target.thread)
	if len(f.position.Reactions) >= mostReactions {
		f.position.Reactions = f.position.Reactions[1:]
	}
	f.position.Reactions = append(f.position.Reactions, reaction{ID: evt.ID, Of: of, Chat: m.Chat.ID, Emoji: emoji})
	return m, true, nil
}

// redacted is a message that somebody took back, or a reaction.
func (f *follower) redacted(ctx context.Context, r *room, evt *event.Event, content *event.RedactionEventContent, m channel.Message) (channel.Message, bool, error) {
	of := content.Redacts
	if of == "" {
		of = evt.Redacts
	}
	if of == "" {
		return m, false, nil
	}
	if _, known := f.driver.sent.Get(takenBackKey(r.id, of)); known && m.Myself {
		return m, false, nil
	}
	m.Of = string(of)
	for i, one := range f.position.Reactions {
		if one.ID == of {
			f.position.Reactions = append(f.position.Reactions[:i:i], f.position.Reactions[i+1:]...)
			m.Kind, m.Of, m.Text, m.Chat.ID = channel.Unreact, string(one.Of), one.Emoji, one.Chat
			return m, true, nil
		}
	}
	for i, one := range f.position.Unread {
		if one.ID == of {
			f.position.Unread = append(f.position.Unread[:i:i], f.position.Unread[i+1:]...)
			break
		}
	}
	target, err := f.driver.about(ctx, r, of)
	if err != nil || target.kind != event.EventMessage { // a change of the room, or a reaction of long ago
		return m, false, err
	}
	m.Kind, m.Chat = channel.Deleted, r.chat(f.driver.me().ID, target.thread)
	return m, true, nil
}

// about returns the event that another one is about, and nothing of one that the homeserver does not show.
func (d *Driver) about(ctx context.Context, r *room, of id.EventID) (seen, error) {
	if known, ok := d.seen.Get(of); ok {
		return known, nil
	}
	var raw json.RawMessage
	err := d.ask(ctx, http.MethodGet, d.client.BuildClientURL("v3", "rooms", r.id, "event", of), nil, &raw)
	if refused(err) {
		return seen{}, nil
	}
	if err != nil {
		return seen{}, err
	}
	evt, ok := parse(raw, r.id)
	if !ok || evt.ID != of {
		return seen{}, nil
	}
	if evt.Type == event.EventEncrypted {
		clear, err := d.decrypted(ctx, evt)
		if err != nil {
			return seen{sender: evt.Sender, thread: threadOf(evt), kind: event.EventMessage}, nil
		}
		evt = clear
	}
	if content, is := evt.Content.Parsed.(*event.MessageEventContent); is {
		return d.see(evt, content), nil
	}
	return seen{sender: evt.Sender, kind: evt.Type}, nil
}

// describe says in words what a change of the room is, "" for one that nobody needs to know.
func (f *follower) describe(r *room, evt *event.Event) string {
	who := nameOr(r.members[evt.Sender], evt.Sender)
	switch content := evt.Content.Parsed.(type) {
	case *event.MemberEventContent:
		return f.describeMember(who, evt, content)
	case *event.RoomNameEventContent:
		return fmt.Sprintf("%s named the room %q", who, content.Name)
	case *event.TopicEventContent:
		return fmt.Sprintf("%s set the topic to %q", who, content.Topic)
	case *event.PinnedEventsEventContent:
		return who + " changed what is pinned"
	case *event.EncryptionEventContent:
		return who + " made the room encrypted"
	case *event.TombstoneEventContent:
		return fmt.Sprintf("%s had the room go on in another one, %s", who, content.ReplacementRoom)
	}
	return ""
}

func (f *follower) describeMember(who string, evt *event.Event, now *event.MemberEventContent) string {
	whom := id.UserID(*evt.StateKey)
	before := previousMember(evt)
	name := nameOr(now.Displayname, whom)
	if now.Displayname == "" {
		name = nameOr(before.Displayname, whom)
	}
	self := whom == evt.Sender
	switch {
	case now.Membership == event.MembershipJoin && before.Membership == event.MembershipJoin:
		if now.Displayname == before.Displayname {
			return ""
		}
		return fmt.Sprintf("%s is called %s now", nameOr(before.Displayname, whom), nameOr(now.Displayname, whom))
	case now.Membership == event.MembershipJoin:
		if whom == f.driver.client.UserID {
			return ""
		}
		return name + " joined"
	case now.Membership == event.MembershipInvite:
		return who + " invited " + name
	case now.Membership == event.MembershipBan:
		return who + " banned " + name
	case now.Membership == event.MembershipLeave && self && whom == f.driver.client.UserID:
		return "" // such as after an invitation that was declined
	case now.Membership == event.MembershipLeave && self:
		return name + " left"
	case now.Membership == event.MembershipLeave && before.Membership == event.MembershipBan:
		return who + " let " + name + " in again"
	case now.Membership == event.MembershipLeave:
		return who + " removed " + name
	}
	return ""
}

// nameOr is the name that somebody has, with the id beside it, because anybody can call themselves anything.
func nameOr(name string, who id.UserID) string {
	if name == "" {
		return string(who)
	}
	return name + " (" + string(who) + ")"
}

// previousMember is what was known of a member before the event, as far as the homeserver says.
func previousMember(evt *event.Event) *event.MemberEventContent {
	before := &event.MemberEventContent{}
	if previous := evt.Unsigned.PrevContent; previous != nil {
		if previous.Parsed == nil && previous.ParseRaw(event.StateMember) != nil {
			return before
		}
		return previous.AsMember()
	}
	return before
}

// threadOf is the thread of an event that cannot be read: that much is said openly.
func threadOf(evt *event.Event) id.EventID {
	if content, is := evt.Content.Parsed.(*event.EncryptedEventContent); is {
		return content.RelatesTo.GetThreadParent()
	}
	return ""
}

// mostUnread are the messages that wait for their keys.
const mostUnread = 200

// cannotRead delivers, in place of a message that cannot be read, that there is one. If its key comes, the message is
// delivered then.
func (f *follower) cannotRead(ctx context.Context, r *room, evt *event.Event, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if evt.Sender == f.driver.client.UserID && evt.Unsigned.TransactionID != "" {
		return nil
	}
	f.driver.log.Warn("a message that cannot be read", "room", r.id, "event", evt.ID, "error", err)
	m := channel.Message{
		ID: string(evt.ID) + "-unread", Kind: channel.Event, Chat: r.chat(f.driver.me().ID, threadOf(evt)), Sender: r.person(evt.Sender),
		Sent: time.UnixMilli(evt.Timestamp), Text: "a message cannot be read: " + err.Error(),
	}
	if errors.Is(err, errNoKey) {
		if len(f.position.Unread) >= mostUnread {
			f.position.Unread = f.position.Unread[1:]
		}
		f.position.Unread = append(f.position.Unread, unreadOf(evt))
	}
	return f.deliver(ctx, m)
}
