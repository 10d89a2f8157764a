package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/daemon"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestSendInEmacs checks what send does in a conversation of Emacs: files stand in place, before the answer, the same for
// who saw them come, in the file, and for who opens it later. A message to another conversation waits for a yes, whose
// letter says what is sent where.
func TestSendInEmacs(t *testing.T) {
	t.Parallel()
	in := newInstance(t)
	in.write(t, "skills/stepper.org", stepping(
		`(:type :request :target :tool :action :call :tool "send" :args (:text "Here is the plot." :attachments ("plot.png" "gone.txt")))`,
		`(:type :request :target :tool :action :call :tool "send" :args (:platform "emacs" :target "work" :text "The plot is done."))`,
		`(:type :request :target :tool :action :call :tool "react" :args (:message-id "q1" :emoji "👍"))`,
	))
	in.write(t, "plot.png", "PNG")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if _, err := e.Send(within(t), "q1", "go"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the letter", func() bool { return len(e.Approvals()) == 1 })
	if letter := e.Approvals()[0]; letter.Summary != "Send a message to the conversation work" || letter.Text != "The plot is done." {
		t.Errorf("the letter is %q: %q", letter.Summary, letter.Text)
	}
	link := "[[file:" + filepath.Join(in.paths.Home, "plot.png") + "]]\n"
	if text := e.Text(); strings.Count(text, link) != 1 || strings.Index(text, link) < strings.Index(text, "Here is the plot.") {
		t.Errorf("before the yes the conversation is\n%s", text)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: e.Approvals()[0].ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "Done") })
	text := e.Text()
	if strings.Index(text, link) > strings.Index(text, "Done") || !strings.Contains(text, "gone.txt: there is no file") {
		t.Errorf("the conversation is\n%s", text)
	}
	work := in.editor(t, rpctest.Config{Session: "work"})
	see(t, work, "the message", func() bool { return strings.Contains(work.Text(), "The plot is done.") })
	later := in.editor(t, rpctest.Config{Name: "later", Capabilities: &protocol.Capabilities{Streams: true}})
	see(t, later, "the conversation", func() bool { return strings.Contains(later.Text(), "Done") })
	below := func(text string) string { return text[strings.Index(text, "\n** "):] } // the question's own tag is aligned by who writes it
	if got := later.Text(); below(got) != below(e.Text()) {
		t.Errorf("who opens it later has\n%s\nand not\n%s", got, e.Text())
	}
}

// TestSendInAChat checks what the tools do in a chat: text and files arrive in order before the answer, the reaction is made
// to the message that was named, who opens the conversation in Emacs sees the same, and whoever wrote is a contact.
func TestSendInAChat(t *testing.T) {
	t.Parallel()
	in := newInstance(t)
	in.write(t, "skills/stepper.org", stepping(
		`(:type :request :target :tool :action :call :tool "send" :args (:text "Here is the plot." :attachments ("plot.png")))`,
		`(:type :request :target :tool :action :call :tool "react" :args (:message-id "first" :emoji "👍"))`,
		`(:type :request :target :tool :action :call :tool "send" :args (:text "The plot is done." :target "owner"))`,
	))
	in.write(t, "plot.png", "PNG")
	in.write(t, "channels.org", talkers("memory", "ada"))
	chat := &channeltest.Memory{}
	in.startWith(t, daemon.Config{Channels: []channel.Driver{chat}})
	chat.Post(channel.Message{ID: "first", Text: "make the plot"})
	sent, err := chat.Wait(within(t), "room", 3)
	if err != nil || len(sent) != 3 || sent[0].Text.Plain != "Here is the plot." || string(sent[1].Data) != "PNG" || sent[1].File.Media != "image/png" || sent[2].Text.Plain != "Done" {
		t.Fatalf("%v, sent are %+v", err, sent)
	}
	if got := chat.Reactions("room", "first"); len(got) != 1 || got[0] != "👍" {
		t.Errorf("the reactions are %q", got)
	}
	e := in.editor(t, rpctest.Config{Session: "memory-room"})
	see(t, e, "the conversation", func() bool { return strings.Contains(e.Text(), "Done") })
	if link := "[[file:" + filepath.Join(in.paths.Home, "plot.png") + "]]\n"; strings.Count(e.Text(), link) != 1 || strings.Index(e.Text(), link) > strings.Index(e.Text(), "Done") {
		t.Errorf("the conversation is\n%s", e.Text())
	}
	main := in.editor(t, rpctest.Config{})
	see(t, main, "what was sent to the owner", func() bool { return strings.Contains(main.Text(), "The plot is done.") })
	until(t, "the contact", func() bool {
		text, err := os.ReadFile(in.paths.Contacts)
		return err == nil && strings.Contains(string(text), "* Ada\n:PROPERTIES:") && strings.Contains(string(text), ":MEMORY:   ada\n")
	})
}
