package service_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var silent = slog.New(slog.DiscardHandler)

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// served serves lists of methods over the real wire, and nothing else of a kernel, and returns
// what dials it.
func served(t *testing.T, lists ...[]service.Method) (dial func(name string) *rpc.Conn) {
	t.Helper()
	return servedWith(t, nil, lists...)
}

// servedWith is served for clients that handle what they are sent.
func servedWith(t *testing.T, handler rpc.IncomingHandler, lists ...[]service.Method) (dial func(name string) *rpc.Conn) {
	t.Helper()
	table, err := service.NewTable(lists...)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := rpc.ListenUnix(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	server := &rpc.Server{Handler: table, Token: "token"}
	go func() { done <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return func(name string) *rpc.Conn {
		t.Helper()
		conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: socket, Token: "token", Client: protocol.ClientInfo{Name: name}, Handler: handler})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
}

// refused fails unless the error has the code and says so.
func refused(t *testing.T, what string, err error, code protocol.Code, says string) {
	t.Helper()
	if err == nil || protocol.ErrorCode(err) != code {
		t.Errorf("%s: %v; want the code %d", what, err, code)
	} else if got := err.Error(); !contains(got, says) {
		t.Errorf("%s: %q; want %q", what, got, says)
	}
}
