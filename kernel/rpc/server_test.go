package rpc_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken rpc.Token = "0123456789abcdef"

// handlerFunc is a Handler made of a function.
type handlerFunc func(ctx context.Context, r *rpc.Request) (any, error)

func (f handlerFunc) Handle(ctx context.Context, r *rpc.Request) (any, error) { return f(ctx, r) }

// serve runs a server on a socket until the test ends.
func serve(t testing.TB, s *rpc.Server) (path string) {
	t.Helper()
	path = t.TempDir() + "/kernel.sock"
	listener, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Token == "" {
		s.Token = testToken
	}
	serveOn(t, s, listener)
	return path
}

// serveOn has a server serve a listener until the test ends.
func serveOn(t testing.TB, s *rpc.Server, listener net.Listener) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// dial connects to a server and closes the connection when the test ends.
func dial(t testing.TB, config rpc.DialConfig) *rpc.Conn {
	t.Helper()
	if config.Token == "" {
		config.Token = testToken
	}
	if config.Client.Name == "" {
		config.Client.Name = "test"
	}
	c, err := rpc.Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var codecs = []struct {
	name  string
	codec rpc.Codec
}{{"json", rpc.JSON}, {"plist", rpc.Plist}}

func TestRoundTrip(t *testing.T) {
	var got protocol.Object
	path := serve(t, &rpc.Server{
		Version: "7",
		Handler: handlerFunc(func(ctx context.Context, r *rpc.Request) (any, error) {
			if r.Method == protocol.MethodEvent {
				got = *r.Params.(*protocol.Object)
				r.Client.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelInfo, Text: "grüße"})
				r.Release()
				receipt, err := r.Client.Act(ctx, protocol.Act{ID: "a1", Payload: protocol.Object{{Key: "text", Value: "😀"}, {Key: "action", Value: protocol.Keyword("insert-at-end")}}})
				if err != nil {
					return nil, err
				}
				return protocol.EventResult{Event: got.Text("id"), Turn: receipt.SHA256, State: protocol.TurnQueued}, nil
			}
			return nil, protocol.Errorf(protocol.CodeNotFound, "no such %s", r.Method)
		}),
	})
	for _, codec := range codecs {
		t.Run(codec.name, func(t *testing.T) {
			var heard []string
			c := dial(t, rpc.DialConfig{Socket: path, Codec: codec.codec, Handler: func(_ context.Context, r *rpc.Request) (any, error) {
				switch p := r.Params.(type) {
				case *protocol.Notice:
					heard = append(heard, p.Text)
				case *protocol.Act:
					heard = append(heard, p.Payload.Text("text")+" "+p.Payload.Text("action"))
					if p.Payload[0].Key != "text" {
						t.Errorf("the order of the payload is %v", p.Payload)
					}
					return protocol.Receipt{Chars: 1, SHA256: "abc"}, nil
				}
				return nil, nil
			}})
			if s := c.Server(); s.Protocol != 1 || s.Server.Version != "7" || s.Server.PID == 0 {
				t.Errorf("welcome %+v", s)
			}
			var result protocol.EventResult
			event := protocol.Object{{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "id", Value: "q1"}, {Key: "text", Value: "zażółć \"x\" \n 😀"}}
			if err := c.Call(t.Context(), protocol.MethodEvent, event, &result); err != nil {
				t.Fatal(err)
			}
			if want := (protocol.EventResult{Event: "q1", Turn: "abc", State: protocol.TurnQueued}); result != want {
				t.Errorf("result %+v, want %+v", result, want)
			}
			if got.Text("text") != event.Text("text") || got.Get("sensor") != event.Get("sensor") {
				t.Errorf("event %v", got)
			}
			if strings.Join(heard, "|") != "grüße|😀 insert-at-end" {
				t.Errorf("heard %q", heard)
			}
			err := c.Call(t.Context(), protocol.MethodTurnGet, protocol.TurnGetParams{Turn: "x"}, nil)
			if protocol.ErrorCode(err) != protocol.CodeNotFound || err.Error() != "no such turn/get" {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestListenUnixRefuses(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "notes.org")
	if err := os.WriteFile(file, []byte("* precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, want string }{
		{filepath.Join(t.TempDir(), strings.Repeat("x", 120)), "name a shorter one"},
		{serve(t, &rpc.Server{Handler: handlerFunc(nothing)}), rpc.ErrInUse.Error()},
		{filepath.Join(open, "kernel.sock"), "chmod 700"},
		{file, "something that is no socket"},
	} {
		if l, err := rpc.ListenUnix(test.path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v %v, want %s", test.path, l, err, test.want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "* precious" {
		t.Errorf("the file holds %q: %v", text, err)
	}
}

func TestListenUnixIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "kernel.sock")
	first, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		path string
		mode os.FileMode
	}{{path, 0o600}, {filepath.Dir(path), 0o700}} {
		if info, err := os.Stat(want.path); err != nil || info.Mode().Perm() != want.mode {
			t.Errorf("%s: %v %v", want.path, info.Mode(), err)
		}
	}
	// Another kernel that took the place keeps it when the first one ends.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.sock")
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	old.Close()
	l, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestListenTCPIsLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0"} {
		if l, err := rpc.ListenTCP(address); err == nil {
			l.Close()
			t.Errorf("listens on %s", address)
		}
	}
	l, err := rpc.ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&rpc.Server{Handler: handlerFunc(nothing), Token: testToken}).Serve(ctx, l) }()
	dial(t, rpc.DialConfig{Addr: l.Addr().String()}).Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A kernel whose socket is taken listens at the spare one, if it has one, and beside it on an address.
