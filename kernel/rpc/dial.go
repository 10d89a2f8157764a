package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"reflect"
	"syscall"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
)

const dialPause = 20 * time.Millisecond // between attempts while a kernel starts

// Codec is an encoding of messages.
type Codec int

// The codecs.
const (
	JSON  Codec = iota // Content-Length framed JSON
	Plist              // plists behind six hex digits
)

// IncomingHandler handles the messages of the kernel to a client: acts, whose result is a
// protocol.Receipt, and notifications, whose result is nil. It is called for one message at a time, in
// their order.
type IncomingHandler func(ctx context.Context, r *Request) (result any, err error)

// DialConfig configures a connection to a kernel. The first of Over, Socket and Addr that is set is
// used.
type DialConfig struct {
	Socket string   // path of a Unix socket
	Addr   string   // HOST:PORT
	Over   net.Conn // an open connection, which the Conn then owns
	// Timeout is how long to go on while nobody answers yet, as when a kernel is
	// starting; 0 tries once.
	Timeout time.Duration
	// Token is what initialize shows. Without one nothing is sent, and only
	// status will answer.
	Token   Token
	Client  protocol.ClientInfo
	Handler IncomingHandler // nil refuses acts and ignores notifications
	Codec   Codec
	Logger  *slog.Logger // nil is silence
}

// Conn is a client's connection to a kernel. Its methods may be called from any goroutine, Call also
// from the handler.
type Conn struct {
	connection *connection
	done       <-chan struct{}
	end        context.CancelFunc
	welcome    protocol.InitializeResult
}

// Dial connects and initializes. The error is a *protocol.Error of the kernel, or says that no kernel
// answered.
func Dial(ctx context.Context, config DialConfig) (*Conn, error) {
	over := config.Over
	if over == nil {
		var err error
		if over, err = connect(ctx, config); err != nil {
			return nil, err
		}
	}
	c := start(over, config)
	if config.Token == "" {
		return c, nil
	}
	params := protocol.InitializeParams{
		Protocol: protocol.ProtocolRange{Min: protocol.Version, Max: protocol.Version},
		Client:   config.Client,
		Token:    string(config.Token),
	}
	if err := c.Call(ctx, protocol.MethodInitialize, params, &c.welcome); err != nil {
		c.Close()
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return c, nil
}

// connect retries until a connection is accepted or the timeout of the config ends.
func connect(ctx context.Context, config DialConfig) (net.Conn, error) {
	network, address := "unix", config.Socket
	if address == "" {
		network, address = "tcp", config.Addr
	}
	var dialer net.Dialer
	for begin := time.Now(); ; {
		c, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			return c, nil
		}
		starting := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
		if !starting || time.Since(begin) >= config.Timeout {
			return nil, fmt.Errorf("connect to the kernel: %w", err)
		}
		select {
		case <-time.After(dialPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to the kernel: %w", ctx.Err())
		}
	}
}

func start(over net.Conn, config DialConfig) *Conn {
	logger := config.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	schema := newSchema()
	var spelling codec = jsonCodec{schema: schema}
	if config.Codec == Plist {
		spelling = plistCodec{schema: schema}
	}
	chain := typed(schema, false, func(ctx context.Context, call *call) (any, error) {
		switch {
		case config.Handler != nil:
			return config.Handler(ctx, call.request(nil))
		case call.kind == request:
			return nil, protocol.Errorf(protocol.CodeMethodNotFound, "this client performs nothing")
		}
		return nil, nil
	})
	ctx, end := context.WithCancel(context.Background())
	c := &Conn{connection: newConnection(over, spelling, schema, chain, logger), end: end}
	c.connection.trust()
	c.done = begin(func() { c.connection.run(ctx, nil) })
	return c
}

// Server returns the kernel's result of initialize.
func (c *Conn) Server() protocol.InitializeResult { return c.welcome }

// Call sends a request and waits for its result. It stores the result in result, a pointer to the
// method's result type or nil. An error of the kernel is a *protocol.Error. When ctx ends, Call
// cancels the request. When the connection ends, the error is [ErrConnectionLost]. The handler may not
// have handled all notifications that came before the result; see [Conn.Drain].
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	pending, err := c.connection.call(method, params)
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return ErrConnectionLost
	}
	if err != nil {
		return err
	}
	got, err := pending.wait(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		// The caller is told that its context ended, whether or not the kernel is.
		_ = c.connection.send(message{kind: notification, method: protocol.MethodCancelRequest, params: protocol.CancelRequestParams{ID: pending.number}})
	}
	if err != nil || result == nil {
		return err
	}
	into := reflect.ValueOf(result)
	if into.Type() != reflect.TypeOf(got) || into.IsNil() {
		return fmt.Errorf("%s: its result is a %T, not a %T", method, got, result)
	}
	into.Elem().Set(reflect.ValueOf(got).Elem())
	return nil
}

// Drain waits until the handler has handled all messages that came before. The handler must not call
// it.
func (c *Conn) Drain(ctx context.Context) error {
	select {
	case <-c.connection.dispatcher.barrier():
		return nil
	case <-c.done:
		return nil // then the handler has had everything
	case <-ctx.Done():
		return fmt.Errorf("wait for the handler: %w", ctx.Err())
	}
}

// Close ends the connection and waits for all of its goroutines. The handler must not call it.
func (c *Conn) Close() {
	c.end()
	<-c.done
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }
