package tool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/contacts"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// post is a messenger and the conversations of a machine, with what was delivered in order.
type post struct {
	chat      *channeltest.Memory
	delivered []string // a line for each that was shown or posted
	spoken    int
	engine    string
	limit     int
	home      string
	silent    error // of speaking
}

func (p *post) Channels() []tool.ChannelInfo {
	can := p.chat.Capabilities()
	return []tool.ChannelInfo{{Name: p.chat.Name(), FileLimit: can.FileLimit, Reacts: true, Emoji: can.Emoji}}
}

func (p *post) Send(ctx context.Context, m tool.Outbound) (parts []tool.SentPart, err error) {
	send := func(n int, out channel.Outgoing, file string) {
		out.ID, out.Chat = fmt.Sprintf("%s.%d", m.ID, n), m.To.Chat
		part := tool.SentPart{File: file, State: tool.PartSent}
		var failure *channel.Failure
		if part.ID, err = p.chat.Send(ctx, out); errors.As(err, &failure) && failure.Class == channel.Temporary {
			part.State = tool.PartQueued
		} else if err != nil {
			part.State, part.Why = tool.PartFailed, err.Error()
		}
		parts = append(parts, part)
	}
	if m.Text != "" {
		send(0, channel.Outgoing{Text: rich.Plain(m.Text), ReplyTo: m.ReplyTo}, "")
	}
	for i, f := range m.Files {
		send(i+1, channel.Outgoing{File: &channel.File{Name: f.Name, Media: f.Media, Size: f.Size, Voice: f.Voice, Open: func() (io.ReadCloser, error) { return os.Open(f.Path) }}}, f.Path)
	}
	return parts, nil
}

func (p *post) React(ctx context.Context, to tool.Target, message, emoji string, remove bool) error {
	return p.chat.React(ctx, channel.Reaction{Chat: to.Chat, ID: message, Emoji: emoji, Remove: remove})
}

func (p *post) Show(_ context.Context, in tool.Conversation, _, text string, files []string) error {
	p.delivered = append(p.delivered, fmt.Sprintf("shown in %s: %q %q", in.Session, text, files))
	return nil
}

func (p *post) Post(_ context.Context, _, session, text string) error {
	p.delivered = append(p.delivered, fmt.Sprintf("posted to %s: %q", session, text))
	return nil
}

func (p *post) Engine() (string, int) { return p.engine, p.limit }

func (p *post) Speak(_ context.Context, text string) (string, error) {
	p.spoken++
	path := filepath.Join(p.home, "spoken.wav")
	return path, errors.Join(p.silent, os.WriteFile(path, []byte("RIFF0000WAVE"+text), 0o600))
}

// The conversations from which is sent.
var (
	inEmacs = tool.Conversation{Session: "main", Turn: "t1", Alone: true, Route: protocol.LocalRoute(protocol.ChannelEmacs)}
	inShell = tool.Conversation{Session: "s", Turn: "t1", Alone: true, Route: protocol.LocalRoute(protocol.ChannelCLI)}
	inTask  = tool.Conversation{Session: "task", Turn: "t1", Alone: true, Route: protocol.Route{Kind: protocol.RouteTask}}
	inChat  = tool.Conversation{Session: "memory-room", Turn: "t1", Name: "room", Route: protocol.Route{Kind: protocol.RouteChannel, Channel: "memory", Chat: "room"}}
	inTopic = tool.Conversation{Session: "memory-room-7", Turn: "t1", Name: "room/7", Route: protocol.Route{Kind: protocol.RouteChannel, Channel: "memory", Chat: "room/7"}}
	inPart  = tool.Conversation{Session: "part", Turn: "t1", Alone: true, Route: protocol.Route{Kind: protocol.RouteSubagent, Channel: protocol.ChannelEmacs}}
)

// people are the contacts of the tests.
var people = []contacts.Contact{
	{ID: "ada", Name: "Ada Lovelace", Aliases: []string{"mum"}, Addresses: []contacts.Address{{Channel: "memory", Person: "42", Username: "ada", Chat: "dm-42"}}, Active: time.Date(2026, 12, 1, 11, 0, 0, 0, time.UTC)},
	{ID: "z1", Name: "Zoë", Addresses: []contacts.Address{{Channel: "memory", Person: "7"}}},
	{ID: "z2", Name: "Zoe", Addresses: []contacts.Address{{Channel: "memory", Person: "8"}}},
	{ID: "club", Name: "Garden Club", Addresses: []contacts.Address{{Channel: "memory", Chat: "Club", Group: true}}},
	{Name: "Grace", Source: "bbdb", Addresses: []contacts.Address{{Channel: "phone", Person: "+4930"}}},
}

