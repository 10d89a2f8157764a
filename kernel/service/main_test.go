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

var discardLogger = slog.New(slog.DiscardHandler)

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// serve serves lists of methods over the real wire, without a kernel. It returns the function that
// connects a client.
func serve(t *testing.T, lists ...[]service.Method) (dial func(name string) *rpc.Conn) {
	t.Helper()
	return serveWith(t, nil, lists...)
}

// serveWith is serve for clients that handle notifications.
func serveWith(t *testing.T, handler rpc.IncomingHandler, lists ...[]service.Method) (dial func(name string) *rpc.Conn) {
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

// wantError fails the test unless the error has the code and contains the text.
func wantError(t *testing.T, name string, err error, code protocol.Code, text string) {
	t.Helper()
	if err == nil || protocol.ErrorCode(err) != code {
		t.Errorf("%s: %v; want the code %d", name, err, code)
	} else if got := err.Error(); !contains(got, text) {
		t.Errorf("%s: %q; want %q", name, got, text)
	}
}