func TestListen(t *testing.T) {
	taken := serve(t, &rpc.Server{Handler: handlerFunc(nothing)})
	spare := filepath.Join(t.TempDir(), "spare.sock")
	if _, _, err := rpc.Listen(taken, "", ""); !errors.Is(err, rpc.ErrInUse) {
		t.Errorf("without a spare one: %v", err)
	}
	unix, listeners, err := rpc.Listen(taken, spare, "127.0.0.1:0")
	if err != nil || unix.Path() != spare || len(listeners) != 2 {
		t.Fatal(listeners, err)
	}
	for _, l := range listeners {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := rpc.Listen(spare, "", "192.0.2.1:4711"); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an address that others reach: %v", err)
	}
	if _, err := os.Lstat(spare); !os.IsNotExist(err) {
		t.Errorf("the socket of a kernel that could not listen is there: %v", err)
	}
}

// TestRenew: a listener whose socket was removed listens again, where that is possible, and serves on.
func TestRenew(t *testing.T) {
	directory := t.TempDir()
	path, other := filepath.Join(directory, "run", "kernel.sock"), filepath.Join(directory, "other", "kernel.sock")
	listener, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	server := &rpc.Server{Handler: handlerFunc(nothing), Token: testToken}
	go func() { served <- server.Serve(t.Context(), listener) }()
	for _, where := range []string{path, other} {
		if listener.Lost() {
			t.Error("it is lost, and is there")
		}
		if err := os.RemoveAll(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		if !listener.Lost() {
			t.Error("it is there, and was removed")
		}
		if where == other { // the first place cannot be made again
			if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := listener.Renew(path); err == nil || !listener.Lost() {
				t.Errorf("it listens in a file: %v", err)
			}
		}
		if err := listener.Renew(path, other); err != nil || listener.Path() != where {
			t.Fatal(listener.Path(), err)
		}
		conn, err := rpc.Dial(t.Context(), rpc.DialConfig{Socket: where, Token: testToken})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	<-served
	if _, err := os.Lstat(other); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	if err := listener.Renew(path); err == nil {
		t.Error("a closed listener listens")
	}
}