// posting returns the tools over a chat in memory, in a home with some files.
func posting(t testing.TB, can channel.Capabilities) (*tool.Registry, *post) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"report.pdf": "%PDF", "plot.png": "PNG", "large.bin": strings.Repeat("x", 5000), "diary.org": "* Mine :noagent:\nx\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &post{chat: &channeltest.Memory{Can: can}, engine: "espeak", home: home}
	berlin := time.FixedZone("CET", 3600)
	ids := 0
	r, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }, Messages: tool.Messages{
		Here: p, Messenger: p, Voice: p, Files: tool.Files{Home: home}, NewID: func() string { ids++; return fmt.Sprintf("new-%d", ids) },
		Contacts: func(context.Context, tool.Conversation, string) ([]contacts.Contact, error) { return people, nil },
		Owner:    func(context.Context) (tool.Target, error) { return tool.Target{Channel: "emacs", Chat: "main"}, nil },
		Now:      func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, berlin) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

var small = channel.Capabilities{TextLimit: 100_000, FileLimit: 4000, Emoji: []string{"👍", "❤"}, Idempotent: true}

// makeCall judges a call as the policy does, judges what was judged again, and performs it. asked are the conversations for
// which a person is asked.
func makeCall(t testing.TB, r *tool.Registry, in tool.Conversation, name string, arguments protocol.Object) (text string, asked []string, err error) {
	t.Helper()
	mine := r.For(&tool.Caller{Conversation: in})
	resolved, reach, err := mine.Reach(t.Context(), name, arguments)
	if err != nil {
		return "", nil, err
	}
	again, reachAgain, err := mine.Reach(t.Context(), name, resolved)
	if err != nil || !reflect.DeepEqual(again, resolved) || !reflect.DeepEqual(reachAgain, reach) {
		t.Errorf("judged again, %v is %v and reaches %v and not %v: %v", resolved, again, reachAgain, reach, err)
	}
	for _, of := range reach {
		if of.Kind == protocol.ReachSends {
			asked = append(asked, of.Chat)
		}
	}
	text, _, err = mine.Call(t.Context(), name, resolved)
	return text, asked, err
}

