package matrix_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"maunium.net/go/mautrix/crypto/attachment"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/matrixtest"
	"org-agent/kernel/channel/rich"
)

// TestThread checks that an answer goes into the thread of its question, and that what is answered is marked as read then,
// and not before.
func TestThread(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	root := h.Say(t, line("where it began"))
	last := h.Post(h.room, matrixtest.Ada, "m.room.message", with(said("aside"), "m.relates_to", object{"rel_type": "m.thread", "event_id": root}))
	chat := w.messages(2)[1].Chat.ID
	if got := h.Receipts(); len(got) != 0 {
		t.Errorf("before anything is answered, %q is read", got)
	}
	if err := w.Typing(t.Context(), chat, true); err != nil {
		t.Fatal(err)
	}
	if got, want := h.Receipts(), []string{last + " " + root}; !slices.Equal(got, want) {
		t.Errorf("%q is read, and not %q", got, want)
	}
	bold := rich.Text{Plain: "a <b>", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Bold}}}
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "a", Chat: chat, Text: bold}); err != nil {
		t.Fatal(err)
	}
	sent := h.Of(h.room, matrixtest.Agent, "m.room.message")[0].Content
	relation, _ := sent["m.relates_to"].(object)
	if relation["rel_type"] != "m.thread" || relation["event_id"] != root || relation["is_falling_back"] != true {
		t.Errorf("it is %+v", relation)
	}
	if sent["format"] != "org.matrix.custom.html" || sent["formatted_body"] != "<strong>a</strong> &lt;b&gt;" {
		t.Errorf("it is %+v", sent)
	}
}

// TestChats checks which chats there are: rooms, to the letter, threads of them and aliases.
func TestChats(t *testing.T) {
	h := newHome(t)
	h.Alias("#loft:test", h.room)
	w := watch(t, h.config())
	h.Say(t, line("hello"))
	w.messages(1)
	send := func(chat string) error {
		_, err := w.Send(t.Context(), channel.Outgoing{ID: fmt.Sprint("to ", len(chat), "-", chat[:1]), Chat: chat, Text: plain(chat)})
		return err
	}
	for _, chat := range []string{h.room, "#loft:test"} {
		if err := send(chat); err != nil {
			t.Errorf("to %s: %v", chat, err)
		}
	}
	for _, chat := range []string{"!loft:test", "#dovecote:test", "@ada:test", "loft", "!", "!../../admin", "!Loft:test/../x"} {
		wantClass(t, send(chat), channel.Refused)
	}
}

// TestRefusals checks what the answers of a homeserver mean.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		class  channel.FailureClass
		wait   time.Duration
	}{
		{401, `{"errcode":"M_UNKNOWN_TOKEN","error":"Token syt_YWdlbnQ_secretsecretsecret is gone","soft_logout":true}`, channel.Unauthorized, 0},
		{403, `{"errcode":"M_USER_DEACTIVATED","error":"gone"}`, channel.Unauthorized, 0},
		{403, `{"errcode":"M_FORBIDDEN","error":"no"}`, channel.Refused, 0},
		{404, `{"errcode":"M_NOT_FOUND","error":"no"}`, channel.Refused, 0},
		{413, `{"errcode":"M_TOO_LARGE","error":"no"}`, channel.Refused, 0},
		{413, `<html>nginx</html>`, channel.Refused, 0},
		{429, `{"errcode":"M_LIMIT_EXCEEDED","error":"slow","retry_after_ms":2500}`, channel.Temporary, 2500 * time.Millisecond},
		{429, `{"errcode":"M_LIMIT_EXCEEDED","error":"slow","retry_after_ms":-5}`, channel.Temporary, 0},
		{429, `{"errcode":"M_LIMIT_EXCEEDED","error":"slow","retry_after_ms":1e300}`, channel.Temporary, time.Hour},
		{503, `busy`, channel.Temporary, 0},
		{502, `<html>syt_YWdlbnQ_secretsecretsecret</html>`, channel.Unknown, 0},
		{504, ``, channel.Unknown, 0},
		{200, `not JSON`, channel.Unknown, 0},
	} {
		t.Run(fmt.Sprint(c.status, c.body), func(t *testing.T) {
			h := newHome(t)
			d := h.Driver(t)
			h.Fault(func(w http.ResponseWriter, r *http.Request) bool {
				if !isSend(r) {
					return false
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return true
			})
			_, err := d.Send(t.Context(), channel.Outgoing{ID: "a", Chat: h.room, Text: plain("hi")})
			wantClass(t, err, c.class)
			if failed, ok := err.(*channel.Failure); ok && failed.RetryAfter != c.wait {
				t.Errorf("it says to wait for %v, and not %v", failed.RetryAfter, c.wait)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); bytes.Contains([]byte(text), []byte(matrixtest.Token)) {
				t.Error("the error has the token")
			}
		})
	}
}

