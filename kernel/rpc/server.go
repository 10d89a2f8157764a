package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// DefaultConnections is the default maximal number of connections of a [Server].
const DefaultConnections = 1024

// A Handler answers what clients ask. The result is the method's result type of package protocol or a
// pointer to it, nil for an empty one. A *protocol.Error in an error's chain is what the
// client is told; other errors are logged, and the client learns only that there
// was one.
//
// The context ends when the client cancels the request or goes. Requests of one
// client come one after the other, see [Request.Release]; those of several at once.
// initialize never comes here; status comes also from clients without a token.
type Handler interface {
	Handle(ctx context.Context, r *Request) (result any, err error)
}

// Presence is notified of clients that have sent the token. Connected is called after the reply to
// initialize and before the next request is handled. Disconnected is called once for each Connected,
// when no handler of the client runs.
type Presence interface {
	Connected(client *Client)
	Disconnected(client *Client)
}

// Server serves clients. Handler and Token are required.
type Server struct {
	Handler  Handler
	Presence Presence // or nil
	Token    Token
	// Info completes what initialize answers: home, model, notice. Name, version
	// and process id are filled in where it leaves them out. May be nil.
	Info    func() protocol.ServerInfo
	Version string
	// Connections bounds how many may be open; 0 is [DefaultConnections].
	Connections int
	Logger      *slog.Logger // nil is silence

	clients atomic.Int64 // ever
	open    atomic.Int64
}

// Serve accepts connections until ctx ends or the listener fails, then closes
// them and returns when all their handlers have. The listener is closed. The end
// of ctx is no error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if s.Handler == nil || s.Token == "" {
		return errors.New("serve: a server needs a handler and a token")
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		<-ctx.Done()
		// Accept reports that the listener is closed.
		_ = listener.Close()
	})
	for {
		c, err := accept(ctx, listener)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept a connection: %w", err)
		}
		running.Go(func() { s.ServeConn(ctx, c) })
	}
}

// ServeConn serves one connection until it ends or ctx does, and closes it. A
// connection over the server's bound is closed at once.
func (s *Server) ServeConn(ctx context.Context, c net.Conn) {
	logger := s.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	most := s.Connections
	if most == 0 {
		most = DefaultConnections
	}
	defer s.open.Add(-1)
	if s.open.Add(1) > int64(most) {
		logger.Warn("connection refused", "open", most)
		// Nothing was written to it that could be lost.
		_ = c.Close()
		return
	}
	client := &Client{
		id:     "c" + strconv.FormatInt(s.clients.Add(1), 10),
		done:   make(chan struct{}),
		ending: make(chan struct{}),
	}
	s.attend(ctx, client, c, logger.With("client", client.id))
}

// attend runs a client's connection.
func (s *Server) attend(ctx context.Context, client *Client, c net.Conn, logger *slog.Logger) {
	schema := newSchema()
	shake := &handshake{
		token: s.Token, info: s.info, welcome: client.welcome, disconnect: client.Close,
		attend: func() {
			logger.Info("client connected", "name", text.Clip(client.Info().Name, quoted))
			if s.Presence != nil {
				s.Presence.Connected(client)
			}
		},
	}
	chain := shake.guard(typed(schema, true, func(ctx context.Context, c *call) (any, error) {
		return s.Handler.Handle(ctx, c.request(client))
	}))
	client.connection = newConnection(c, nil, schema, chain, logger)
	reason := client.connection.run(ctx, client.ending)
	if asked := client.closeReason(); asked != "" {
		reason = asked
	}
	if shake.introduced.Load() {
		if s.Presence != nil {
			s.Presence.Disconnected(client)
		}
		logger.Info("client disconnected", "reason", reason)
	}
	close(client.done)
}

func (s *Server) info() protocol.ServerInfo {
	var info protocol.ServerInfo
	if s.Info != nil {
		info = s.Info()
	}
	if info.Name == "" {
		info.Name = "org-agent"
	}
	if info.Version == "" {
		info.Version = s.Version
	}
	if info.PID == 0 {
		info.PID = os.Getpid()
	}
	return info
}
