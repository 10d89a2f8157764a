package telegram_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/channel/telegram"
)

// The chats of the tests of sending.
const (
	group int64 = -4005
	super int64 = -1002003004005
	forum int64 = -1002003004006
)

// newChats returns a bot with chats, and the number of a topic in the forum.
func newChats() (*loft, int) {
	l := newLoft()
	l.AddChat(telegramtest.Chat{ID: group, Type: "group", Title: "Loft"})
	l.AddChat(telegramtest.Chat{ID: super, Type: "supergroup", Title: "Roof"})
	l.AddChat(telegramtest.Chat{ID: forum, Type: "supergroup", Title: "Tower", IsForum: true})
	return l, l.AddTopic(forum, "Doves")
}

// picture returns a PNG.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSend checks what Telegram gets for messages.
func TestSend(t *testing.T) {
	long := strings.Repeat("word ", 300)
	song := []byte("ID3 song")
	for name, c := range map[string]struct {
		chat int64
		out  channel.Outgoing
		want []telegramtest.Message
	}{
		"a text": {telegramtest.Ada, channel.Outgoing{Text: rich.Plain("hi\n\tthere")}, []telegramtest.Message{{Method: "sendMessage", Text: "hi\n\tthere"}}},
		"looks": {super, channel.Outgoing{Text: rich.Text{Plain: "🕊 bold code link\nx := 1\n", Spans: []rich.Span{
			{Start: 0, End: 19, Style: rich.Quote}, {Start: 5, End: 19, Style: rich.Bold}, {Start: 10, End: 14, Style: rich.Code}, {Start: 15, End: 19, Style: rich.Link, Value: "https://example.org/"}, {Start: 20, End: 26, Style: rich.Block, Value: "go"},
		}}}, []telegramtest.Message{{Method: "sendMessage", Text: "🕊 bold code link\nx := 1\n", Looks: []telegramtest.Entity{
			{Type: "blockquote", Offset: 0, Length: 17}, {Type: "bold", Offset: 3, Length: 5}, {Type: "code", Offset: 8, Length: 4}, {Type: "bold", Offset: 12, Length: 5}, {Type: "text_link", Offset: 13, Length: 4, URL: "https://example.org/"}, {Type: "pre", Offset: 18, Length: 6, Language: "go"},
		}}}},
		"a link to elsewhere": {super, channel.Outgoing{Text: rich.Text{Plain: "my key", Spans: []rich.Span{{Start: 0, End: 6, Style: rich.Link, Value: "file:///etc/passwd"}}}},
			[]telegramtest.Message{{Method: "sendMessage", Text: "my key"}}},
		"a reply": {super, channel.Outgoing{Text: rich.Plain("yes"), ReplyTo: fmt.Sprintf("%d:1", super)}, []telegramtest.Message{{Method: "sendMessage", Text: "yes", ReplyTo: 1}}},
		"a reply to an edit": {super, channel.Outgoing{Text: rich.Plain("yes"), ReplyTo: fmt.Sprintf("%d:1:u900000009", super)},
			[]telegramtest.Message{{Method: "sendMessage", Text: "yes", ReplyTo: 1}}},
		"a reply to what is gone": {super, channel.Outgoing{Text: rich.Plain("yes"), ReplyTo: fmt.Sprintf("%d:4711", super)}, []telegramtest.Message{{Method: "sendMessage", Text: "yes"}}},
		"a reply to another chat": {super, channel.Outgoing{Text: rich.Plain("yes"), ReplyTo: "4711:1"}, []telegramtest.Message{{Method: "sendMessage", Text: "yes"}}},
		"a reply to nothing":      {super, channel.Outgoing{Text: rich.Plain("yes"), ReplyTo: "x"}, []telegramtest.Message{{Method: "sendMessage", Text: "yes"}}},
		"buttons": {telegramtest.Ada, channel.Outgoing{Text: rich.Plain("May I?"), Buttons: [][]channel.Button{{{Label: "Yes", Data: "yes"}, {Label: "No", Data: "no"}}, {{Label: "Later", Data: "later"}}}},
			[]telegramtest.Message{{Method: "sendMessage", Text: "May I?", Buttons: [][]telegramtest.Button{{{Text: "Yes", Data: "yes"}, {Text: "No", Data: "no"}}, {{Text: "Later", Data: "later"}}}}}},
		"a document": {telegramtest.Ada, channel.Outgoing{Text: rich.Plain("here"), File: channeltest.File("a \"b\"\r\n/c.pdf", "application/pdf", []byte("%PDF"))},
			[]telegramtest.Message{{Method: "sendDocument", Text: "here", Name: "a _b____c.pdf", Data: []byte("%PDF")}}},
		"a picture": {telegramtest.Ada, channel.Outgoing{File: channeltest.File("a.png", "image/png", picture(t, 4, 4))},
			[]telegramtest.Message{{Method: "sendPhoto", Name: "a.png", Data: picture(t, 4, 4)}}},
		"a narrow picture": {telegramtest.Ada, channel.Outgoing{File: channeltest.File("a.png", "image/png", picture(t, 1, 40))},
			[]telegramtest.Message{{Method: "sendDocument", Name: "a.png", Data: picture(t, 1, 40)}}},
		"no picture": {telegramtest.Ada, channel.Outgoing{File: channeltest.File("a.png", "image/png", []byte("text"))},
			[]telegramtest.Message{{Method: "sendDocument", Name: "a.png", Data: []byte("text")}}},
		"a song":           {telegramtest.Ada, channel.Outgoing{File: channeltest.File("a.mp3", "audio/mpeg", song)}, []telegramtest.Message{{Method: "sendAudio", Name: "a.mp3", Data: song}}},
		"a film":           {telegramtest.Ada, channel.Outgoing{File: channeltest.File("a.mp4", "video/mp4", song)}, []telegramtest.Message{{Method: "sendVideo", Name: "a.mp4", Data: song}}},
		"a moving picture": {telegramtest.Ada, channel.Outgoing{File: channeltest.File("a.gif", "image/gif", song)}, []telegramtest.Message{{Method: "sendAnimation", Name: "a.gif", Data: song}}},
		"speech":           {telegramtest.Ada, channel.Outgoing{File: voice("a.ogg", "audio/ogg; codecs=opus", song)}, []telegramtest.Message{{Method: "sendVoice", Name: "a.ogg", Data: song}}},
		"speech that is no speech on Telegram": {telegramtest.Ada, channel.Outgoing{File: voice("a.wav", "audio/wav", song)},
			[]telegramtest.Message{{Method: "sendDocument", Name: "a.wav", Data: song}}},
		"a file without a name": {telegramtest.Ada, channel.Outgoing{File: channeltest.File("..", "", song)}, []telegramtest.Message{{Method: "sendDocument", Name: "file", Data: song}}},
		"a file and a long text": {telegramtest.Ada, channel.Outgoing{Text: rich.Plain(long), File: channeltest.File("a.txt", "text/plain", song), Buttons: [][]channel.Button{{{Label: "Yes", Data: "yes"}}}},
			[]telegramtest.Message{{Method: "sendMessage", Text: long, Buttons: [][]telegramtest.Button{{{Text: "Yes", Data: "yes"}}}}, {Method: "sendDocument", Name: "a.txt", Data: song}}},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newChats()
			l.Say(super, map[string]any{"text": "May I?"})
			c.out.ID, c.out.Chat = "out-1", fmt.Sprint(c.chat)
			id, err := l.driver.Send(t.Context(), c.out)
			if err != nil {
				t.Fatal(err)
			}
			sent := l.Sent(c.chat)
			if want := fmt.Sprintf("%d:%d", c.chat, sent[0].ID); id != want {
				t.Errorf("the ID is %s, not %s", id, want)
			}
			for i := range sent {
				sent[i] = telegramtest.Message{Method: sent[i].Method, Text: sent[i].Text, Looks: sent[i].Looks, ReplyTo: sent[i].ReplyTo, Buttons: sent[i].Buttons, Name: sent[i].Name, Data: sent[i].Data}
			}
			if !reflect.DeepEqual(sent, c.want) {
				t.Errorf("sent\n%+v\nwant\n%+v", sent, c.want)
			}
		})
	}
}

