package matrix

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// sentKey names what was sent to a room: the homeserver tells the transaction to the device that sent it.
func sentKey(room id.RoomID, transaction string) string { return string(room) + "\n" + transaction }

// takenBackKey names what the driver takes back. Not every homeserver tells the transaction of that.
func takenBackKey(room id.RoomID, of id.EventID) string { return sentKey(room, "redact "+string(of)) }

// Send implements [channel.Driver].
func (d *Driver) Send(ctx context.Context, out channel.Outgoing) (string, error) {
	to, err := d.place(ctx, out.Chat)
	if err != nil {
		return "", err
	}
	// A homeserver forgets transactions when it is started again. What came back from it is not sent twice even so.
	if known, ok := d.sent.Get(sentKey(to.room.id, out.ID)); ok {
		return string(known), nil
	}
	content := written(out.Text)
	if out.File != nil {
		if err := d.addFile(ctx, content, out, to.room.encryption != nil); err != nil {
			return "", err
		}
	}
	d.relate(content, to, id.EventID(out.ReplyTo))
	return d.put(ctx, to.room, event.EventMessage, out.ID, content)
}

// formattedLimit is the length of the longest HTML that is sent beside the text. A longer text is sent without.
const formattedLimit = 20_000

// written is the content of a message with a text.
func written(text rich.Text) *event.MessageEventContent {
	content := &event.MessageEventContent{MsgType: event.MsgText, Body: text.Plain, Mentions: &event.Mentions{}}
	if len(text.Spans) == 0 {
		return content
	}
	if formatted := text.HTML(); len(formatted) <= formattedLimit && len(formatted)+len(text.Plain) <= 2*formattedLimit {
		content.Format, content.FormattedBody = event.FormatHTML, formatted
	}
	return content
}

// addFile uploads the file of a message, whose text becomes the caption.
func (d *Driver) addFile(ctx context.Context, content *event.MessageEventContent, out channel.Outgoing, encrypted bool) error {
	if encrypted && d.keys() == nil {
		return &channel.Failure{Class: channel.Refused, Err: errCipher}
	}
	address, key, err := d.upload(ctx, out.File, encrypted)
	if err != nil {
		return err
	}
	content.URL, content.File, content.FileName = address, key, out.File.Name
	content.Info = &event.FileInfo{MimeType: out.File.Media, Size: int(out.File.Size)}
	if content.Body == "" {
		content.Body = out.File.Name
	}
	switch kind, _, _ := strings.Cut(out.File.Media, "/"); kind {
	case "image":
		content.MsgType = event.MsgImage
	case "audio":
		content.MsgType = event.MsgAudio
		if out.File.Voice {
			content.MSC3245Voice = &event.MSC3245Voice{}
			content.MSC1767Audio = &event.MSC1767Audio{}
		}
	case "video":
		content.MsgType = event.MsgVideo
	default:
		content.MsgType = event.MsgFile
	}
	return nil
}

// relate puts a message into its thread, and says which message it answers.
func (d *Driver) relate(content *event.MessageEventContent, to place, answered id.EventID) {
	if to.thread != "" {
		last, ok := d.latest.Get(chatID(to.room.id, to.thread))
		if !ok {
			last = to.thread
		}
		content.RelatesTo = (&event.RelatesTo{}).SetThread(to.thread, last)
	}
	if answered == "" {
		return
	}
	if content.RelatesTo == nil {
		content.RelatesTo = &event.RelatesTo{}
	}
	content.RelatesTo.InReplyTo, content.RelatesTo.IsFallingBack = &event.InReplyTo{EventID: answered}, false
	if known, ok := d.seen.Get(answered); ok && known.sender != d.client.UserID {
		content.Mentions.Add(known.sender)
	}
}

// put sends an event, encrypted if the room is. What is sent again with the same transaction appears once.
func (d *Driver) put(ctx context.Context, r *room, kind event.Type, transaction string, content any) (string, error) {
	var body any = content
	if r.encryption != nil && kind != event.EventReaction { // reactions are open, as other programs write them
		keys := d.keys()
		if keys == nil {
			return "", &channel.Failure{Class: channel.Refused, Err: fmt.Errorf("matrix: send to %s: %w", r.id, errCipher)}
		}
		sealed, err := keys.encrypt(ctx, r, kind, content)
		if err != nil {
			return "", unsent(err)
		}
		kind, body = event.EventEncrypted, sealed
	}
	var answer mautrix.RespSendEvent
	err := d.ask(ctx, http.MethodPut, d.client.BuildClientURL("v3", "rooms", r.id, "send", kind.Type, transaction), body, &answer)
	if err != nil {
		return "", d.lost(r, err)
	}
	key := sentKey(r.id, transaction)
	d.sent.Put(key, answer.EventID, len(key)+len(answer.EventID))
	if message, is := content.(*event.MessageEventContent); is {
		d.see(&event.Event{ID: answer.EventID, Sender: d.client.UserID, Type: event.EventMessage}, message)
	}
	return string(answer.EventID), nil
}

