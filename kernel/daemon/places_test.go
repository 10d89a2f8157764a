package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// found connects as a program does that has only kernel.json and the token.
func found(t *testing.T, in *instance) (socket string, ok bool) {
	t.Helper()
	info, err := config.ReadKernelInfo(in.paths.KernelJSON)
	if err != nil {
		return "", false
	}
	token, err := config.ReadToken(in.paths.Token)
	if err != nil {
		return "", false
	}
	conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: info.Socket, Token: rpc.Token(token), Client: protocol.ClientInfo{Name: "looker"}})
	if err != nil {
		return "", false
	}
	conn.Close()
	return info.Socket, true
}

// TestVanishedPlaces: whatever clients find the kernel by is made again, at the same place if that is
// possible, and connections that are open stay open.
func TestVanishedPlaces(t *testing.T) {
	remove := func(paths ...string) func(*testing.T, *instance) {
		return func(t *testing.T, _ *instance) {
			for _, path := range paths {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, test := range []struct {
		name   string
		vanish func(t *testing.T, in *instance)
		moved  bool
	}{
		{"socket", func(t *testing.T, in *instance) { remove(in.paths.Socket)(t, in) }, false},
		{"run directory", func(t *testing.T, in *instance) { remove(in.paths.Run)(t, in) }, false},
		{"directory of the login session", func(t *testing.T, in *instance) { remove(in.variables["XDG_RUNTIME_DIR"])(t, in) }, false},
		{"a session that is over for good", func(t *testing.T, in *instance) {
			remove(in.variables["XDG_RUNTIME_DIR"])(t, in)
			if err := os.WriteFile(in.variables["XDG_RUNTIME_DIR"], nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"kernel.json and token", func(t *testing.T, in *instance) { remove(in.paths.KernelJSON, in.paths.Token)(t, in) }, false},
		{"kernel.json is another's", func(t *testing.T, in *instance) {
			if err := os.WriteFile(in.paths.KernelJSON, []byte(`{"pid":1,"socket":"/nowhere"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"log", func(t *testing.T, in *instance) { remove(in.paths.Log)(t, in) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
			in.variables["ORG_AGENT_HOME"] = t.TempDir() // not the default one, whose place below /tmp may be in use
			var err error
			if in.paths, err = config.FindPaths("", in.env); err != nil {
				t.Fatal(err)
			}
			elsewhere := in.paths.Elsewhere()
			t.Cleanup(func() { _ = os.RemoveAll(elsewhere.Run) })
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			token := in.token(t)
			test.vanish(t, in)
			where := in.paths.Socket
			if test.moved {
				where = elsewhere.Socket
			}
			until(t, "the kernel at "+where, func() bool {
				socket, ok := found(t, in)
				_, logged := os.Stat(in.paths.Log)
				return ok && socket == where && logged == nil
			})
			if in.token(t) != token {
				t.Error("the token is another")
			}
			if got := ask(t, e, "q1", "hi"); got.state != "answered" {
				t.Errorf("a client that was connected is answered %+v", got)
			}
			if test.moved { // a new kernel says that it has no run directory
				in.variables["XDG_RUNTIME_DIR"] = ""
			}
			if _, err := in.tryStart(daemon.Config{}); err == nil || !strings.Contains(err.Error(), "a kernel runs for") {
				t.Errorf("another kernel: %v", err)
			}
		})
	}
}

// TestVanishedState: a kernel whose journal was removed writes it again and ends; the next one goes on with
// all that was said, also after that.
func TestVanishedState(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	k, err := in.tryStart(daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "one")
	if err := os.RemoveAll(in.paths.State); err != nil {
		t.Fatal(err)
	}
	_, _ = e.Ask(within(t), "q2", "two") // it is stored, or it is not taken
	<-k.ended
	if err := k.end(); err == nil || !strings.Contains(err.Error(), in.paths.Journal+" was removed while the kernel ran: it was written again") {
		t.Errorf("the kernel ended: %v", err)
	}
	in.start(t)
	again := in.editor(t, rpctest.Config{Name: "no keeper"})
	for id, text := range map[string]string{"q1": "one", "q2": "two"} { // what is stored is not asked again
		if _, err := again.Send(within(t), id, text); err != nil {
			t.Error(err)
		}
	}
	idle(t, again)
	if text := bare(in.conversation(t, "main")); strings.Count(text, "* one\n** Hello\n") != 1 || strings.Count(text, "* two\n** Hello\n") != 1 {
		t.Errorf("the conversation is\n%s", text)
	}
}

// TestReplacedState: the journal of another kernel is not overwritten.
func TestReplacedState(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	k, err := in.tryStart(daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(in.paths.State, in.paths.State+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(in.paths.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in.paths.Journal, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-k.ended
	if err := k.end(); err == nil || !strings.Contains(err.Error(), "was replaced while the kernel ran") {
		t.Errorf("the kernel ended: %v", err)
	}
	if text, err := os.ReadFile(in.paths.Journal); err != nil || string(text) != "another's" {
		t.Errorf("the other journal is %q, %v", text, err)
	}
	if copies, _ := filepath.Glob(in.paths.Journal + ".replaced-*"); len(copies) != 1 {
		t.Errorf("what the former one holds is in %q", copies)
	}
}

// TestVanishedHome: a kernel whose home was removed or replaced says so and ends. Meanwhile no other kernel
// starts there, also if nothing is left by which it could find the first one.
func TestVanishedHome(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	k, err := in.tryStart(daemon.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e := in.editor(t, rpctest.Config{})
	for _, path := range []string{in.paths.Home, in.paths.State, in.variables["XDG_RUNTIME_DIR"]} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	next, err := in.tryStart(daemon.Config{})
	if err == nil {
		select {
		case <-k.ended:
		default:
			t.Error("two kernels run for one home")
		}
		if err := next.end(); err != nil {
			t.Error(err)
		}
	}
	see(t, e, "the notice", func() bool { return strings.Contains(strings.Join(e.Notices(), "\n"), in.paths.Home+" was removed") })
	<-k.ended
	if err := k.end(); err == nil || !strings.Contains(err.Error(), "the home "+in.paths.Home+" was removed or replaced") {
		t.Errorf("the kernel ended: %v", err)
	}
}
