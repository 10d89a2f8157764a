package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/daemon"
	"org-agent/kernel/rpc/rpctest"
)

// echoHome returns a home whose kernel echoes.
func echoHome(t *testing.T) *instance {
	in := newInstance(t)
	in.write(t, "skills/echo.org", lisp(channeltest.Echo))
	return in
}

// TestEmacsIsAChannel holds Emacs to what every channel keeps: the buffer has each answer once and in order, also after a lost
// connection and with another kernel.
func TestEmacsIsAChannel(t *testing.T) {
	t.Parallel()
	channeltest.ClientSuite(t, func(t *testing.T) channeltest.Client {
		in := echoHome(t)
		e := &emacs{in: in, kernel: in.start(t)}
		e.editor = in.editor(t, rpctest.Config{})
		return e
	})
}

// emacs is an Emacs with a conversation.
type emacs struct {
	in     *instance
	kernel *kernel
	editor *rpctest.Editor
}

func (e *emacs) Say(t *testing.T, id, text string) {
	t.Helper()
	if _, err := e.editor.Send(within(t), id, text); err != nil {
		t.Fatal(err)
	}
}

func (e *emacs) SayAgain(t *testing.T, id, text string) { e.Say(t, id, text) }
func (e *emacs) Shown(*testing.T) string                { return e.editor.Text() }

// Drop ends the connection. The buffer stays, and Emacs connects again.
func (e *emacs) Drop(t *testing.T) {
	t.Helper()
	if err := e.editor.Wire().Close(); err != nil {
		t.Fatal(err)
	}
	<-e.editor.Done()
	e.editor = e.in.editor(t, rpctest.Config{Text: e.editor.Text()})
}

func (e *emacs) Restart(t *testing.T) {
	t.Helper()
	if err := e.kernel.end(); err != nil {
		t.Fatal(err)
	}
	<-e.editor.Done()
	e.kernel = e.in.start(t)
	e.editor = e.in.editor(t, rpctest.Config{Text: e.editor.Text()})
}

// TestAChatIsAChannel holds a chat with a driver, and the kernel behind it, to the same.
func TestAChatIsAChannel(t *testing.T) {
	t.Parallel()
	channeltest.ClientSuite(t, func(t *testing.T) channeltest.Client {
		in := echoHome(t)
		in.write(t, "channels.org", talkers("memory", "ada"))
		p := &phone{in: in, chat: &channeltest.Memory{}}
		p.start(t)
		return p
	})
}

// phone is a person in a room of a chat in memory.
type phone struct {
	in     *instance
	kernel *kernel
	chat   *channeltest.Memory
}

func (p *phone) start(t *testing.T) {
	t.Helper()
	p.kernel = p.in.startWith(t, daemon.Config{Channels: []channel.Driver{p.chat}})
}

func (p *phone) Say(t *testing.T, id, text string) {
	t.Helper()
	p.chat.Post(channel.Message{ID: id, Text: text})
	until(t, "the message "+id+" is taken", func() bool { return p.chat.Waiting() == 0 })
}

func (p *phone) SayAgain(t *testing.T, id, text string) { p.Say(t, id, text) }

func (p *phone) Shown(*testing.T) string {
	var shown strings.Builder
	for _, s := range p.chat.Sent("room") {
		shown.WriteString(s.Text.Plain + "\n")
	}
	return shown.String()
}

// Drop takes the chat's server away and brings it back.
func (p *phone) Drop(*testing.T) {
	p.chat.Stop()
	p.chat.Start()
}

func (p *phone) Restart(t *testing.T) {
	t.Helper()
	if err := p.kernel.end(); err != nil {
		t.Fatal(err)
	}
	p.start(t)
}
