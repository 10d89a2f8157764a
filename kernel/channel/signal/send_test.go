package signal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/signaltest"
	"org-agent/kernel/channel/rich"
)

func plain(s string) rich.Text { return rich.Plain(s) }

// TestSend checks what people get: texts with their styles, replies, and messages to groups.
func TestSend(t *testing.T) {
	s := start(t, signaltest.Config{Shared: true})
	r := run(t, s, &memory{}).connected()
	s.Deliver(said(1_700_000_000_000, "What is bold?"))
	question := r.wait(1)[0]
	for _, chat := range []struct{ id, to string }{{ada.Number, ada.Number}, {question.Chat.ID, ada.UUID}, {groupOfAda, groupID}} {
		text := rich.Text{Plain: "🎉 this", Spans: []rich.Span{{Start: 5, End: 9, Style: rich.Bold}}}
		id, err := r.Send(t.Context(), channel.Outgoing{ID: "o1", Chat: chat.id, Text: text, ReplyTo: question.ID})
		if err != nil {
			t.Fatal(err)
		}
		sent := s.Sent(chat.to)
		m := sent[len(sent)-1]
		if m.Text != "🎉 this" || !slices.Equal(m.Styles, []string{"3:4:BOLD"}) || id != fmt.Sprint(agent.Number, ":", m.Timestamp) || m.Quote == nil ||
			*m.Quote != (signaltest.Quote{Author: ada.UUID, Timestamp: 1_700_000_000_000, Text: "What is bold?"}) {
			t.Errorf("%s: as %s, %+v to %+v", chat.id, id, m, m.Quote)
		}
	}
}

// TestChange checks that own messages are changed and taken back, and that those of others are not.
func TestChange(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	id, err := r.Send(t.Context(), channel.Outgoing{ID: "o1", Chat: ada.Number, Text: plain("one")})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Edit(t.Context(), ada.Number, id, plain("two")); err != nil {
		t.Fatal(err)
	}
	if err := r.Edit(t.Context(), ada.Number, id, plain("three")); err != nil {
		t.Fatal(err)
	}
	if sent := s.Sent(ada.Number); len(sent) != 1 || sent[0].Text != "three" || sent[0].Edits != 2 || sent[0].Deleted {
		t.Errorf("%+v", sent)
	}
	if err := r.Delete(t.Context(), ada.Number, id); err != nil || !s.Sent(ada.Number)[0].Deleted {
		t.Errorf("%v, %+v", err, s.Sent(ada.Number))
	}
	if err := r.Delete(t.Context(), ada.Number, id); err != nil {
		t.Errorf("again: %v", err)
	}
	others := ada.UUID + ":1700000000000"
	if class(r.Edit(t.Context(), ada.Number, others, plain("x"))) != channel.Refused || class(r.Delete(t.Context(), ada.Number, others)) != channel.Refused {
		t.Error("a message of somebody else was changed")
	}
}

// TestReact checks reactions, twice and taken back twice, and signs of typing.
func TestReact(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	for n, c := range []struct {
		emoji  string
		remove bool
		want   []string
	}{{"👍", false, []string{"👍"}}, {"👍", false, []string{"👍"}}, {"❤️", false, []string{"❤️"}}, {"❤️", true, nil}, {"❤️", true, nil}} {
		err := r.React(t.Context(), channel.Reaction{Chat: groupOfAda, ID: ada.UUID + ":17", Emoji: c.emoji, Remove: c.remove})
		if got := s.Reactions(ada.UUID, 17); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("step %d: %q, %v", n, got, err)
		}
	}
	for _, on := range []bool{true, false} {
		if err := r.Typing(t.Context(), ada.Number, on); err != nil || s.IsTyping(ada.Number) != on {
			t.Errorf("typing %v: %v, %v", on, s.IsTyping(ada.Number), err)
		}
	}
}

