package channeltest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// send sends a message, and returns its id.
func send(t *testing.T, d channel.Driver, out channel.Outgoing) string {
	t.Helper()
	id, err := d.Send(t.Context(), out)
	if err != nil {
		t.Fatalf("%s cannot be sent: %v", out.ID, err)
	}
	if id == "" {
		t.Fatalf("%s was sent, and has no id", out.ID)
	}
	return id
}

// seen waits until the person sees messages of which nothing is wrong.
func seen(t *testing.T, f Fixture, n int, wrong func(all []Seen) error) {
	t.Helper()
	eventually(t, func() error {
		all := f.Seen(t)
		if len(all) != n {
			return fmt.Errorf("the person sees %d messages and not %d: %.2000q", len(all), n, fmt.Sprint(all))
		}
		return wrong(all)
	})
}

// shows returns a check that messages have ids and texts.
func shows(ids, texts []string) func([]Seen) error {
	return func(all []Seen) error {
		for i, s := range all {
			if s.ID != ids[i] || s.Text != texts[i] {
				return fmt.Errorf("message %d is %s, %.1000q\nand not %s, %.1000q", i, s.ID, s.Text, ids[i], texts[i])
			}
		}
		return nil
	}
}

// texts: people see the characters, whatever a chat's own marks are, and whatever spans the text has.
func (suite) texts(t *testing.T, f Fixture) {
	d := f.Driver(t)
	run(t, d, nil)
	texts := hostile()
	var ids []string
	for i, text := range texts {
		ids = append(ids, send(t, d, channel.Outgoing{ID: fmt.Sprintf("a%d", i), Chat: f.Chat(), Text: rich.Plain(text)}))
	}
	styled := rich.Text{Plain: "😀 bold and italic code link\nx := <1>\nquoted", Spans: []rich.Span{
		{Start: 5, End: 20, Style: rich.Bold}, {Start: 14, End: 20, Style: rich.Italic}, {Start: 21, End: 25, Style: rich.Code},
		{Start: 26, End: 30, Style: rich.Link, Value: "https://example.org/?a=\"b\"&c"}, {Start: 31, End: 39, Style: rich.Block, Value: "go"}, {Start: 41, End: 46, Style: rich.Quote},
	}}
	styled.Spans[4].End, styled.Spans[5].Start = 39, 40
	ids = append(ids, send(t, d, channel.Outgoing{ID: "styled", Chat: f.Chat(), Text: styled}))
	seen(t, f, len(ids), shows(ids, append(texts, styled.Plain)))
}

// limit: a text of just the limit, in characters that are more than one unit or more than one code point.
func (suite) limit(t *testing.T, f Fixture) {
	d := f.Driver(t)
	run(t, d, nil)
	units := d.Capabilities().TextLimit
	astral := strings.Repeat("😀", units/2) + strings.Repeat("a", units%2)
	combining := strings.Repeat("e\u0301", units/2) + strings.Repeat("a", units%2)
	ids := []string{
		send(t, d, channel.Outgoing{ID: "astral", Chat: f.Chat(), Text: rich.Plain(astral)}),
		send(t, d, channel.Outgoing{ID: "combining", Chat: f.Chat(), Text: rich.Plain(combining)}),
	}
	seen(t, f, 2, shows(ids, []string{astral, combining}))
}

func (suite) sentInOrder(t *testing.T, f Fixture) {
	d := f.Driver(t)
	run(t, d, nil)
	texts := numbered(20)
	var ids []string
	for i, text := range texts {
		ids = append(ids, send(t, d, channel.Outgoing{ID: fmt.Sprintf("a%d", i), Chat: f.Chat(), Text: rich.Plain(text)}))
	}
	seen(t, f, len(ids), shows(ids, texts))
}

func (suite) sentAtOnce(t *testing.T, f Fixture) {
	d := f.Driver(t)
	run(t, d, nil)
	texts := numbered(16)
	var group sync.WaitGroup
	for i, text := range texts {
		group.Go(func() {
			if _, err := d.Send(t.Context(), channel.Outgoing{ID: fmt.Sprintf("a%d", i), Chat: f.Chat(), Text: rich.Plain(text)}); err != nil {
				t.Errorf("%s cannot be sent: %v", text, err)
			}
		})
	}
	group.Wait()
	seen(t, f, len(texts), func(all []Seen) error {
		for _, text := range texts {
			if !slices.ContainsFunc(all, func(s Seen) bool { return s.Text == text }) {
				return fmt.Errorf("%s is not there", text)
			}
		}
		return nil
	})
}