// TestSameConversation is the table of where a message goes: what is the conversation of the turn, after names are in
// order, and what is another one, about which a person is asked.
func TestSameConversation(t *testing.T) {
	for _, c := range []struct {
		in               tool.Conversation
		platform, target string
		want             string // here, a conversation about which a person is asked, or a conversation and "freely"
		fails            string // what the error says
	}{
		{inEmacs, "", "", "here", ""},
		{inEmacs, "Emacs", "", "here", ""},
		{inEmacs, ":emacs", " main ", "here", ""},
		{inEmacs, "emacs", "*org-agent-chat*", "here", ""},
		{inEmacs, "", "emacs:main", "here", ""},
		{inEmacs, "emacs", "work", "emacs work", ""},
		{inEmacs, "emacs", "../x", "", "names no conversation"},
		{inEmacs, "", "owner", "here", ""}, // the user is reached here
		{inTask, "", "owner", "emacs main freely", ""},
		{inTask, "", "OWNER", "emacs main freely", ""},
		{inChat, "", "owner", "emacs main", ""}, // others listen where it comes from
		{inTask, "", "", "", `name the :target, such as "owner"`},
		{inShell, "", "", "", "at a command line nothing is shown before the answer"},
		{inShell, "", "mum", "memory dm-42", ""},
		{inPart, "", "", "", "a subagent sends nothing"},
		{inPart, "memory", "42", "", "a subagent sends nothing"},
		{inChat, "", "", "here", ""},
		{inChat, "MEMORY", "", "here", ""},
		{inChat, "memory", "room", "here", ""},
		{inChat, "", " room\t", "here", ""},
		{inChat, "", "Memory:room", "here", ""},
		{inChat, "memory", "memory:room", "here", ""},
		{inChat, "memory", "ROOM", "memory ROOM", ""}, // ids are as they are
		{inChat, "memory", "room/7", "memory room/7", ""},
		{inTopic, "memory", "room/7", "here", ""},
		{inTopic, "memory", "room", "memory room", ""},
		{inChat, "emacs", "", "", "name the :target on emacs"},
		{inEmacs, "memory", "", "", "name the :target on memory"},
		{inChat, "telegram", "room", "", `no channel "telegram" is connected; there is emacs, memory`},
		{inChat, "memroy", "room", "", `did you mean "memory"?`},
		{inChat, "", "mum", "", "others listen here"}, // no address book is told in a room
		{inChat, "memory", "mum", "memory mum", ""},
		{inEmacs, "", "Mum", "memory dm-42", ""},
		{inEmacs, "", "ada", "memory dm-42", ""},
		{inEmacs, "", "42", "memory dm-42", ""},
		{inEmacs, "memory", "garden", "memory Club", ""},
		{inEmacs, "", "zoe", "", "2 contacts could be"},
		{inEmacs, "", "z2", "memory 8", ""},
		{inEmacs, "", "nobody", "", `there is no contact "nobody"`},
		{inEmacs, "memory", "no body", "", "there is no contact"},
		{inEmacs, "memory", "-100123", "memory -100123", ""}, // an id that nobody has
		{inEmacs, "", "Grace", "", `no channel "phone" is connected`},
	} {
		t.Run(fmt.Sprintf("%s %s %s", c.in.Session, c.platform, c.target), func(t *testing.T) {
			r, p := posting(t, small)
			_, asked, err := makeCall(t, r, c.in, "send", object("text", "hello", "platform", c.platform, "target", c.target))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("it fails with %v", err)
				}
				if len(p.delivered) > 0 {
					t.Errorf("and delivers %q", p.delivered)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			where, freely := strings.CutSuffix(c.want, " freely")
			if wantAsked := !freely && where != "here"; wantAsked != (len(asked) == 1) || wantAsked && asked[0] != where {
				t.Errorf("a person is asked about %q", asked)
			}
			if where == "here" {
				where = "memory " + c.in.Route.Chat
				if c.in.Route.Kind == protocol.RouteEmacs {
					where = "shown in main"
				}
			}
			channelName, chat, _ := strings.Cut(where, " ")
			switch {
			case channelName == "memory" && (len(p.chat.Sent(chat)) != 1 || p.chat.Sent(chat)[0].Text.Plain != "hello"):
				t.Errorf("in %s is %+v", chat, p.chat.Sent(chat))
			case channelName == "emacs" && (len(p.delivered) != 1 || !strings.HasPrefix(p.delivered[0], "posted to "+chat+":")),
				channelName == "shown" && (len(p.delivered) != 1 || !strings.HasPrefix(p.delivered[0], where)):
				t.Errorf("delivered are %q", p.delivered)
			}
		})
	}
}

// TestNothingIsDropped checks with texts and files at random that whatever was sent is told: each part was delivered,
// waits, or has a reason; that they are delivered in order; and that nothing else is.
func TestNothingIsDropped(t *testing.T) {
	names := []string{"report.pdf", "plot.png", "missing.txt", "large.bin", "sub", "../escape", "file:report.pdf", "[[file:plot.png]]"}
	rapid.Check(t, func(rt *rapid.T) {
		r, p := posting(t, small)
		if err := os.Mkdir(filepath.Join(p.home, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		in := rapid.SampledFrom([]tool.Conversation{inEmacs, inChat}).Draw(rt, "in")
		text := rapid.SampledFrom([]string{"", "hello", "  \n", "NO_REPLY"}).Draw(rt, "text")
		files := rapid.SliceOfN(rapid.SampledFrom(names), 0, 5).Draw(rt, "files")
		result, _, err := makeCall(t, r, in, "send", object("text", text, "attachments", anys(files)))
		told := result
		if err != nil {
			told = err.Error()
		}
		said := strings.TrimSpace(text)
		if said == "" && len(files) == 0 {
			if err == nil {
				rt.Error("nothing was sent and that is no error")
			}
			return
		}
		if said != "" && !strings.Contains(told, "the text") {
			rt.Errorf("of the text is said nothing: %s", told)
		}
		var want []string
		if said != "" {
			want = append(want, said)
		}
		for _, name := range files {
			base := filepath.Base(strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(name, "[["), "file:"), "]"))
			if !strings.Contains(told, base) {
				rt.Errorf("of %s is said nothing: %s", name, told)
			}
			if base == "report.pdf" || base == "plot.png" || base == "large.bin" && in.Alone {
				want = append(want, base)
			}
		}
		var got []string
		if in.Alone {
			if len(p.delivered) > 1 {
				rt.Errorf("delivered are %q", p.delivered)
			}
			for _, line := range p.delivered {
				if said != "" {
					got = append(got, said)
				}
				for _, field := range strings.Split(line, `"`) {
					if strings.HasPrefix(field, p.home) {
						got = append(got, filepath.Base(field))
					}
				}
			}
		}
		for _, s := range p.chat.Sent("room") {
			if s.File != nil {
				got = append(got, s.File.Name)
			} else {
				got = append(got, s.Text.Plain)
			}
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			rt.Errorf("delivered are %q and not %q", got, want)
		}
		if (err == nil) != (len(want) > 0) {
			rt.Errorf("%q, %v", result, err)
		}
	})
}

