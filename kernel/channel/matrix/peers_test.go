//go:build peers

package matrix_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/homeserver"
	"org-agent/kernel/channel/matrix"
	"org-agent/kernel/secret"
)

// house is a real homeserver, with Ada, who uses a library, and the agent.
type house struct {
	*homeserver.Server
	t     *testing.T
	ada   *mautrix.Client
	agent homeserver.Account
	state *memory
	room  id.RoomID
}

func newHouse(t *testing.T) *house {
	t.Helper()
	programs := os.Getenv("ORG_AGENT_PEERS")
	if programs == "" {
		t.Fatal("ORG_AGENT_PEERS names no directory of programs: run this by \"make test-peers\"")
	}
	h := &house{Server: homeserver.Start(t, programs), t: t, state: &memory{}}
	h.agent = h.Register(t, "agent")
	ada := h.Register(t, "ada")
	var err error
	if h.ada, err = mautrix.NewClient(h.URL, id.UserID(ada.UserID), ada.Token); err != nil {
		t.Fatal(err)
	}
	h.ada.DeviceID = id.DeviceID(ada.Device)
	h.ada.Client = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(h.ada.Client.CloseIdleConnections)
	return h
}

func (h *house) config() matrix.Config {
	return matrix.Config{
		URL: h.URL, Token: secret.Text(h.agent.Token), State: h.state, HTTP: &http.Client{Transport: &http.Transport{}},
		Pause: 20 * time.Millisecond, LongestPause: 200 * time.Millisecond, MayInvite: func(sender string) bool { return sender == string(h.ada.UserID) },
	}
}