// TestRefused checks what is refused before signal-cli is asked. Nothing of it can become another parameter.
func TestRefused(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	for _, chat := range []string{"", "ada", "+", "+1", "+49 151", "u:ada.01", "-g", "group.", "group." + groupID, "group.AAAA", ada.Number + "," + bob.Number, "../x", strings.Repeat("+1", 99)} {
		for name, err := range map[string]error{
			"send":  second(r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: chat, Text: plain("x")})),
			"react": r.React(t.Context(), channel.Reaction{Chat: chat, ID: ada.UUID + ":17", Emoji: "👍"}),
			"type":  r.Typing(t.Context(), chat, true),
		} {
			if class(err) != channel.Refused {
				t.Errorf("%s to %q: %v", name, chat, err)
			}
		}
	}
	for _, id := range []string{"", ":", "17", ada.UUID, ada.UUID + ":", ada.UUID + ":-1", ada.UUID + ":1x", "ada:17"} {
		if err := r.React(t.Context(), channel.Reaction{Chat: ada.Number, ID: id, Emoji: "👍"}); class(err) != channel.Refused {
			t.Errorf("react to %q: %v", id, err)
		}
		if id == "" {
			continue // no reply
		}
		if _, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("x"), ReplyTo: id}); class(err) != channel.Refused {
			t.Errorf("reply to %q: %v", id, err)
		}
	}
	if _, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number}); class(err) != channel.Refused {
		t.Errorf("an empty message: %v", err)
	}
	if n := s.Calls("send") + s.Calls("sendReaction") + s.Calls("sendTyping"); n > 0 {
		t.Errorf("signal-cli was asked %d times", n)
	}
}

func second[T any](_ T, err error) error { return err }

// TestFailures checks what the errors of signal-cli mean to whoever sends.
func TestFailures(t *testing.T) {
	code := func(code int, message string) *signaltest.Error {
		return &signaltest.Error{Code: code, Message: message}
	}
	for name, c := range map[string]struct {
		block string // a type of the results
		after int64
		token string
		error *signaltest.Error

		class channel.FailureClass
		retry time.Duration
		text  string
	}{
		"nobody":           {block: "UNREGISTERED_FAILURE", class: channel.Refused, text: "nobody"},
		"another key":      {block: "IDENTITY_FAILURE", class: channel.Refused, text: "safety number"},
		"no network":       {block: "NETWORK_FAILURE", class: channel.Temporary},
		"keys used up":     {block: "INVALID_PRE_KEY_FAILURE", class: channel.Temporary},
		"too often":        {block: "RATE_LIMIT_FAILURE", after: 30, class: channel.Temporary, retry: 30 * time.Second},
		"too often, older": {block: "RATE_LIMIT_FAILURE", class: channel.Temporary},
		"captcha":          {block: "RATE_LIMIT_FAILURE", after: 86400, token: "challenge", class: channel.Temporary, retry: 24 * time.Hour, text: "submitRateLimitChallenge"},
		"captcha, older":   {block: "NETWORK_FAILURE", token: "challenge", class: channel.Temporary, retry: time.Hour, text: "submitRateLimitChallenge"},
		"unlinked":         {error: code(signaltest.InternalError, "Failed to send message: [401] Authorization failed! (AuthorizationFailedException) (UnexpectedErrorException)"), class: channel.Unauthorized, text: "link or register"},
		"account removed":  {error: code(signaltest.ParamsError, "Specified account does not exist"), class: channel.Unauthorized, text: "link or register"},
		"not a member":     {error: code(signaltest.UserError, "User is not a member in group: G"), class: channel.Refused},
		"servers away":     {error: code(signaltest.IOError, "Failed to send message: timeout"), class: channel.Temporary},
		"something else":   {error: code(signaltest.InternalError, "null (NullPointerException)"), class: channel.Temporary},
		"an older one":     {error: code(signaltest.MethodError, "Method not implemented"), class: channel.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, signaltest.Config{})
			r := run(t, s, &memory{}).connected()
			if c.block != "" {
				s.Block(bob, c.block, c.after, c.token)
			} else {
				s.Inject("send", signaltest.Outcome{Error: c.error})
			}
			_, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: bob.Number, Text: plain("x")})
			var failure *channel.Failure
			if !errors.As(err, &failure) || failure.Class != c.class || failure.RetryAfter != c.retry || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "challenge ") {
				t.Errorf("%#v: %v", failure, err)
			}
			if len(s.Sent(bob.Number)) > 0 {
				t.Error("it was sent")
			}
		})
	}
}

