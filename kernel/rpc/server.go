package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// DefaultConnections is the default maximal number of clients of a [Server].
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
	// Connections bounds how many clients that have shown the token may be connected; 0 is
	// [DefaultConnections]. Those that have not have a few places of their own, for each listener.
	Connections int
	// Silence bounds how long a new connection may say nothing; 0 is [DefaultSilence].
	Silence time.Duration
	Logger  *slog.Logger // nil is silence

	clients   atomic.Int64 // ever
	known     atomic.Int64 // that have shown the token
	strangers strangers    // of ServeConn
}

// Serve accepts connections until ctx ends or the listener fails, then closes
// them and returns when all their handlers have. The listener is closed. The end
// of ctx is no error.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if s.Handler == nil || s.Token == "" {
		return errors.New("serve: a server needs a handler and a token")
	}
	ctx, cancel := context.WithCancel(ctx)
	var strangers strangers
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
		running.Go(func() { s.serveConn(ctx, c, &strangers) })
	}
}

// ServeConn serves one connection until it ends or ctx does, and closes it.
func (s *Server) ServeConn(ctx context.Context, c net.Conn) { s.serveConn(ctx, c, &s.strangers) }

func (s *Server) serveConn(ctx context.Context, c net.Conn, strangers *strangers) {
	logger := s.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	client := &Client{
		id:     "c" + strconv.FormatInt(s.clients.Add(1), 10),
		done:   make(chan struct{}),
		ending: make(chan struct{}),
	}
	stranger := strangers.enter(client, cmp.Or(s.Silence, DefaultSilence))
	defer stranger.leave()
	s.attend(ctx, client, c, stranger, logger.With("client", client.id))
}

// admit reports whether there is a place for one more client that has shown the token. It has taken the
// place then.
func (s *Server) admit() bool {
	if s.known.Add(1) <= int64(cmp.Or(s.Connections, DefaultConnections)) {
		return true
	}
	s.known.Add(-1)
	return false
}

// attend runs a client's connection.
func (s *Server) attend(ctx context.Context, client *Client, c net.Conn, stranger *stranger, logger *slog.Logger) {
	schema := newSchema()
	shake := &handshake{
		token: s.Token, info: s.info, speak: stranger.speak, admit: s.admit, disconnect: client.Close,
		welcome: func(info protocol.ClientInfo) {
			stranger.leave()
			client.welcome(info)
		},
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
		s.known.Add(-1)
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