// TestForgottenTransaction checks that a message that came back from the homeserver is not sent again, although the
// homeserver has forgotten that it was sent.
func TestForgottenTransaction(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	out := channel.Outgoing{ID: "a", Chat: h.room, Text: plain("once")}
	first, err := w.Send(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	w.stop()
	h.Forget()
	h.state = &memory{} // even its place in the stream is lost
	w = watch(t, h.config())
	h.Say(t, line("hello"))
	w.messages(1)
	again, err := w.Send(t.Context(), out)
	if err != nil || again != first || len(h.Of(h.room, matrixtest.Agent, "m.room.message")) != 1 {
		t.Errorf("it is sent as %s and as %s, %v", first, again, err)
	}
}

// TestEncryptedFile checks that an encrypted file is read as it was, that one that was changed on its way is an error, and
// that files are found on homeservers of before 2024.
func TestEncryptedFile(t *testing.T) {
	h := newHome(t)
	h.Old()
	w := watch(t, h.config())
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	for _, spoilt := range []bool{false, true} {
		key := attachment.NewEncryptedFile()
		sealed := bytes.Clone(data)
		key.EncryptInPlace(sealed)
		if spoilt {
			sealed[77]++
		}
		file := object{"url": h.Upload("application/octet-stream", sealed), "v": "v2", "iv": key.InitVector, "hashes": object{"sha256": key.Hashes.SHA256},
			"key": object{"k": key.Key.Key, "alg": "A256CTR", "ext": true, "kty": "oct", "key_ops": []string{"encrypt", "decrypt"}}}
		h.Post(h.room, matrixtest.Ada, "m.room.message", object{"msgtype": "m.file", "body": "a.txt", "file": file})
		opened, err := w.messages(1)[0].Attachments[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(opened)
		if (err != nil) != spoilt || !spoilt && !bytes.Equal(got, data) {
			t.Errorf("changed: %v, read %d bytes, %v", spoilt, len(got), err)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, address := range []string{"", "https://example.org/a", "mxc://", "mxc://test", "mxc://other/file"} {
		h.Post(h.room, matrixtest.Ada, "m.room.message", object{"msgtype": "m.image", "body": "a.png", "url": address})
		_, err := w.messages(1)[0].Attachments[0].Open(t.Context())
		wantClass(t, err, channel.Refused)
	}
}

// TestEncryptedRoom checks that without keys nothing of an encrypted room is read, that it is said, and that nothing is
// sent there openly, from the moment on at which the room is encrypted.
func TestEncryptedRoom(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	h.Say(t, line("hello"))
	w.messages(1)
	h.State(h.room, matrixtest.Ada, "m.room.encryption", object{"algorithm": "m.megolm.v1.aes-sha2"})
	h.Post(h.room, matrixtest.Ada, "m.room.encrypted", object{"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgAEnACgA", "session_id": "s", "sender_key": "k", "device_id": "d"})
	for _, m := range w.messages(2) {
		if m.Kind != channel.Event {
			t.Errorf("it is %+v", m)
		}
	}
	_, err := w.Send(t.Context(), channel.Outgoing{ID: "a", Chat: h.room, Text: plain("hi")})
	wantClass(t, err, channel.Refused)
	wantClass(t, w.Edit(t.Context(), h.room, "$x", plain("hi")), channel.Refused)
	if sent := h.Of(h.room, matrixtest.Agent, "m.room.message"); len(sent) != 0 {
		t.Errorf("there is %+v", sent)
	}
}
