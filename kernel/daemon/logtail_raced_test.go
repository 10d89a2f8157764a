//go:build race

package daemon_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// TestLogTail: a client gets the end of the log and is told of what comes, as it asked.
func TestLogTail(t *testing.T) {
	in := newInstance(t)
	in.start(t)
	var mu sync.Mutex
	var told []string
	conn, err := rpc.Dial(within(t), rpc.DialConfig{
		Socket: in.paths.Socket, Token: in.token(t), Client: protocol.ClientInfo{Name: "test"},
		Handler: func(_ context.Context, asked *rpc.Request) (any, error) {
			if lines, ok := asked.Params.(*protocol.LogLines); ok && asked.Method == protocol.MethodLog && lines.Mark == 7 {
				mu.Lock()
				defer mu.Unlock()
				for _, r := range lines.Records {
					told = append(told, r.Message+r.Fields)
				}
			}
			return nil, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var result protocol.LogTailResult
	tail := func(p protocol.LogTailParams) error {
		result = protocol.LogTailResult{}
		return conn.Call(within(t), protocol.MethodLogTail, p, &result)
	}
	if err := tail(protocol.LogTailParams{Follow: true, Mark: 7, Text: "name=second"}); err != nil || len(result.Records) != 0 || result.File != in.paths.Log {
		t.Fatalf("%+v, %v", result, err)
	}
	if err := tail(protocol.LogTailParams{Lines: 1, Text: "kernel ready", Follow: true, Mark: 6}); err != nil || len(result.Records) != 1 || result.Records[0].Level != protocol.LevelInfo {
		t.Fatalf("%+v, %v", result, err)
	}
	if err := tail(protocol.LogTailParams{Level: "loud"}); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Errorf("a level there is not: %v", err)
	}
	if err := tail(protocol.LogTailParams{Follow: true, Mark: 7, Text: "name=second"}); err != nil {
		t.Fatal(err)
	}
	second, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: in.token(t), Client: protocol.ClientInfo{Name: "second"}})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for deadline := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		got := strings.Join(told, "|")
		mu.Unlock()
		if strings.Contains(got, "name=second") && strings.Count(got, "|") == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("told of %q", got)
		}
	}
}
