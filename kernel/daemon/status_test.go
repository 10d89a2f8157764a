package daemon_test

import (
	"encoding/base64"
	"strings"
	"sync"
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
	if r := s.Runtime; r == nil || r.Goroutines < 5 || r.Descriptors < 5 || r.DescriptorLimit < r.Descriptors || r.Heap < 1<<20 || r.WaitingRows < 0 ||
		r.Flushes < 1 || r.FlushMedian <= 0 || r.FlushP99 < r.FlushMedian || r.FlushMax < r.FlushP99 {
		t.Errorf("the process: %+v", r)
	}
	stranger := status("")
	if stranger.Runtime != nil {
		t.Errorf("a stranger is told of the process: %+v", stranger.Runtime)
	}
	if stranger.PID != s.PID || stranger.Connected != nil || stranger.Models != nil || stranger.Log != "" || stranger.Memory != 0 {
		t.Errorf("a stranger is told %+v", stranger)
	}
}

// TestProfile: the owner can profile the kernel over its socket, several at a time, and nobody else can.
func TestProfile(t *testing.T) {
	in := newInstance(t)
	in.start(t)
	profile := func(token rpc.Token, p protocol.ProfileParams) ([]byte, error) {
		conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: token, Client: protocol.ClientInfo{Name: "looker"}})
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		var result protocol.ProfileResult
		if err := conn.Call(within(t), protocol.MethodProfile, p, &result); err != nil {
			return nil, err
		}
		return base64.StdEncoding.DecodeString(result.Data)
	}
	begins := map[string]string{"cpu": "\x1f\x8b", "heap": "\x1f\x8b", "allocs": "\x1f\x8b", "goroutine": "\x1f\x8b", "threadcreate": "\x1f\x8b",
		"block": "\x1f\x8b", "mutex": "\x1f\x8b", "trace": "go 1.", "stacks": "goroutine "}
	var all sync.WaitGroup
	for kind, begin := range begins {
		all.Go(func() {
			data, err := profile(in.token(t), protocol.ProfileParams{Kind: kind, Seconds: 1})
			if err != nil || !strings.HasPrefix(string(data), begin) {
				t.Errorf("%s: %.20q, %v", kind, data, err)
			}
		})
	}
	all.Wait()
	for _, wrong := range []protocol.ProfileParams{{Kind: "none"}, {Kind: "cpu", Seconds: 3600}, {Kind: "cpu", Seconds: -1}} {
		if _, err := profile(in.token(t), wrong); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if data, err := profile("", protocol.ProfileParams{Kind: "heap"}); err == nil {
		t.Errorf("a stranger gets %d bytes", len(data))
	}
}
