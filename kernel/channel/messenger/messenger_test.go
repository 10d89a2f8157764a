package messenger_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/messenger"
	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begin returns a messenger over a real journal and outbox, and the chat that it sends to.
func begin(t *testing.T, can channel.Capabilities) (*messenger.Messenger, *channeltest.Memory) {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	chat := &channeltest.Memory{Can: can}
	box := outbox.New(outbox.Config{
		Store: j.Outgoing, Logger: slog.New(slog.DiscardHandler), Pause: func(int) time.Duration { return 10 * time.Second },
		Tell: func(context.Context, journal.Outgoing, string) error { return nil },
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		box.Run(ctx, chat)
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return &messenger.Messenger{Drivers: func() channel.Drivers { return channel.Drivers{chat} }, Outbox: box, Now: time.Now}, chat
}

// file writes a file and returns it as it was judged.
func file(t *testing.T, text string) tool.OutboundFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of hello
	return tool.OutboundFile{Path: path, Name: "report.pdf", Media: "application/pdf", Size: int64(len(text)), Hash: hash}
}

var room = tool.Target{Channel: "memory", Chat: "room"}

// TestParts checks what is said of a text in several pieces and of files: what was sent with which id, what waits, and what
// was refused, each by itself.
func TestParts(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for name, c := range map[string]struct {
		outcomes []error
		text     string
		want     []tool.PartState
		sent     int
		why      string // of the first failure
	}{
		"all":             {nil, long, []tool.PartState{tool.PartSent, tool.PartSent}, 3, ""},
		"a file alone":    {nil, "", []tool.PartState{tool.PartSent}, 1, ""},
		"one piece fails": {[]error{nil, refused("blocked")}, long, []tool.PartState{tool.PartFailed, tool.PartSent}, 2, "the first 1 of 2 pieces were sent, and then: "},
		"a file fails":    {[]error{nil, nil, refused("too large")}, long, []tool.PartState{tool.PartSent, tool.PartFailed}, 2, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			m, chat := begin(t, channel.Capabilities{TextLimit: 120, FileLimit: 1000, Idempotent: true})
			chat.Fail(c.outcomes...)
			parts, err := m.Send(t.Context(), tool.Outbound{ID: "a1", To: room, Text: c.text, Files: []tool.OutboundFile{file(t, "hello")}})
			if err != nil || len(parts) != len(c.want) {
				t.Fatalf("%+v, %v", parts, err)
			}
			why := ""
			for i, p := range parts {
				if p.State != c.want[i] || p.State == tool.PartSent && p.ID == "" {
					t.Errorf("part %d: %+v", i, p)
				}
				if why == "" {
					why = p.Why
				}
			}
			if sent := chat.Sent("room"); len(sent) != c.sent || !strings.HasPrefix(why, c.why) || c.why != "" && why == "" {
				t.Errorf("%d messages were sent; %q", len(sent), why)
			}
		})
	}
}

func refused(why string) error { return &channel.Failure{Class: channel.Refused, Err: errors.New(why)} }

// TestWaits checks that what cannot be sent now waits, and that a call says so when it has waited as long as it may.
func TestWaits(t *testing.T) {
	m, chat := begin(t, channel.Capabilities{TextLimit: 100, FileLimit: 1000, Idempotent: true})
	chat.Stop()
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	parts, err := m.Send(ctx, tool.Outbound{ID: "a1", To: room, Text: "hello"})
	if err != nil || len(parts) != 1 || parts[0].State != tool.PartQueued {
		t.Errorf("%+v, %v", parts, err)
	}
}

// TestChangedFile checks that a file is not sent with another content than was judged, however late it is read.
func TestChangedFile(t *testing.T) {
	m, chat := begin(t, channel.Capabilities{TextLimit: 100, FileLimit: 1000, Idempotent: true})
	parts, err := m.Send(t.Context(), tool.Outbound{ID: "a1", To: room, Text: "look", Files: []tool.OutboundFile{file(t, "hellO")}})
	if err != nil || len(parts) != 2 || parts[0].State != tool.PartSent || parts[1].State != tool.PartFailed || !strings.Contains(parts[1].Why, "another content") {
		t.Errorf("%+v, %v", parts, err)
	}
	if sent := chat.Sent("room"); len(sent) != 1 {
		t.Errorf("sent are %+v", sent)
	}
}

// TestReactions checks that a reaction is made and taken back, and what its failures are to a model.
func TestReactions(t *testing.T) {
	m, chat := begin(t, channeltest.Everything())
	id := chat.Post(channel.Message{Text: "hello"})
	if err := m.React(t.Context(), room, id, "👍", false); err != nil || len(chat.Reactions("room", id)) != 1 {
		t.Errorf("%v, %q", err, chat.Reactions("room", id))
	}
	if err := m.React(t.Context(), room, id, "👍", true); err != nil || len(chat.Reactions("room", id)) != 0 {
		t.Errorf("%v, %q", err, chat.Reactions("room", id))
	}
	chat.Fail(&channel.Failure{Class: channel.Temporary, RetryAfter: time.Second, Err: errors.New("busy")})
	if of := protocol.ToolErrorOf(m.React(t.Context(), room, id, "👍", false)); !of.Retryable || of.After != time.Second {
		t.Errorf("a busy chat: %+v", of)
	}
	if err := m.React(t.Context(), tool.Target{Channel: "owl", Chat: "x"}, id, "👍", false); protocol.ToolErrorOf(err).Code != protocol.ToolNotFound {
		t.Errorf("no such channel: %v", err)
	}
	if all := m.Channels(); len(all) != 1 || all[0].Name != "memory" || !all[0].Reacts || all[0].FileLimit != 1<<20 {
		t.Errorf("the channels are %+v", all)
	}
}