// lost has the state of a room asked for anew when it takes nothing: it may go on in another room.
func (d *Driver) lost(r *room, err error) error {
	if refused(err) {
		d.forget(r.id)
	}
	return err
}

// Edit implements [channel.Editor].
func (d *Driver) Edit(ctx context.Context, chat, message string, text rich.Text) error {
	to, err := d.place(ctx, chat)
	if err != nil {
		return err
	}
	content := written(text)
	content.SetEdit(id.EventID(message))
	_, err = d.put(ctx, to.room, event.EventMessage, rand.Text(), content)
	return err
}

// Delete implements [channel.Deleter].
func (d *Driver) Delete(ctx context.Context, chat, message string) error {
	to, err := d.place(ctx, chat)
	if err != nil {
		return err
	}
	return d.redact(ctx, to.room, id.EventID(message))
}

func (d *Driver) redact(ctx context.Context, r *room, of id.EventID) error {
	sum := sha256.Sum256([]byte(of))
	key := takenBackKey(r.id, of)
	d.sent.Put(key, of, len(key)+len(of))
	return d.ask(ctx, http.MethodPut, d.client.BuildClientURL("v3", "rooms", r.id, "redact", of, "redact-"+hex.EncodeToString(sum[:16])), struct{}{}, nil)
}

// React implements [channel.Reactor].
func (d *Driver) React(ctx context.Context, r channel.Reaction) error {
	to, err := d.place(ctx, r.Chat)
	if err != nil {
		return err
	}
	key := strings.Join([]string{string(to.room.id), r.ID, r.Emoji}, "\n")
	own, err := d.ownReactions(ctx, to.room, id.EventID(r.ID), r.Emoji)
	if err != nil {
		return unsent(err)
	}
	// A homeserver may tell a little late what it has.
	if known, ok := d.reactions.Get(key); ok && known != "" && !slices.Contains(own, known) {
		own = append(own, known)
	}
	if r.Remove {
		for _, one := range own {
			if err := d.redact(ctx, to.room, one); err != nil {
				return err
			}
		}
		d.reactions.Put(key, "", len(key))
		return nil
	}
	if len(own) > 0 {
		return nil
	}
	content := &event.ReactionEventContent{}
	content.RelatesTo.SetAnnotation(id.EventID(r.ID), r.Emoji)
	sent, err := d.put(ctx, to.room, event.EventReaction, rand.Text(), content)
	if err == nil {
		d.reactions.Put(key, id.EventID(sent), len(key)+len(sent))
	}
	if failed, ok := errors.AsType[*channel.Failure](err); ok && strings.Contains(failed.Error(), "M_DUPLICATE_ANNOTATION") {
		return nil
	}
	return err
}

// ownReactions are the events by which the account reacted to a message in that way.
func (d *Driver) ownReactions(ctx context.Context, r *room, of id.EventID, emoji string) (own []id.EventID, err error) {
	for from := ""; ; {
		query := map[string]string{"limit": "100"}
		if from != "" {
			query["from"] = from
		}
		var page struct {
			Chunk []json.RawMessage `json:"chunk"`
			Next  string            `json:"next_batch"`
		}
		path := mautrix.ClientURLPath{"v1", "rooms", r.id, "relations", of, string(event.RelAnnotation), event.EventReaction.Type}
		if err := d.ask(ctx, http.MethodGet, d.client.BuildURLWithQuery(path, query), nil, &page); err != nil {
			return nil, err
		}
		for _, raw := range page.Chunk {
			evt, ok := parse(raw, r.id)
			if !ok || evt.Sender != d.client.UserID {
				continue
			}
			if content, is := evt.Content.Parsed.(*event.ReactionEventContent); is && content.RelatesTo.Key == emoji {
				own = append(own, evt.ID)
			}
		}
		if page.Next == "" || page.Next == from || len(page.Chunk) == 0 {
			return own, nil
		}
		from = page.Next
	}
}

// typingTime is how long an answer is shown as being written, in milliseconds, unless it is said again.
const typingTime = 30_000

// Typing implements [channel.Typist]. Whoever writes an answer has read the chat: its last message is marked as read.
// Before that nothing is, so that nobody learns by it who listens.
func (d *Driver) Typing(ctx context.Context, chat string, on bool) error {
	to, err := d.place(ctx, chat)
	if err != nil {
		return err
	}
	body := map[string]any{"typing": on}
	if on {
		body["timeout"] = typingTime
	}
	if err := d.ask(ctx, http.MethodPut, d.client.BuildClientURL("v3", "rooms", to.room.id, "typing", d.client.UserID), body, nil); err != nil || !on {
		return err
	}
	last, ok := d.latest.Get(chat)
	if !ok {
		return nil
	}
	thread := "main"
	if to.thread != "" {
		thread = string(to.thread)
	}
	receipt := map[string]string{"thread_id": thread}
	return d.ask(ctx, http.MethodPost, d.client.BuildClientURL("v3", "rooms", to.room.id, "receipt", event.ReceiptTypeRead, last), receipt, nil)
}
