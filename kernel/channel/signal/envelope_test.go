package signal

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"org-agent/kernel/channel"
)

var update = flag.Bool("update", false, "write the golden files anew")

// account returns a driver that knows who it is.
func account() *Driver {
	d := New(Config{Account: agent.Number, Address: "/nowhere"})
	uuid := agent.UUID
	d.uuid.Store(&uuid)
	return d
}

// TestEnvelopes checks what becomes of each envelope that signal-cli may report, one after the other.
func TestEnvelopes(t *testing.T) {
	const file = "testdata/envelopes.txtar"
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := account()
	updated := &txtar.Archive{Comment: archive.Comment}
	wanted := map[string]string{}
	for _, f := range archive.Files {
		wanted[f.Name] = string(f.Data)
	}
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".json")
		if !ok {
			continue
		}
		got := "nothing\n"
		if m, ok := d.message(t.Context(), strings.TrimSpace(string(f.Data))); ok {
			got = shown(m)
		}
		if want := wanted[name+".message"]; got != want && !*update {
			t.Errorf("%s became\n%swanted\n%s", name, got, want)
		}
		updated.Files = append(updated.Files, f, txtar.File{Name: name + ".message", Data: []byte(got)})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shown prints a message, one field a line.
func shown(m channel.Message) string {
	var b strings.Builder
	line := func(name string, value any, empty bool) {
		if !empty {
			fmt.Fprintf(&b, "%s: %+q\n", name, fmt.Sprint(value))
		}
	}
	line("id", m.ID, false)
	line("kind", m.Kind, m.Kind == "")
	line("chat", m.Chat.ID, false)
	line("title", m.Chat.Title, m.Chat.Title == "")
	line("group", m.Chat.Group, !m.Chat.Group)
	line("sender", m.Sender.ID, false)
	line("name", m.Sender.Name, m.Sender.Name == "")
	line("username", m.Sender.Username, m.Sender.Username == "")
	line("text", m.Text, m.Text == "")
	line("of", m.Of, m.Of == "")
	line("sent", m.Sent.UTC().Format("2006-01-02 15:04:05.000"), false)
	line("myself", m.Myself, !m.Myself)
	line("mentions", m.Mentions, !m.Mentions)
	if m.Reply != nil {
		line("reply", *m.Reply, false)
	}
	for _, a := range m.Attachments {
		line("attachment", fmt.Sprintf("%q %s %d voice=%v", a.Name, a.Media, a.Size, a.Voice), false)
	}
	return b.String()
}

// FuzzEnvelope checks that no envelope makes the driver fail, and that what comes of it keeps the promises of messages.
func FuzzEnvelope(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/envelopes.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(string(file.Data))
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, ok := account().message(t.Context(), line)
		if !ok {
			return
		}
		again, _ := account().message(t.Context(), line)
		if m.ID == "" || m.ID != again.ID || m.Chat.ID == "" || m.Sender.ID == "" || !utf8.ValidString(m.Text) {
			t.Errorf("%+v", m)
		}
		if _, err := destination(m.Chat.ID); err != nil {
			t.Errorf("nobody can answer: %v", err)
		}
		if _, _, err := splitID(m.ID); err != nil {
			t.Errorf("nobody can react: %v", err)
		}
		var e envelope
		if json.Unmarshal([]byte(line), &e) == nil && m.Myself && !account().self(address{e.Number, e.UUID, e.Source}) {
			t.Errorf("somebody else counts as the account: %+v", m)
		}
	})
}