// sentTwice: a message with the same ID appears once where the chat says so, also from a driver that was started again.
func (suite) sentTwice(t *testing.T, f Fixture) {
	d := f.Driver(t)
	if !d.Capabilities().Idempotent {
		return
	}
	r := run(t, d, nil)
	out := channel.Outgoing{ID: "turn:1.a_b@c+d=e-f", Chat: f.Chat(), Text: rich.Plain("Yes.")}
	ids := []string{send(t, d, out), send(t, d, out)}
	r.stop(t)
	d = f.Driver(t)
	run(t, d, nil)
	ids = append(ids, send(t, d, out))
	if ids[1] != ids[0] || ids[2] != ids[0] {
		t.Errorf("the same message has the ids %q", ids)
	}
	last := send(t, d, channel.Outgoing{ID: "b", Chat: f.Chat(), Text: rich.Plain("No.")})
	seen(t, f, 2, shows([]string{ids[0], last}, []string{"Yes.", "No."}))
}

// filesOut: a file arrives as it is, with its name and its caption. A chat may refuse one that is empty.
func (suite) filesOut(t *testing.T, f Fixture) {
	d := f.Driver(t)
	limit := d.Capabilities().FileLimit
	if limit == 0 {
		return
	}
	run(t, d, nil)
	files := []Upload{
		{Name: "a b (1).txt", Media: "text/plain", Data: []byte("a file\n")},
		{Name: "täglich.bin", Media: "application/octet-stream", Data: bytes.Repeat([]byte("0123456789abcdef"), int(min(limit, 1<<20)/16))},
		{Name: "picture.png", Media: "image/png", Data: []byte("no picture at all")},
	}
	for i, file := range files {
		send(t, d, channel.Outgoing{ID: fmt.Sprintf("a%d", i), Chat: f.Chat(), Text: rich.Plain("look"), File: File(file.Name, file.Media, file.Data)})
	}
	empty := channel.Outgoing{ID: "empty", Chat: f.Chat(), File: File("empty.txt", "text/plain", nil)}
	if _, err := d.Send(t.Context(), empty); err == nil {
		files = append(files, Upload{Name: "empty.txt", Media: "text/plain"})
	} else if failure(err).Class != channel.Refused {
		t.Errorf("an empty file: %v", err)
	}
	eventually(t, func() error {
		var got []Upload
		captions := 0
		for _, s := range f.Seen(t) {
			if s.File != nil {
				got = append(got, *s.File)
			}
			if s.Text == "look" {
				captions++
			}
		}
		for i, want := range files {
			if i >= len(got) || got[i].Name != want.Name || !bytes.Equal(got[i].Data, want.Data) {
				return fmt.Errorf("the file %s is not there, or is another", want.Name)
			}
		}
		if len(got) != len(files) || captions != 3 {
			return fmt.Errorf("there are %d files of %d, and %d captions of 3", len(got), len(files), captions)
		}
		return nil
	})
}

// filesRefused: one that is too large is refused before it is read, and one that cannot be read is not sent.
func (suite) filesRefused(t *testing.T, f Fixture) {
	d := f.Driver(t)
	limit := d.Capabilities().FileLimit
	run(t, d, nil)
	read := false
	large := &channel.File{Name: "large", Media: "text/plain", Size: limit + 1, Open: func() (io.ReadCloser, error) {
		read = true
		return nil, errors.New("nobody reads this")
	}}
	if _, err := d.Send(t.Context(), channel.Outgoing{ID: "a", Chat: f.Chat(), File: large}); failure(err).Class != channel.Refused || read {
		t.Errorf("a file of %d bytes: %v, read: %v", limit+1, err, read)
	}
	if limit == 0 {
		return
	}
	gone := &channel.File{Name: "gone", Media: "text/plain", Size: 1, Open: func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }}
	if _, err := d.Send(t.Context(), channel.Outgoing{ID: "b", Chat: f.Chat(), File: gone}); err == nil {
		t.Error("a file that cannot be opened was sent")
	}
	id := send(t, d, channel.Outgoing{ID: "c", Chat: f.Chat(), Text: rich.Plain("after it")})
	seen(t, f, 1, shows([]string{id}, []string{"after it"}))
}

// repliesOut: an answer is shown as one, and without that where the message is not known any more.
func (suite) repliesOut(t *testing.T, f Fixture) {
	d := f.Driver(t)
	r := run(t, d, nil)
	theirs := f.Say(t, Line{Text: "one"})
	r.wait(t, channel.Said, 1)
	send(t, d, channel.Outgoing{ID: "a1", Chat: f.Chat(), Text: rich.Plain("Yes."), ReplyTo: theirs})
	send(t, d, channel.Outgoing{ID: "a2", Chat: f.Chat(), Text: rich.Plain("Still."), ReplyTo: unknownID(theirs)})
	seen(t, f, 2, func(all []Seen) error {
		if all[0].ReplyTo != theirs || all[0].Text != "Yes." || all[1].Text != "Still." {
			return fmt.Errorf("to %s, the answers are %+v", theirs, all)
		}
		return nil
	})
}

// unknownID returns an ID of the same form that no message has.
func unknownID(id string) string {
	digits := 0
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			if digits++; digits == 1 {
				return '7'
			}
			return '9' - (r - '0')
		}
		return r
	}, id)
}

