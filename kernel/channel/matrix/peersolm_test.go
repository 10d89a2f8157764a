//go:build peers

package matrix_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto/attachment"
	"maunium.net/go/mautrix/crypto/cryptohelper"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
)

// reader is what Ada's device reads in encrypted rooms.
type reader struct {
	mutex sync.Mutex
	all   []*event.Event
}

func (r *reader) messages() []*event.Event {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]*event.Event(nil), r.all...)
}

// encrypt has Ada's device read and write encrypted rooms.
func (h *house) encrypt() *reader {
	h.t.Helper()
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(h.t.TempDir(), "ada.db")+"?_pragma=journal_mode(wal)&_pragma=foreign_keys(1)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		h.t.Fatal(err)
	}
	database, err := dbutil.NewWithDB(raw, "sqlite")
	if err != nil {
		h.t.Fatal(err)
	}
	helper, err := cryptohelper.NewCryptoHelper(h.ada, []byte("ada"), database)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := helper.Init(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	h.ada.Crypto = helper
	read := &reader{}
	h.ada.Syncer.(*mautrix.DefaultSyncer).OnEventType(event.EventMessage, func(_ context.Context, evt *event.Event) {
		read.mutex.Lock()
		defer read.mutex.Unlock()
		if string(evt.Sender) == h.agent.UserID {
			read.all = append(read.all, evt)
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = h.ada.SyncWithContext(ctx) // it ends with ctx
	}()
	h.t.Cleanup(func() {
		cancel()
		<-ended
		if err := helper.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return read
}

// TestRealEncryption talks in an encrypted room, over restarts of the kernel: texts, files, changes and reactions both ways.
func TestRealEncryption(t *testing.T) {
	h := newHouse(t)
	read := h.encrypt()
	c := h.config()
	c.Keys = t.TempDir()
	w := watch(t, c)
	empty := ""
	h.meet(&event.Event{Type: event.StateEncryption, StateKey: &empty, Content: event.Content{Parsed: &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}}})
	eventually(t, func() error {
		members, err := h.ada.JoinedMembers(t.Context(), h.room)
		if err == nil && len(members.Joined) < 2 {
			err = fmt.Errorf("the agent has not come")
		}
		return err
	})
	reads := func(n int, text string) *event.Event {
		t.Helper()
		var last *event.Event
		eventually(t, func() error {
			all := read.messages()
			if len(all) != n {
				return fmt.Errorf("Ada reads %d messages and not %d", len(all), n)
			}
			last = all[n-1]
			return nil
		})
		if body := last.Content.AsMessage().Body; body != text || !last.Mautrix.WasEncrypted {
			t.Errorf("Ada reads %q and not %q, encrypted: %v", body, text, last.Mautrix.WasEncrypted)
		}
		return last
	}
	question := h.text("a secret")
	if m := w.messages(1)[0]; m.Text != "a secret" || m.ID != question || m.Kind != channel.Said {
		t.Fatalf("it is %+v", m)
	}
	answer, err := w.Send(t.Context(), channel.Outgoing{ID: "turn-1", Chat: string(h.room), Text: plain("kept"), ReplyTo: question})
	if err != nil {
		t.Fatal(err)
	}
	if e := reads(1, "kept"); string(e.ID) != answer || e.Content.AsMessage().RelatesTo.GetReplyTo() != id.EventID(question) {
		t.Errorf("Ada reads %+v", e)
	}

	w.stop()
	again := h.text("another")
	w = watch(t, c)
	if m := w.messages(1)[0]; m.Text != "another" || m.ID != again {
		t.Errorf("it is %+v", m)
	}
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "turn-2", Chat: string(h.room), Text: plain("here"), File: channeltest.File("plan.txt", "text/plain", data)}); err != nil {
		t.Fatal(err)
	}
	sent := reads(2, "here").Content.AsMessage()
	if sent.URL != "" || sent.File == nil || sent.FileName != "plan.txt" {
		t.Fatalf("Ada reads the file %+v", sent)
	}
	stored, err := h.ada.DownloadBytes(t.Context(), sent.File.URL.ParseOrIgnore())
	if err != nil || bytes.Contains(stored, data[:64]) {
		t.Fatalf("the homeserver has the file as it is: %v", err)
	}
	if err := sent.File.DecryptInPlace(stored); err != nil || !bytes.Equal(stored, data) {
		t.Errorf("Ada's file has %d bytes: %v", len(stored), err)
	}

	key := attachment.NewEncryptedFile()
	sealed := bytes.Clone(data)
	key.EncryptInPlace(sealed)
	up, err := h.ada.UploadBytes(t.Context(), sealed, "application/octet-stream")
	if err != nil {
		t.Fatal(err)
	}
	h.say(&event.MessageEventContent{MsgType: event.MsgFile, Body: "letter.txt", File: &event.EncryptedFileInfo{EncryptedFile: *key, URL: up.ContentURI.CUString()}})
	m := w.messages(1)[0]
	if len(m.Attachments) != 1 {
		t.Fatalf("it is %+v", m)
	}
	if got := readAll(t, m.Attachments[0]); !bytes.Equal(got, data) {
		t.Errorf("the file has %d bytes, and not %d", len(got), len(data))
	}
	edited := &event.MessageEventContent{MsgType: event.MsgText, Body: "a greater secret"}
	edited.SetEdit(id.EventID(question))
	h.say(edited)
	if m := w.messages(1)[0]; m.Kind != channel.Edited || m.Of != question || m.Text != "a greater secret" {
		t.Errorf("it is %+v", m)
	}
	if err := w.Edit(t.Context(), string(h.room), answer, plain("kept well")); err != nil {
		t.Fatal(err)
	}
	reads(3, "* kept well")
	if _, err := h.ada.SendReaction(t.Context(), h.room, id.EventID(answer), "🎉"); err != nil {
		t.Fatal(err)
	}
	if m := w.messages(1)[0]; m.Kind != channel.Reacted || m.Of != answer || m.Text != "🎉" {
		t.Errorf("it is %+v", m)
	}

	// Without the keys, nothing is read, nothing is sent openly, and the person is told.
	w.stop()
	c.Keys = ""
	w = watch(t, c)
	h.text("do you read?")
	if m := w.messages(1)[0]; m.Kind != channel.Event {
		t.Errorf("it is %+v", m)
	}
	_, err = w.Send(t.Context(), channel.Outgoing{ID: "turn-3", Chat: string(h.room), Text: plain("no")})
	wantClass(t, err, channel.Refused)
}