func voice(name, media string, data []byte) *channel.File {
	f := channeltest.File(name, media, data)
	f.Voice = true
	return f
}

// TestTopic checks that what is sent to a topic is in it, and that what people do there has its chat.
func TestTopic(t *testing.T) {
	l, topic := newChats()
	chat := fmt.Sprintf("%d/%d", forum, topic)
	id, err := l.driver.Send(t.Context(), text(chat, "coo"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.driver.Typing(t.Context(), chat, true); err != nil {
		t.Error(err)
	}
	sent := l.Sent(forum)
	if len(sent) != 1 || sent[0].Thread != topic {
		t.Fatalf("sent %+v", sent)
	}
	stop := l.run(t.Context())
	l.Update("message_reaction", map[string]any{
		"chat": map[string]any{"id": forum, "type": "supergroup", "title": "Tower"}, "message_id": sent[0].ID, "date": 1, "user": map[string]any{"id": 1001, "first_name": "Ada"},
		"old_reaction": []any{}, "new_reaction": []any{map[string]any{"type": "emoji", "emoji": "👍"}},
	})
	got := l.messages(t, 2)
	if m := got[1]; m.Chat.ID != chat || m.Of != id || m.Text != "👍" {
		t.Errorf("the reaction is %+v, and not of %s in %s", m, id, chat)
	}
	stopped(t, stop)
	if _, err := l.driver.Send(t.Context(), text(fmt.Sprintf("%d/4711", forum), "coo")); classOf(t, err) != channel.Refused {
		t.Errorf("to a topic that there is not: %v", err)
	}
}

// TestFailures checks what the answers of Telegram mean to whoever sends, and that what was not sent is not there.
func TestFailures(t *testing.T) {
	plain := text(ada, "hi")
	with := func(change func(*channel.Outgoing)) channel.Outgoing {
		out := plain
		change(&out)
		return out
	}
	ok := func(*loft) {}
	fail := func(o telegramtest.Outcome) func(*loft) { return func(l *loft) { l.Fail("sendMessage", o) } }
	for name, c := range map[string]struct {
		out   channel.Outgoing
		set   func(*loft)
		class channel.FailureClass
	}{
		"no such chat":             {text("4711", "hi"), ok, channel.Refused},
		"no number":                {text("ada", "hi"), ok, channel.Refused},
		"a number otherwise":       {text("+1001", "hi"), ok, channel.Refused},
		"a topic of nothing":       {text("1001/0", "hi"), ok, channel.Refused},
		"blocked":                  {plain, func(l *loft) { l.Block(telegramtest.Ada, "Forbidden: bot was blocked by the user") }, channel.Refused},
		"too long":                 {text(ada, strings.Repeat("🕊", 2049)), ok, channel.Refused},
		"nothing":                  {text(ada, " \n "), ok, channel.Refused},
		"a file of nothing":        {with(func(o *channel.Outgoing) { o.File = channeltest.File("a", "", nil) }), ok, channel.Refused},
		"a file that is too large": {with(func(o *channel.Outgoing) { o.File = &channel.File{Name: "a", Size: 51 << 20} }), ok, channel.Refused},
		"a file that cannot be opened": {with(func(o *channel.Outgoing) {
			o.File = &channel.File{Name: "a", Size: 5, Open: func() (io.ReadCloser, error) { return nil, errors.New("it is gone") }}
		}), ok, channel.Refused},
		"a file that breaks off": {with(func(o *channel.Outgoing) {
			o.File = &channel.File{Name: "a", Size: 5, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(strings.NewReader("ab"), broken{})), nil
			}}
		}), ok, channel.Temporary},
		"a button of too much": {with(func(o *channel.Outgoing) {
			o.Buttons = [][]channel.Button{{{Label: "Yes", Data: strings.Repeat("x", 65)}}}
		}), ok, channel.Refused},
		"too many":                {plain, fail(telegramtest.TooMany(7)), channel.Temporary},
		"revoked":                 {plain, func(l *loft) { l.Revoke() }, channel.Unauthorized},
		"away":                    {plain, func(l *loft) { l.Down(true) }, channel.Temporary},
		"no answer":               {plain, fail(telegramtest.Outcome{Lost: true}), channel.Unknown},
		"an error of theirs":      {plain, fail(telegramtest.Outcome{Code: 500, Description: "Internal Server Error"}), channel.Unknown},
		"a machine before it":     {plain, fail(telegramtest.Outcome{Code: 502, Body: "<html>Bad Gateway"}), channel.Unknown},
		"they are overloaded":     {plain, fail(telegramtest.Outcome{Code: 503, Body: "<html>Service Unavailable"}), channel.Temporary},
		"somebody in between":     {plain, fail(telegramtest.Outcome{Code: 200, Body: "<html>Log in to this network"}), channel.Unknown},
		"sent elsewhere":          {plain, fail(telegramtest.Outcome{Code: 302, Body: "<html>Moved"}), channel.Temporary},
		"logged out":              {plain, fail(telegramtest.Outcome{Code: 400, Description: "Logged out"}), channel.Unauthorized},
		"too large for them":      {plain, fail(telegramtest.Outcome{Code: 413, Description: "Request Entity Too Large"}), channel.Refused},
		"no rights":               {plain, fail(telegramtest.Outcome{Code: 400, Description: "Bad Request: not enough rights to send text messages to the chat"}), channel.Refused},
		"the token in the answer": {plain, fail(telegramtest.Outcome{Code: 400, Description: "Bad Request: /bot" + telegramtest.Token + "/sendMessage"}), channel.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLoft()
			c.set(l)
			id, err := l.driver.Send(t.Context(), c.out)
			if classOf(t, err) != c.class || id != "" {
				t.Fatalf("it ended with %q, %v, and not as %q", id, err, c.class)
			}
			if strings.Contains(fmt.Sprintf("%v %#v", err, err), telegramtest.Token) {
				t.Errorf("the token is in %v", err)
			}
			if there := len(l.Sent(telegramtest.Ada)) > 0; there != (name == "no answer") {
				t.Errorf("it was sent: %v", there)
			}
			if f := (*channel.Failure)(nil); errors.As(err, &f) && (f.RetryAfter.Seconds() == 7) != (name == "too many") {
				t.Errorf("it is to be sent again after %s", f.RetryAfter)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the disk is broken") }

// TestSecondPart checks that a message of two parts whose second failed goes on with that when it is sent again.
func TestSecondPart(t *testing.T) {
	l := newLoft()
	out := channel.Outgoing{ID: "out-1", Chat: ada, Text: rich.Plain(strings.Repeat("word ", 300)), File: channeltest.File("a.txt", "text/plain", []byte("file"))}
	l.Fail("sendDocument", telegramtest.TooMany(1))
	if _, err := l.driver.Send(t.Context(), out); classOf(t, err) != channel.Temporary {
		t.Fatalf("it ended with %v", err)
	}
	id, err := l.driver.Send(t.Context(), out)
	sent := l.Sent(telegramtest.Ada)
	if err != nil || len(sent) != 2 || sent[0].Text == "" || string(sent[1].Data) != "file" || id != fmt.Sprintf("%s:%d", ada, sent[0].ID) {
		t.Errorf("%q, %v, sent %+v", id, err, sent)
	}
}

// TestMigration checks that a group that becomes a supergroup gets its messages, whether Telegram told of it in an update
// or in an answer, and after a restart. What was in the group cannot be changed any more.
func TestMigration(t *testing.T) {
	l, _ := newChats()
	before, err := l.driver.Send(t.Context(), text("-4005", "one"))
	if err != nil {
		t.Fatal(err)
	}
	l.Migrate(group, super)
	answer := text("-4005", "two")
	answer.ReplyTo = before
	id, err := l.driver.Send(t.Context(), answer)
	if err != nil || !strings.HasPrefix(id, fmt.Sprint(super)) || len(l.Sent(super)) != 1 {
		t.Fatalf("%s, %v, sent %+v", id, err, l.Sent(super))
	}
	if err := l.driver.Edit(t.Context(), "-4005", id, rich.Plain("two and a half")); err != nil || l.Sent(super)[0].Text != "two and a half" {
		t.Errorf("edited: %v, %+v", err, l.Sent(super))
	}
	if err := l.driver.Edit(t.Context(), "-4005", before, rich.Plain("one and a half")); classOf(t, err) != channel.Refused {
		t.Errorf("edited what is in the former group: %v", err)
	}
	again := telegram.New(telegram.Config{Token: telegramtest.Token, HTTP: l.Client(), State: l.state})
	calls := l.Calls("sendMessage")
	answer.ReplyTo = before
	if _, err := again.Send(t.Context(), answer); err != nil || l.Calls("sendMessage") != calls+1 || l.Sent(super)[1].ReplyTo != 0 {
		t.Errorf("after a restart: %v, %d calls, %+v", err, l.Calls("sendMessage")-calls, l.Sent(super))
	}
	l2, _ := newChats()
	stop := l2.run(t.Context())
	l2.Migrate(group, super)
	l2.messages(t, 2)
	stopped(t, stop)
	calls = l2.Calls("sendMessage")
	if _, err := l2.driver.Send(t.Context(), text("-4005", "three")); err != nil || l2.Calls("sendMessage") != calls+1 || len(l2.Sent(super)) != 1 {
		t.Errorf("told by an update: %v, sent %+v", err, l2.Sent(super))
	}
}

// TestEdit checks that texts and captions are changed, and that the same text once more is no error.
func TestEdit(t *testing.T) {
	l := newLoft()
	file := text(ada, "a picture")
	file.File = channeltest.File("a.png", "image/png", picture(t, 4, 4))
	for i, out := range []channel.Outgoing{text(ada, "a text"), file} {
		id, err := l.driver.Send(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := l.driver.Edit(t.Context(), ada, id, rich.Text{Plain: "other", Spans: []rich.Span{{Start: 0, End: 5, Style: rich.Bold}}}); err != nil {
				t.Error(err)
			}
		}
		if m := l.Sent(telegramtest.Ada)[i]; m.Text != "other" || len(m.Looks) != 1 || m.Edits != 1 {
			t.Errorf("it is %+v", m)
		}
		err = l.driver.Edit(t.Context(), ada, id, rich.Plain(strings.Repeat("x", 1025)))
		if (classOf(t, err) == channel.Refused) != (out.File != nil) {
			t.Errorf("a long text: %v", err)
		}
		if err := l.driver.Edit(t.Context(), ada, id, rich.Plain("")); classOf(t, err) != channel.Refused {
			t.Errorf("no text: %v", err)
		}
	}
	theirs := l.Say(telegramtest.Ada, map[string]any{"text": "mine"})
	for _, id := range []string{fmt.Sprintf("%s:%d", ada, theirs), ada + ":4711", "4711:1", "1"} {
		if err := l.driver.Edit(t.Context(), ada, id, rich.Plain("yours")); classOf(t, err) != channel.Refused {
			t.Errorf("edited %s: %v", id, err)
		}
	}
}

// TestDelete checks that a message is taken back, and that to do it twice is no error.
func TestDelete(t *testing.T) {
	l := newLoft()
	id, err := l.driver.Send(t.Context(), text(ada, "hi"))
	for range 2 {
		err = errors.Join(err, l.driver.Delete(t.Context(), ada, id))
	}
	if err != nil || len(l.Sent(telegramtest.Ada)) != 0 {
		t.Errorf("%v, sent %+v", err, l.Sent(telegramtest.Ada))
	}
	if err := l.driver.Delete(t.Context(), ada, "nothing"); classOf(t, err) != channel.Refused {
		t.Errorf("what is no message: %v", err)
	}
}

// TestReact checks that a reaction is given and taken back, each as often as one likes, and that one takes the other's place.
func TestReact(t *testing.T) {
	l := newLoft()
	message := l.Say(telegramtest.Ada, map[string]any{"text": "look"})
	id := fmt.Sprintf("%s:%d", ada, message)
	for _, step := range []struct {
		emoji  string
		remove bool
		want   string
	}{
		{"👍", false, "👍"}, {"👍", false, "👍"}, {"❤️", false, "❤"}, {"👍", true, "❤"}, {"❤", true, ""}, {"❤", true, ""}, {"🤷‍♀️", false, "🤷‍♀"},
	} {
		if err := l.driver.React(t.Context(), channel.Reaction{Chat: ada, ID: id, Emoji: step.emoji, Remove: step.remove}); err != nil {
			t.Errorf("%+v: %v", step, err)
		}
		if got := strings.Join(l.Reactions(telegramtest.Ada, message), " "); got != step.want {
			t.Errorf("after %+v the reactions are %q", step, got)
		}
	}
	for _, r := range []channel.Reaction{{Chat: ada, ID: id, Emoji: "🦖"}, {Chat: ada, ID: id}, {Chat: ada, ID: ada + ":4711", Emoji: "👍"}, {Chat: ada, ID: "", Emoji: "👍"}} {
		if err := l.driver.React(t.Context(), r); classOf(t, err) != channel.Refused {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, emoji := range l.driver.Capabilities().Emoji {
		if err := l.driver.React(t.Context(), channel.Reaction{Chat: ada, ID: id, Emoji: emoji}); err != nil || !slices.Equal(l.Reactions(telegramtest.Ada, message), []string{emoji}) {
			t.Errorf("%q: %v", emoji, err)
		}
	}
}

// TestTyping checks that only the beginning is told.
func TestTyping(t *testing.T) {
	l := newLoft()
	for _, on := range []bool{true, false} {
		if err := l.driver.Typing(t.Context(), ada, on); err != nil {
			t.Error(err)
		}
	}
	if n := l.Calls("sendChatAction"); n != 1 {
		t.Errorf("Telegram was told %d times", n)
	}
	if err := l.driver.Typing(t.Context(), "nowhere", true); classOf(t, err) != channel.Refused {
		t.Errorf("nowhere: %v", err)
	}
}

// TestButton checks that who presses a button is told of, and that Telegram hears that it arrived.
func TestButton(t *testing.T) {
	l := newLoft()
	out := text(ada, "May I?")
	out.Buttons = [][]channel.Button{{{Label: "Yes", Data: "yes-1"}}}
	id, err := l.driver.Send(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	stop := l.run(t.Context())
	query := l.Press(telegramtest.Ada, l.Sent(telegramtest.Ada)[0].ID, "yes-1")
	if m := l.messages(t, 1)[0]; m.Kind != channel.Pressed || m.Text != "yes-1" || m.Of != id || m.Chat.ID != ada || m.Chat.Group || m.Sender.ID != ada {
		t.Errorf("it is %+v", m)
	}
	l.Wait(t, "the answer to the button", func() bool { return l.Answered(query) })
	stopped(t, stop)
}

// TestLooks checks that Telegram takes any text that keeps the promises of its type.
func TestLooks(t *testing.T) {
	l := newLoft()
	rapid.Check(t, func(r *rapid.T) {
		plain := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "word", "🕊", "é", " ", "\n", "👩‍🚀", "م", "x\ny"}), 1, 30).Draw(r, "words"), "") + "end"
		w := looks{rapid: r, text: rich.Text{Plain: plain}, open: map[rich.Style]bool{}}
		w.draw(0, len(plain))
		if err := w.text.Check(); err != nil {
			r.Fatalf("%+v: %v", w.text, err)
		}
		if _, err := l.driver.Send(t.Context(), channel.Outgoing{ID: "out", Chat: ada, Text: w.text}); err != nil {
			r.Fatalf("%+v: %v", w.text, err)
		}
		sent := l.Sent(telegramtest.Ada)
		units := utf16.Encode([]rune(plain))
		for _, e := range sent[len(sent)-1].Looks {
			shown := string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
			if e.Type == "text_link" && !slices.ContainsFunc(w.text.Spans, func(s rich.Span) bool { return s.Style == rich.Link && strings.Contains(plain[s.Start:s.End], shown) }) {
				r.Fatalf("%q is a link in %+v", shown, w.text)
			}
		}
	})
}

// looks draws spans that keep the promises of [rich.Text].
type looks struct {
	rapid *rapid.T
	text  rich.Text
	open  map[rich.Style]bool
}

// draw draws spans between two bytes.
func (w *looks) draw(from, to int) {
	for from < to && rapid.Bool().Draw(w.rapid, "span") {
		style := rich.Style(rapid.IntRange(int(rich.Bold), int(rich.Link)).Draw(w.rapid, "style"))
		starts, ends := w.edges(from, to, style == rich.Block || style == rich.Quote)
		if w.open[style] || w.open[rich.Code] || w.open[rich.Block] || len(starts) == 0 {
			return
		}
		s := rich.Span{Start: rapid.SampledFrom(starts).Draw(w.rapid, "start"), Style: style}
		ends = slices.DeleteFunc(ends, func(end int) bool { return end <= s.Start })
		if len(ends) == 0 {
			return
		}
		s.End = rapid.SampledFrom(ends).Draw(w.rapid, "end")
		if style == rich.Link {
			s.Value = rapid.SampledFrom([]string{"https://example.org/", "mailto:ada@example.org", "nothing", "http://[", ""}).Draw(w.rapid, "address")
		}
		w.text.Spans = append(w.text.Spans, s)
		w.open[style] = true
		w.draw(s.Start, s.End)
		w.open[style] = false
		from = s.End
	}
}

// edges returns where a span may begin and end: between characters, or between lines.
func (w *looks) edges(from, to int, lines bool) (starts, ends []int) {
	for i := range w.text.Plain + "." {
		if i >= from && i < to && (!lines || i == 0 || w.text.Plain[i-1] == '\n') {
			starts = append(starts, i)
		}
		if i > from && i <= to && (!lines || i == len(w.text.Plain) || w.text.Plain[i] == '\n') {
			ends = append(ends, i)
		}
	}
	return starts, ends
}