// anys returns a list as it comes over the wire.
func anys(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// TestAttachments checks which files a call reaches: after links, with what is withheld from models, and in a room only with
// a person's yes, also for one that is not there.
func TestAttachments(t *testing.T) {
	r, p := posting(t, small)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "passwd"), []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "passwd"), filepath.Join(p.home, "harmless.txt")); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(outside, "passwd"))
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(p.home, name) }
	for _, c := range []struct {
		in   tool.Conversation
		name string
		to   string
		want []string
	}{
		{inEmacs, "report.pdf", "", []string{"reads " + in("report.pdf")}},
		{inEmacs, "harmless.txt", "", []string{"reads " + real}},
		{inEmacs, "../../../../../../../../etc/passwd", "", []string{"reads /etc/passwd"}},
		{inEmacs, "diary.org", "", []string{"reads " + in("diary.org")}},
		{inEmacs, "diary.org", "mum", []string{"sends memory dm-42", "reads " + in("diary.org"), "shows " + in("diary.org")}},
		{inEmacs, "report.pdf", "mum", []string{"sends memory dm-42", "reads " + in("report.pdf")}},
		{inChat, "report.pdf", "", []string{"sends memory room", "reads " + in("report.pdf")}},
		{inChat, "no-such-file", "", []string{"sends memory room"}},
	} {
		_, reach, err := r.For(&tool.Caller{Conversation: c.in}).Reach(t.Context(), "send", object("attachments", []any{c.name}, "target", c.to))
		var got []string
		for _, of := range reach {
			got = append(got, fmt.Sprintf("%s %s%s", of.Kind, of.Path, of.Chat))
		}
		if err != nil || strings.Join(got, ", ") != strings.Join(c.want, ", ") {
			t.Errorf("%s to %q reaches %q: %v", c.name, c.to, got, err)
		}
	}
}

