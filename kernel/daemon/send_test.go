package daemon_test

import (
	"path/filepath"
	"strings"
	"testing"

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
