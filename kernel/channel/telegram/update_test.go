package telegram_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/tools/txtar"

	"org-agent/kernel/channel"
)

var update = flag.Bool("update", false, "write anew what updates mean")

// TestUpdates checks what each update means. The updates are of the shapes that Telegram sends.
func TestUpdates(t *testing.T) {
	files, err := filepath.Glob("testdata/updates/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			synctest.Test(t, func(t *testing.T) { got = meaning(t, archive.Files[0].Data) })
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// meaning returns what is delivered for updates, for people.
func meaning(t *testing.T, updates []byte) string {
	l := newLoft()
	var out strings.Builder
	decoder := json.NewDecoder(bytes.NewReader(updates))
	stop := l.run(t.Context())
	for number := 1; ; number++ {
		var one map[string]json.RawMessage
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for kind, body := range one {
			fmt.Fprintf(&out, "%d %s\n", number, kind)
			l.Replay(kind, body)
		}
		synctest.Wait()
		l.mutex.Lock()
		for _, m := range l.got {
			out.WriteString(shown(m))
		}
		l.got = nil
		l.mutex.Unlock()
	}
	stopped(t, stop)
	return out.String()
}

func shown(m channel.Message) string {
	var out strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&out, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("id", "%s %s", m.ID, m.Kind)
	line("chat", "%s %q group=%v", m.Chat.ID, m.Chat.Title, m.Chat.Group)
	line("sender", "%s", who(m.Sender))
	line("sent", "%d", m.Sent.Unix())
	line("text", "%q", m.Text)
	if m.Of != "" {
		line("of", "%s", m.Of)
	}
	if m.Myself || m.Mentions {
		line("flags", "myself=%v mentions=%v", m.Myself, m.Mentions)
	}
	if m.Forwarded != "" {
		line("forwarded", "%q", m.Forwarded)
	}
	if r := m.Reply; r != nil {
		line("reply", "%s %s %q to-me=%v", r.ID, who(r.Sender), r.Text, r.ToMe)
	}
	for _, a := range m.Attachments {
		line("file", "%q %s %d voice=%v", a.Name, a.Media, a.Size, a.Voice)
	}
	return out.String()
}

func who(p channel.Person) string { return fmt.Sprintf("%s %q @%s", p.ID, p.Name, p.Username) }