// TestChangedFileIsNotSent checks that a file is sent only with the content for which a person was asked.
func TestChangedFileIsNotSent(t *testing.T) {
	r, p := posting(t, small)
	mine := r.For(&tool.Caller{Conversation: inEmacs})
	resolved, _, err := mine.Reach(t.Context(), "send", object("attachments", []any{"report.pdf", "plot.png"}, "target", "mum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, "report.pdf"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mine.Reach(t.Context(), "send", resolved); err == nil || !strings.Contains(err.Error(), "another content") {
		t.Errorf("judged again: %v", err)
	}
	if err := mine.Stale(t.Context(), "send", resolved); err == nil || !strings.Contains(err.Error(), "another content") {
		t.Errorf("while it waits: %v", err)
	}
	text, _, err := mine.Call(t.Context(), "send", resolved)
	if sent := p.chat.Sent("dm-42"); err != nil || len(sent) != 1 || sent[0].File.Name != "plot.png" || !strings.Contains(text, "report.pdf: it has another content") {
		t.Errorf("%q, %v, sent %+v", text, err, sent)
	}
}

// TestLetter checks what a person is shown who is asked: to whom, where, what, and which files.
func TestLetter(t *testing.T) {
	r, p := posting(t, small)
	mine := r.For(&tool.Caller{Conversation: inEmacs})
	resolved, _, err := mine.Reach(t.Context(), "send", object("text", "Hello!", "attachments", []any{"report.pdf", "no.txt"}, "target", "MUM"))
	if err != nil {
		t.Fatal(err)
	}
	shown, _, err := mine.Preview(t.Context(), "send", resolved)
	effects := strings.Join(shown.Effects, "\n")
	if err != nil || shown.Summary != "Send a message to Ada Lovelace (memory dm-42)" || shown.Text != "Hello!" ||
		!strings.Contains(effects, "through memory, to dm-42") || !strings.Contains(effects, "with the file "+filepath.Join(p.home, "report.pdf")+", 4 bytes") || !strings.Contains(effects, "not with "+filepath.Join(p.home, "no.txt")) {
		t.Errorf("%+v, %v", shown, err)
	}
}

// TestUnknownArguments checks that nothing is sent with an argument that send does not have, and that a near one is named.
func TestUnknownArguments(t *testing.T) {
	for key, near := range map[string]string{"attachment": ":attachments", "message": "", "reply": ":reply-to", "bot-id": ""} {
		r, p := posting(t, small)
		_, _, err := makeCall(t, r, inChat, "send", object("text", "x", key, "y"))
		if err == nil || !strings.Contains(err.Error(), ":"+key) || near != "" && !strings.Contains(err.Error(), "did you mean "+near) || len(p.chat.Sent("room")) > 0 {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestWaitingAndFailing checks what is said of what waits and of what a chat refuses.
func TestWaitingAndFailing(t *testing.T) {
	r, p := posting(t, small)
	p.chat.Fail(&channel.Failure{Class: channel.Temporary, Err: errors.New("busy")})
	text, _, err := makeCall(t, r, inChat, "send", object("text", "x"))
	if err != nil || !strings.Contains(text, "do not send it again") || len(p.delivered) != 1 {
		t.Errorf("%q, %v, %q", text, err, p.delivered)
	}
	p.chat.Block("room")
	if text, _, err := makeCall(t, r, inChat, "send", object("text", "x")); err == nil || !strings.Contains(err.Error(), "Not delivered: the text: ") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestReact checks that exactly that reaction is made to exactly that message, and taken back.
func TestReact(t *testing.T) {
	r, p := posting(t, small)
	first, second := p.chat.Post(channel.Message{Text: "one"}), p.chat.Post(channel.Message{Text: "two"})
	if text, asked, err := makeCall(t, r, inChat, "react", object("message-id", first, "emoji", "❤\ufe0f")); err != nil || len(asked) > 0 {
		t.Errorf("%q, %v, asked %q", text, err, asked)
	}
	if got := p.chat.Reactions("room", first); len(got) != 1 || got[0] != "❤" || len(p.chat.Reactions("room", second)) > 0 {
		t.Errorf("the reactions are %q and %q", got, p.chat.Reactions("room", second))
	}
	if _, _, err := makeCall(t, r, inChat, "react", object("message-id", first, "emoji", "❤", "remove", true)); err != nil || len(p.chat.Reactions("room", first)) > 0 {
		t.Errorf("%v, left are %q", err, p.chat.Reactions("room", first))
	}
	if _, asked, err := makeCall(t, r, inEmacs, "react", object("message-id", first, "emoji", "👍", "platform", "memory", "target", "room")); err != nil || len(asked) != 1 || asked[0] != "memory room" {
		t.Errorf("in another conversation: %v, asked %q", err, asked)
	}
	for _, c := range []struct {
		in        tool.Conversation
		id, emoji string
		want      string
	}{
		{inChat, "", "👍", ":message-id"},
		{inChat, " ", "👍", "name the :message-id"},
		{inChat, first, "", ":emoji"},
		{inChat, first, "ok", `"ok" is no emoji`},
		{inChat, first, "1", "is no emoji"},
		{inChat, first, "🦄", "memory does not take 🦄; it takes 👍 ❤"},
		{inEmacs, first, "👍", "have no reactions"},
		{inTask, first, "👍", "have no reactions"},
	} {
		if _, _, err := makeCall(t, r, c.in, "react", object("message-id", c.id, "emoji", c.emoji)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v", c.id, c.emoji, err)
		}
	}
}

// TestSpeak checks the length of what is spoken, in characters, that it is spoken once, and what is sent instead where it
// cannot be.
func TestSpeak(t *testing.T) {
	for name, c := range map[string]struct {
		in     tool.Conversation
		text   string
		set    func(p *post)
		spoken int
		want   string // of the result or of the error
		sent   string // what arrives
	}{
		"in a chat":              {inChat, "  hello ", nil, 1, "spoken.wav", "RIFF0000WAVEhello"},
		"in Emacs":               {inEmacs, "hello", nil, 1, "spoken.wav", ""},
		"500 characters":         {inChat, strings.Repeat("語", 500), nil, 1, "spoken.wav", "RIFF0000WAVE" + strings.Repeat("語", 500)},
		"501 characters":         {inChat, strings.Repeat("a", 501), nil, 0, "has 501 characters, and 500 can be spoken", ""},
		"longer than the engine": {inChat, "hello", func(p *post) { p.limit = 4 }, 0, "has 5 characters, and 4 can be spoken", ""},
		"nothing":                {inChat, " \n", nil, 0, "there is nothing to say", ""},
		"without an engine":      {inChat, "hello", func(p *post) { p.engine = "" }, 0, "not spoken but sent as text: nothing is configured", "hello"},
		"an engine that fails":   {inChat, "hello", func(p *post) { p.silent = errors.New("no voice") }, 1, "sent as text: no voice", "hello"},
		"too large for the chat": {inChat, "hello", func(p *post) { p.chat.Can.FileLimit = 3 }, 1, "sent as text: it has 17 bytes", "hello"},
		"nobody listens":         {inTask, "hello", nil, 0, "name the :target", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, p := posting(t, small)
			if c.set != nil {
				c.set(p)
			}
			result, asked, err := makeCall(t, r, c.in, "speak", object("text", c.text))
			if err != nil {
				result = err.Error()
			}
			if !strings.Contains(result, c.want) || p.spoken != c.spoken || len(asked) > 0 {
				t.Errorf("%q, spoken %d times, asked %q", result, p.spoken, asked)
			}
			got := ""
			for _, s := range p.chat.Sent("room") {
				got += s.Text.Plain + string(s.Data)
				if s.File != nil && (!s.File.Voice || s.File.Media == "application/octet-stream") {
					t.Errorf("it is no spoken message: %+v", s.File)
				}
			}
			if got != c.sent || strings.Contains(result, "STOP") {
				t.Errorf("sent is %q; %s", got, result)
			}
		})
	}
}

// TestGetContacts checks what a model is told of contacts, and that it is told nothing where others listen.
func TestGetContacts(t *testing.T) {
	r, _ := posting(t, small)
	for _, c := range []struct {
		in              tool.Conversation
		query, platform string
		want, not       string
	}{
		{inEmacs, "", "", "- Ada Lovelace, called mum, last active 2026-12-01 12:00 [id ada]\n  :platform \"memory\" :target \"dm-42\", private, @ada\n", "@@"},
		{inEmacs, "", "MEMORY", "Garden Club [id club]\n  :platform \"memory\" :target \"Club\", group\n", "Grace"},
		{inEmacs, "grace", "", "- Grace [of the user's own bbdb]\n  :platform \"phone\" :target \"+4930\", private, not connected\n", "Ada"},
		{inEmacs, "zoe", "", "[id z1]", "Ada"},
		{inEmacs, "zoe", "", "[id z2]", "Ada"},
		{inEmacs, "adda lovelace", "", `did you mean "Ada Lovelace"?`, "- "},
		{inChat, "ada", "", "others listen here", "memory"},
	} {
		text, _, err := r.For(&tool.Caller{Conversation: c.in}).Call(t.Context(), "get_contacts", object("query", c.query, "platform", c.platform))
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%q on %q: %s", c.query, c.platform, text)
		}
	}
}

// TestMessagesOffered checks which tools are offered when.
func TestMessagesOffered(t *testing.T) {
	r, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"send", "react", "speak", "get_contacts"} {
		if _, _, found := r.Find(name); found {
			t.Errorf("%s is offered where there is nobody to write to", name)
		}
		r, _ := posting(t, small)
		if _, _, found := r.Find(name); !found {
			t.Errorf("%s is not offered", name)
		}
	}
}