// TestUnknown checks that a message whose answer does not come counts as one that may have been sent, and that no answer
// of an earlier call is taken for that of a later one.
func TestUnknown(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	s.Inject("send", signaltest.Outcome{Cut: true}, signaltest.Outcome{Hang: true})
	if _, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("cut")}); class(err) != channel.Unknown {
		t.Errorf("a connection that ended: %v", err)
	}
	if sent := s.Sent(ada.Number); len(sent) != 1 {
		t.Errorf("it was sent %d times", len(sent))
	}
	r.until("the end of the connection", func() bool { return r.link.Load() == nil })
	r.connected()
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := r.Send(ctx, channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("hung")}); class(err) != channel.Unknown || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an answer that did not come: %v", err)
	}
	if _, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("next")}); err != nil {
		t.Errorf("the next one: %v", err)
	}
	if link := r.link.Load(); len(link.calls) > 0 {
		t.Errorf("%d calls are waited for", len(link.calls))
	}
}

// TestParallel checks that messages to several chats at once get their own answers.
func TestParallel(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	var sending sync.WaitGroup
	for n := range 20 {
		sending.Go(func() {
			text := fmt.Sprint(n)
			id, err := r.Send(t.Context(), channel.Outgoing{ID: text, Chat: ada.Number, Text: plain(text)})
			if err != nil {
				t.Error(err)
			}
			for _, m := range s.Sent(ada.Number) {
				if m.Text == text && id != fmt.Sprint(agent.Number, ":", m.Timestamp) {
					t.Errorf("%s is %s", text, id)
				}
			}
		})
	}
	sending.Wait()
}

// TestSendFiles checks that files arrive as they are, with their names and types, and that one that cannot be read to
// its end is not sent at all.
func TestSendFiles(t *testing.T) {
	s := start(t, signaltest.Config{})
	r := run(t, s, &memory{}).connected()
	send := func(f channel.File, content func() (io.ReadCloser, error)) error {
		f.Open = content
		_, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("look"), File: &f})
		return err
	}
	bytesOf := func(data []byte) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	}
	data := bytes.Repeat([]byte{0, 255, '"', '\n', 7}, 1<<18)
	for n, c := range []struct {
		file channel.File
		want signaltest.File
		data []byte
	}{
		{channel.File{Name: "a.png", Media: "image/png"}, signaltest.File{Name: "a.png", Media: "image/png"}, []byte("x")},
		{channel.File{Name: "ü;base64,\" =+&\n.txt", Media: "text/plain; charset=utf-8"}, signaltest.File{Name: "ü;base64,\" =+&\n.txt", Media: "text/plain"}, data},
		{channel.File{Media: "nonsense"}, signaltest.File{Name: "file", Media: "application/octet-stream"}, []byte("xy")},
		{channel.File{Name: "v.ogg", Media: "audio/ogg", Voice: true}, signaltest.File{Name: "v.ogg", Media: "audio/ogg", Voice: true}, []byte("xyz")},
	} {
		if err := send(c.file, bytesOf(c.data)); err != nil {
			t.Fatal(err)
		}
		m := s.Sent(ada.Number)[n]
		if m.File == nil || m.File.Name != c.want.Name || m.File.Media != c.want.Media || m.File.Voice != c.want.Voice || !bytes.Equal(m.File.Data, c.data) || m.Text != "look" {
			t.Errorf("file %d is %+.99v", n, m.File)
		}
	}
	broken := errors.New("the disk is gone")
	r.limits.file = 1 << 20
	for name, c := range map[string]struct {
		size    int64
		content func() (io.ReadCloser, error)
		text    string
	}{
		"not there":  {1, func() (io.ReadCloser, error) { return nil, broken }, "disk is gone"},
		"breaks off": {1, func() (io.ReadCloser, error) { return io.NopCloser(&breaking{broken, 1 << 19}), nil }, "disk is gone"},
		"too large":  {1<<20 + 1, nil, "larger than"},
		"grew":       {1, func() (io.ReadCloser, error) { return io.NopCloser(&breaking{io.EOF, 1<<20 + 1}), nil }, "larger than"},
		"empty":      {0, bytesOf(nil), "is empty"},
	} {
		if err := send(channel.File{Name: "a", Media: "image/png", Size: c.size}, c.content); class(err) != channel.Refused || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Send(t.Context(), channel.Outgoing{ID: "o", Chat: ada.Number, Text: plain("still here")}); err != nil || len(s.Sent(ada.Number)) != 5 {
		t.Errorf("afterwards: %v, %d were sent", err, len(s.Sent(ada.Number)))
	}
}

// breaking is a file of zeros that ends with an error.
type breaking struct {
	err  error
	left int
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n := min(len(p), b.left)
	clear(p[:n])
	b.left -= n
	return n, nil
}