func (suite) edits(t *testing.T, f Fixture) {
	d := f.Driver(t)
	editor, ok := d.(channel.Editor)
	if !ok {
		return
	}
	run(t, d, nil)
	ids := []string{
		send(t, d, channel.Outgoing{ID: "a1", Chat: f.Chat(), Text: rich.Plain("Yes.")}),
		send(t, d, channel.Outgoing{ID: "a2", Chat: f.Chat(), Text: rich.Plain("And more.")}),
	}
	for _, text := range []string{"Yes, I", "Yes, I do.", "Yes, I do."} {
		if err := editor.Edit(t.Context(), f.Chat(), ids[0], rich.Plain(text)); err != nil {
			t.Fatalf("the text cannot become %q: %v", text, err)
		}
	}
	seen(t, f, 2, shows(ids, []string{"Yes, I do.", "And more."}))
}

func (suite) deletions(t *testing.T, f Fixture) {
	d := f.Driver(t)
	deleter, ok := d.(channel.Deleter)
	if !ok {
		return
	}
	run(t, d, nil)
	first := send(t, d, channel.Outgoing{ID: "a1", Chat: f.Chat(), Text: rich.Plain("Yes.")})
	second := send(t, d, channel.Outgoing{ID: "a2", Chat: f.Chat(), Text: rich.Plain("No.")})
	if err := deleter.Delete(t.Context(), f.Chat(), first); err != nil {
		t.Fatal(err)
	}
	seen(t, f, 1, shows([]string{second}, []string{"No."}))
}

// reactionsOut: reactions are on the message that they are for. Twice, or to remove what is not there, is no error.
func (suite) reactionsOut(t *testing.T, f Fixture) {
	d := f.Driver(t)
	reactor, ok := d.(channel.Reactor)
	if !ok {
		return
	}
	reacting, ok := f.(Reacting)
	if !ok {
		t.Fatal("the driver reacts, and the fixture does not see it: it has to be a Reacting")
	}
	r := run(t, d, nil)
	ids := say(t, f, "one", "two")
	r.wait(t, channel.Said, 2)
	emoji := emojiOf(d)[0]
	for _, c := range []struct {
		remove bool
		want   []string
	}{{false, []string{emoji}}, {false, []string{emoji}}, {true, nil}, {true, nil}, {false, []string{emoji}}} {
		if err := reactor.React(t.Context(), channel.Reaction{Chat: f.Chat(), ID: ids[0], Emoji: emoji, Remove: c.remove}); err != nil {
			t.Fatalf("remove %v: %v", c.remove, err)
		}
		eventually(t, func() error {
			if got, other := reacting.Reactions(t, ids[0]), reacting.Reactions(t, ids[1]); !slices.Equal(got, c.want) || len(other) > 0 {
				return fmt.Errorf("the reactions are %q and not %q, and %q to another message", got, c.want, other)
			}
			return nil
		})
	}
}

// buttons: what is pressed gives back its data.
func (suite) buttons(t *testing.T, f Fixture) {
	d := f.Driver(t)
	if !d.Capabilities().Buttons {
		return
	}
	pressing, ok := f.(Pressing)
	if !ok {
		t.Fatal("the chat has buttons, and the fixture does not press them: it has to be a Pressing")
	}
	r := run(t, d, nil)
	data := strings.Repeat("x", 64)
	id := send(t, d, channel.Outgoing{ID: "a1", Chat: f.Chat(), Text: rich.Plain("May I?"), Buttons: [][]channel.Button{
		{{Label: "Yes ✓", Data: data}, {Label: "No", Data: "no"}}, {{Label: "Look", Data: "look"}},
	}})
	seen(t, f, 1, func(all []Seen) error {
		if !slices.Equal(all[0].Buttons, []string{"Yes ✓", "No", "Look"}) {
			return fmt.Errorf("the buttons are %q", all[0].Buttons)
		}
		return nil
	})
	for _, label := range []string{"Yes ✓", "Look", "Yes ✓"} {
		pressing.Press(t, id, label)
	}
	for i, m := range r.wait(t, channel.Pressed, 3) {
		if want := []string{data, "look", data}[i]; m.Of != id || m.Text != want || m.Sender.ID == "" || m.Chat.ID != f.Chat() {
			t.Errorf("what was pressed is %+v and not %q", m, want)
		}
	}
}

func (suite) typing(t *testing.T, f Fixture) {
	d := f.Driver(t)
	typist, ok := d.(channel.Typist)
	if !ok {
		return
	}
	watching, ok := f.(Watching)
	if !ok {
		t.Fatal("the driver shows that it types, and the fixture does not see it: it has to be a Watching")
	}
	r := run(t, d, nil)
	f.Say(t, Line{Text: "hello"})
	r.wait(t, channel.Said, 1)
	if err := typist.Typing(t.Context(), f.Chat(), true); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if !watching.Typing(t) {
			return errors.New("nobody sees that an answer is being written")
		}
		return nil
	})
	if err := typist.Typing(t.Context(), f.Chat(), false); err != nil {
		t.Fatal(err)
	}
}