// meet has Ada make a room and invite the agent.
func (h *house) meet(state ...*event.Event) {
	h.t.Helper()
	request := &mautrix.ReqCreateRoom{Preset: "trusted_private_chat", IsDirect: true, Invite: []id.UserID{id.UserID(h.agent.UserID)}, InitialState: state}
	made, err := h.ada.CreateRoom(h.t.Context(), request)
	for tries := 0; err != nil && tries < 3; tries++ { // on a machine that does much else, this homeserver fails by itself
		time.Sleep(100 * time.Millisecond)
		made, err = h.ada.CreateRoom(h.t.Context(), request)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.room = made.RoomID
}

func (h *house) say(content *event.MessageEventContent) string {
	h.t.Helper()
	sent, err := h.ada.SendMessageEvent(h.t.Context(), h.room, event.EventMessage, content)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(sent.EventID)
}

func (h *house) text(text string) string {
	return h.say(&event.MessageEventContent{MsgType: event.MsgText, Body: text})
}

// sees returns the agent's events of a kind as Ada sees them, in their order.
func (h *house) sees(kind event.Type) (all []*event.Event) {
	h.t.Helper()
	for from := ""; ; {
		page, err := h.ada.Messages(h.t.Context(), h.room, from, "", mautrix.DirectionBackward, nil, 200)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range page.Chunk {
			if string(e.Sender) == h.agent.UserID && e.Type == kind && len(e.Content.Raw) > 0 {
				if err := e.Content.ParseRaw(e.Type); err != nil {
					h.t.Fatal(err)
				}
				all = append(all, e)
			}
		}
		if from = page.End; from == "" || len(page.Chunk) == 0 {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// TestRealHomeserver carries one conversation to a real homeserver and back: an invitation, texts, a thread, files,
// reactions and changes both ways, restarts of both sides, and nothing lost or doubled.
func TestRealHomeserver(t *testing.T) {
	h := newHouse(t)
	w := watch(t, h.config())
	h.meet()
	h.text("hello")
	got := w.messages(1)
	if m := got[0]; m.Text != "hello" || m.Chat.ID != string(h.room) || m.Chat.Group || m.Sender.ID != string(h.ada.UserID) || m.Myself {
		t.Fatalf("it is %+v", m)
	}

	// A round trip: Ada's message comes, and an answer goes.
	began := time.Now()
	question := h.text("how are you?")
	w.messages(1)
	answer, err := w.Send(t.Context(), channel.Outgoing{ID: "turn-1", Chat: string(h.room), Text: plain("Well."), ReplyTo: question})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("round trip %v", time.Since(began).Round(100*time.Microsecond))

	// Reactions both ways.
	react := func(remove bool) {
		if err := w.React(t.Context(), channel.Reaction{Chat: string(h.room), ID: question, Emoji: "👍", Remove: remove}); err != nil {
			t.Fatal(err)
		}
	}
	react(false)
	react(false)
	if all := h.sees(event.EventReaction); len(all) != 1 || all[0].Content.AsReaction().RelatesTo.EventID != id.EventID(question) {
		t.Errorf("Ada sees the reactions %+v", all)
	}
	react(true)
	react(true)
	if all := h.sees(event.EventReaction); len(all) != 0 {
		t.Errorf("Ada sees the reactions %+v", all)
	}
	reaction, err := h.ada.SendReaction(t.Context(), h.room, id.EventID(answer), "🎉")
	if err != nil {
		t.Fatal(err)
	}
	if m := w.messages(1)[0]; m.Kind != channel.Reacted || m.Of != answer || m.Text != "🎉" {
		t.Errorf("it is %+v", m)
	}

	// The kernel is started again; meanwhile the reaction is taken back, and more is said than one answer has.
	w.stop()
	if _, err := h.ada.RedactEvent(t.Context(), h.room, reaction.EventID); err != nil {
		t.Fatal(err)
	}
	const many = 230
	for i := range many {
		h.text(fmt.Sprint("message ", i))
	}
	w = watch(t, h.config())
	got = w.messages(1 + many)
	if m := got[0]; m.Kind != channel.Unreact || m.Of != answer || m.Text != "🎉" {
		t.Errorf("it is %+v", m)
	}
	for i, m := range got[1:] {
		if m.Text != fmt.Sprint("message ", i) {
			t.Fatalf("message %d is %+v", i, m)
		}
	}

	// Files both ways.
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	up, err := h.ada.UploadBytesWithName(t.Context(), data, "application/pdf", "letter.pdf")
	if err != nil {
		t.Fatal(err)
	}
	h.say(&event.MessageEventContent{MsgType: event.MsgFile, Body: "look", FileName: "letter.pdf", URL: up.ContentURI.CUString(), Info: &event.FileInfo{MimeType: "application/pdf", Size: len(data)}})
	m := w.messages(1)[0]
	if len(m.Attachments) != 1 || m.Text != "look" || m.Attachments[0].Name != "letter.pdf" {
		t.Fatalf("it is %+v", m)
	}
	if read := readAll(t, m.Attachments[0]); !bytes.Equal(read, data) {
		t.Errorf("the file has %d bytes, and not %d", len(read), len(data))
	}
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "turn-2", Chat: string(h.room), Text: plain("here"), File: channeltest.File("chart.png", "image/png", data)}); err != nil {
		t.Fatal(err)
	}
	sent := h.sees(event.EventMessage)
	if content := sent[len(sent)-1].Content.AsMessage(); content.MsgType != event.MsgImage || content.FileName != "chart.png" || content.Body != "here" {
		t.Errorf("Ada sees %+v", content)
	} else if read, err := h.ada.DownloadBytes(t.Context(), content.URL.ParseOrIgnore()); err != nil || !bytes.Equal(read, data) {
		t.Errorf("Ada's file has %d bytes: %v", len(read), err)
	}

	// Changes both ways, and a thread.
	if err := w.Edit(t.Context(), string(h.room), answer, plain("Very well.")); err != nil {
		t.Fatal(err)
	}
	if err := w.Typing(t.Context(), string(h.room), true); err != nil {
		t.Fatal(err)
	}
	edited := &event.MessageEventContent{MsgType: event.MsgText, Body: "how are you today?"}
	edited.SetEdit(id.EventID(question))
	h.say(edited)
	if m := w.messages(1)[0]; m.Kind != channel.Edited || m.Of != question || m.Text != "how are you today?" {
		t.Errorf("it is %+v", m)
	}
	aside := &event.MessageEventContent{MsgType: event.MsgText, Body: "aside", RelatesTo: (&event.RelatesTo{}).SetThread(id.EventID(question), id.EventID(question))}
	h.say(aside)
	m = w.messages(1)[0]
	if m.Chat.ID != string(h.room)+"/"+question || m.Reply != nil {
		t.Errorf("it is %+v", m)
	}
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "turn-3", Chat: m.Chat.ID, Text: plain("in it")}); err != nil {
		t.Fatal(err)
	}
	sent = h.sees(event.EventMessage)
	if relation := sent[len(sent)-1].Content.AsMessage().RelatesTo; relation.GetThreadParent() != id.EventID(question) || relation.GetNonFallbackReplyTo() != "" {
		t.Errorf("in the thread, Ada sees %+v", relation)
	}

	// The homeserver is switched off and on: what is sent again appears once.
	out := channel.Outgoing{ID: "turn-4", Chat: string(h.room), Text: plain("once")}
	first, err := w.Send(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	h.Stop(t)
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "turn-5", Chat: string(h.room), Text: plain("later")}); err == nil {
		t.Error("it was sent to nobody")
	}
	h.Restart(t)
	h.text("are you back?")
	if m := w.messages(1)[0]; m.Text != "are you back?" {
		t.Errorf("it is %+v", m)
	}
	if again, err := w.Send(t.Context(), out); err != nil || again != first {
		t.Errorf("what is sent again is %s and not %s, %v", again, first, err)
	}
	if err := w.Delete(t.Context(), string(h.room), first); err != nil {
		t.Fatal(err)
	}
	h.text("end")
	if m := w.messages(1)[0]; m.Text != "end" {
		t.Errorf("it is %+v", m)
	}
	var texts []string
	for _, e := range h.sees(event.EventMessage) {
		texts = append(texts, e.Content.AsMessage().Body)
	}
	if got, want := strings.Join(texts, ", "), "Well., here, * Very well., in it"; got != want {
		t.Errorf("Ada sees %s\nand not %s", got, want)
	}
}

func readAll(t *testing.T, a channel.Attachment) []byte {
	t.Helper()
	in, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRealHomeserverTakesOnlyTokens checks what a real homeserver says to a token that it does not know, and to chats that
// do not exist.
func TestRealHomeserverTakesOnlyTokens(t *testing.T) {
	h := newHouse(t)
	c := h.config()
	d := matrix.New(c)
	if who, err := d.Check(t.Context()); err != nil || who.ID != h.agent.UserID {
		t.Errorf("the account is %+v, %v", who, err)
	}
	for _, chat := range []string{"!nowhere:localhost", "#nowhere:localhost", "nowhere"} {
		_, err := d.Send(t.Context(), channel.Outgoing{ID: "a", Chat: chat, Text: plain("hi")})
		wantClass(t, err, channel.Refused)
	}
	c.Token = "nobody"
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	wantClass(t, matrix.New(c).Run(ctx, func(context.Context, channel.Message) error { return nil }), channel.Unauthorized)
	c.HTTP.CloseIdleConnections()
}
