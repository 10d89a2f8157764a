package rpc

import (
	"context"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testToken Token = "0123456789abcdef"

// handlerFunc is a Handler made of a function.
type handlerFunc func(ctx context.Context, client *Client, method string, params any) (any, error)

func (f handlerFunc) Handle(ctx context.Context, client *Client, method string, params any) (any, error) {
	return f(ctx, client, method, params)
}

// serve runs a server on a socket until the test ends.
func serve(t testing.TB, s *Server) (path string) {
	t.Helper()
	path = t.TempDir() + "/kernel.sock"
	listener, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Token == "" {
		s.Token = testToken
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return path
}

// dial connects to a server and closes the connection when the test ends.
func dial(t testing.TB, config DialConfig) *Conn {
	t.Helper()
	if config.Token == "" {
		config.Token = testToken
	}
	if config.Client.Name == "" {
		config.Client.Name = "test"
	}
	c, err := Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var codecs = []struct {
	name  string
	codec Codec
}{{"json", JSON}, {"plist", Plist}}

func TestRoundTrip(t *testing.T) {
	var got protocol.Object
	path := serve(t, &Server{
		Version: "7",
		Handler: handlerFunc(func(ctx context.Context, client *Client, method string, params any) (any, error) {
			if method == protocol.MethodEvent {
				got = *params.(*protocol.Object)
				client.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelInfo, Text: "grüße"})
				Release(ctx)
				receipt, err := client.Act(ctx, protocol.Act{ID: "a1", Payload: protocol.Object{{Key: "text", Value: "😀"}, {Key: "action", Value: protocol.Keyword("insert-at-end")}}})
				if err != nil {
					return nil, err
				}
				return protocol.EventResult{Event: got.Text("id"), Turn: receipt.SHA256, State: protocol.TurnQueued}, nil
			}
			return nil, protocol.Errorf(protocol.CodeNotFound, "no such %s", method)
		}),
	})
	for _, codec := range codecs {
		t.Run(codec.name, func(t *testing.T) {
			var heard []string
			c := dial(t, DialConfig{Socket: path, Codec: codec.codec, Handler: func(_ context.Context, method string, params any) (any, error) {
				switch p := params.(type) {
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
	if _, err := ListenUnix(t.TempDir() + "/" + strings.Repeat("x", 120)); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a long path: %v", err)
	}
	path := serve(t, &Server{Handler: handlerFunc(nil)})
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), ErrInUse.Error()) {
		t.Errorf("a socket in use: %v", err)
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0"} {
		if l, err := ListenTCP(address); err == nil {
			l.Close()
			t.Errorf("listens on %s", address)
		}
	}
	l, err := ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestStaleSocket(t *testing.T) {
	path := t.TempDir() + "/kernel.sock"
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	old.Close()
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