// TestRender checks what becomes of styles that Signal does not have.
func TestRender(t *testing.T) {
	for name, c := range map[string]struct {
		text  rich.Text
		want  string
		style []string
	}{
		"plain":     {plain("a\nb"), "a\nb", nil},
		"nested":    {rich.Text{Plain: "é𝄞bold", Spans: []rich.Span{{Start: 0, End: 10, Style: rich.Italic}, {Start: 6, End: 10, Style: rich.Bold}}}, "é𝄞bold", []string{"3:4:BOLD", "0:7:ITALIC"}},
		"underline": {rich.Text{Plain: "ab", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Underline}}}, "ab", nil},
		"code":      {rich.Text{Plain: "a b", Spans: []rich.Span{{Start: 0, End: 1, Style: rich.Code}, {Start: 2, End: 3, Style: rich.Block, Value: "go"}}}, "a b", []string{"0:1:MONOSPACE", "2:1:MONOSPACE"}},
		"link":      {rich.Text{Plain: "see it.", Spans: []rich.Span{{Start: 4, End: 6, Style: rich.Link, Value: "https://x.org"}}}, "see it (https://x.org).", nil},
		"bare link": {rich.Text{Plain: "https://x.org", Spans: []rich.Span{{Start: 0, End: 13, Style: rich.Link, Value: "https://x.org"}}}, "https://x.org", nil},
		"bold link": {rich.Text{Plain: "it", Spans: []rich.Span{{Start: 0, End: 2, Style: rich.Bold}, {Start: 0, End: 2, Style: rich.Link, Value: "u:v"}}}, "it (u:v)", []string{"0:8:BOLD"}},
		"quote":     {rich.Text{Plain: "a\nb\nc\nd", Spans: []rich.Span{{Start: 2, End: 6, Style: rich.Quote}, {Start: 4, End: 5, Style: rich.Bold}}}, "a\n> b\n> c\nd", []string{"8:1:BOLD"}},
	} {
		if text, style := render(c.text); text != c.want || !slices.Equal(style, c.style) {
			t.Errorf("%s: %q, %q", name, text, style)
		}
	}
}

// TestRenderKeeps checks that every character stays, in its order, and that each style is on what it was on.
func TestRenderKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := plain(rapid.StringOfN(rapid.RuneFrom([]rune("ab\n é𝄞👍")), 1, 40, -1).Draw(t, "text"))
		var starts []int
		for i := range text.Plain {
			starts = append(starts, i)
		}
		starts = append(starts, len(text.Plain))
		var nest func(from, to, depth int)
		nest = func(from, to, depth int) {
			for at := from; at < to && depth < 4 && rapid.Bool().Draw(t, "more"); {
				a := rapid.IntRange(at, to-1).Draw(t, "start")
				b := rapid.IntRange(a+1, to).Draw(t, "end")
				style := rapid.SampledFrom([]rich.Style{rich.Bold, rich.Italic, rich.Underline, rich.Strike, rich.Code, rich.Quote, rich.Link}).Draw(t, "style")
				text.Spans = append(text.Spans, rich.Span{Start: starts[a], End: starts[b], Style: style, Value: "v:w"})
				nest(a, b, depth+1)
				at = b
			}
		}
		nest(0, len(starts)-1, 0)
		got, styles := render(text)
		rest := text.Plain
		for _, r := range got {
			if strings.HasPrefix(rest, string(r)) {
				rest = rest[len(string(r)):]
			}
		}
		if rest != "" {
			t.Fatalf("%q became %q", text.Plain, got)
		}
		units := utf16.Encode([]rune(got))
		want := 0
		for _, s := range text.Spans {
			if name := stylesOf[s.Style]; name != "" {
				want++
			}
		}
		if len(styles) != want {
			t.Fatalf("%d styles became %q", want, styles)
		}
		for _, s := range styles {
			var start, length int
			var name string
			if _, err := fmt.Sscanf(strings.ReplaceAll(s, ":", " "), "%d %d %s", &start, &length, &name); err != nil || length <= 0 || start+length > len(units) {
				t.Fatalf("%q in a text of %d", s, len(units))
			}
			if utf16.IsSurrogate(rune(units[start])) && units[start] >= 0xDC00 {
				t.Fatalf("%q begins within a character", s)
			}
		}
	})
}
