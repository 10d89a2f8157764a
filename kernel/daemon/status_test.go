package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// TestStatus: who has the token is told everything; who has not, no name and no path of what
// was said.
func TestStatus(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Status: 503, Body: "overloaded", Times: 1}, llmtest.Exchange{Status: 401, Body: "no", Times: -1})
	in.write(t, "skills/bad.org", "#+begin_src lisp\n(defskill :bad\n#+end_src\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	status := func(token rpc.Token) protocol.StatusResult {
		t.Helper()
		conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: token, Client: protocol.ClientInfo{Name: "looker"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var s protocol.StatusResult
		if err := conn.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := status(in.token(t))
	if len(before.Models) != 1 || before.Models[0].State != "unasked" {
		t.Errorf("models before: %+v", before.Models)
	}
	ask(t, e, "q1", "hello")
	s := status(in.token(t))
	if s.Memory < 1<<20 || s.JournalSize == 0 || s.Journal != in.paths.Journal || s.Log != in.paths.Log || s.Faulty != 1 {
		t.Errorf("%+v", s)
	}
	if len(s.Models) != 1 || s.Models[0].State != "failing" || s.Models[0].Fault == "" || strings.Contains(s.Models[0].Fault, canary) {
		t.Errorf("models: %+v", s.Models)
	}
	if len(s.Connected) == 0 || !strings.HasPrefix(s.Connected[0].Name, "emacs") {
		t.Errorf("connected: %+v", s.Connected)
	}
	stranger := status("")
	if stranger.PID != s.PID || stranger.Connected != nil || stranger.Models != nil || stranger.Log != "" || stranger.Memory != 0 {
		t.Errorf("a stranger is told %+v", stranger)
	}
}
