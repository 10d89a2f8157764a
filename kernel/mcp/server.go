package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
	"org-agent/kernel/text"
)

// The states of a server.
const (
	Starting protocol.Keyword = "starting" // its program starts, or its first answer is awaited
	Ready    protocol.Keyword = "ready"    // its tools can be called
	Failing  protocol.Keyword = "failing"  // it failed and is tried again
)

// longestPause limits the pause before a server is started again. A server that was ready for
// stableAfter begins with the first pause again.
const (
	longestPause = 5 * time.Minute
	stableAfter  = time.Minute
)

// handover is how long a server waits for the end of those that it replaces. One that hangs in a
// call does not keep its successor away for longer.
const handover = 5 * time.Second

// server is one server. The goroutine of run owns it.
type server struct {
	servers  *Servers
	config   Server
	log      *slog.Logger
	changed  chan struct{}     // holds a value when its tools may have changed
	suspect  chan struct{}     // holds a value when it may be gone
	failures int               // consecutive ones; only run uses it
	former   []<-chan struct{} // the ends of the servers that it replaces
	started  bool              // whether run was called; guarded by the lock of servers
	retired  chan struct{}     // closed when no call may begin any more
	ended    chan struct{}     // closed when nothing of it is left
	calls    sync.WaitGroup    // the calls that it answers

	mu      sync.Mutex // also held while retired is closed, and while a call is added to calls
	status  protocol.MCPServer
	current *connection // nil when there is none
	offers  []offered   // its tools, as it last listed them
	secrets []string    // the keys it was given
}

// newServer returns a server that was not started.
func newServer(h *Servers, c Server) *server {
	return &server{
		servers: h, config: c, log: h.config.Logger.With("server", c.Name), changed: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
		retired: make(chan struct{}), ended: make(chan struct{}), status: protocol.MCPServer{Name: c.Name, State: Starting, Address: address(c)},
	}
}

// retire ends the server when the calls that it answers have ended. The caller holds the lock of
// servers, and calls it once.
func (s *server) retire() {
	s.mu.Lock()
	close(s.retired)
	s.mu.Unlock()
	if !s.started {
		close(s.ended)
	}
}

func (s *server) isRetired() bool { return closed(s.retired) }
func (s *server) hasEnded() bool  { return closed(s.ended) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// run keeps the server running until ctx ends, or it was retired and its calls have ended.
func (s *server) run(ctx context.Context) {
	defer close(s.ended)
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() {
		select {
		case <-s.retired:
			s.calls.Wait()
			s.log.Info("an MCP server is stopped: the settings do not have it in this form any more")
			stop()
		case <-ctx.Done():
		}
	})
	s.awaitFormer(ctx)
	for ctx.Err() == nil {
		began := time.Now()
		err := s.serve(ctx)
		if ctx.Err() != nil || s.isRetired() {
			return
		}
		if time.Since(began) > stableAfter {
			s.failures = 0
		}
		pause := min(s.servers.config.pause()<<min(s.failures, 20), longestPause)
		s.failures++
		fault := s.hide(err.Error())
		s.log.Warn("an MCP server is not there", "err", fault, "again", pause)
		s.set(func(status *protocol.MCPServer) {
			status.State, status.Fault, status.Again = Failing, text.PlainLine(fault, 500), time.Now().Add(pause).UTC().Format(time.RFC3339)
		})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// awaitFormer waits for the end of the servers that it replaces: two programs at once could want the
// same file or the same port.
func (s *server) awaitFormer(ctx context.Context) {
	late := time.NewTimer(handover)
	defer late.Stop()
	for _, ended := range s.former {
		select {
		case <-ended:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// set changes the status.
func (s *server) set(change func(*protocol.MCPServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// currentStatus returns the status.
func (s *server) currentStatus() protocol.MCPServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// serve starts the server, lists its tools after each change, and returns the reason when the
// server is gone.
func (s *server) serve(ctx context.Context) error {
	if s.failures == 0 {
		s.set(func(status *protocol.MCPServer) { status.State, status.Fault, status.Again = Starting, "", "" })
	}
	c, err := s.connect(ctx, s.mayHaveChanged)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.listTools(ctx, c); err != nil {
		return err
	}
	about := c.session.InitializeResult().ServerInfo
	s.mu.Lock()
	s.current = c
	s.status.State, s.status.Fault, s.status.Again = Ready, "", ""
	if about != nil {
		s.status.Server = text.PlainLine(about.Name+" "+about.Version, 80)
	}
	s.mu.Unlock()
	s.log.Info("an MCP server is ready", "tools", s.currentStatus().Tools)
	defer func() {
		s.mu.Lock()
		s.current = nil
		s.mu.Unlock()
	}()
	return s.follow(ctx, c)
}

// quiet is how long a server must report no change before its tools are listed again. A server that
// reports changes all the time is not asked all the time.
const quiet = 200 * time.Millisecond

// follow lists the tools after each change until the server is gone.
func (s *server) follow(ctx context.Context, c *connection) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.done:
			return c.why(nil)
		case <-s.suspect:
			if err := s.ask(ctx, c); err != nil {
				return err
			}
			continue
		case <-s.changed:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.done:
			return c.why(nil)
		case <-time.After(quiet):
		}
		if err := s.listTools(ctx, c); err != nil {
			return err
		}
		s.log.Info("the tools of an MCP server were listed again", "tools", s.currentStatus().Tools)
	}
}

// ask pings the server.
func (s *server) ask(ctx context.Context, c *connection) error {
	limited, cancel := context.WithTimeout(ctx, s.servers.config.startTimeout())
	defer cancel()
	if err := c.session.Ping(limited, nil); err != nil {
		return c.why(err)
	}
	return nil
}

// mayHaveChanged is called when the server reports a change of its tools.
func (s *server) mayHaveChanged() { notify(s.changed) }

// notify puts a value into a channel of capacity one, unless it holds one.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// The limits of what one server may describe.
const (
	toolLimit   = 256
	schemaLimit = 64 << 10 // bytes of a tool's description
)

// listTools lists the server's tools and publishes them.
func (s *server) listTools(ctx context.Context, c *connection) error {
	limited, cancel := context.WithTimeout(ctx, s.servers.config.startTimeout())
	defer cancel()
	var all []*sdk.Tool
	more, cursors := "", map[string]bool{}
	for len(all) <= toolLimit && !cursors[more] {
		cursors[more] = true
		page, err := c.session.ListTools(limited, &sdk.ListToolsParams{Cursor: more})
		if err != nil {
			if limited.Err() != nil {
				return fmt.Errorf("it did not list its tools within %s", s.servers.config.startTimeout())
			}
			return fmt.Errorf("list its tools: %w", c.why(err))
		}
		all = append(all, page.Tools...)
		if more = page.NextCursor; more == "" {
			break
		}
	}
	offers, left := s.offered(all)
	s.mu.Lock()
	s.offers, s.status.Left = offers, left
	s.mu.Unlock()
	s.servers.publish()
	return nil
}

// named returns the keys, each after its name and the text between.
func (s *server) named(ctx context.Context, secrets []Secret, between string) (all []string, err error) {
	for _, one := range secrets {
		key, err := one.Value(ctx)
		if err != nil {
			return nil, fmt.Errorf("the key for %s: %w", one.Name, err)
		}
		if strings.ContainsAny(key.Reveal(), "\r\n\x00") {
			return nil, fmt.Errorf("the key for %s contains a line end", one.Name)
		}
		s.remember(key)
		all = append(all, one.Name+between+one.Before+key.Reveal())
	}
	return all, nil
}

// remember records a key of the server, so that hide removes it from texts.
func (s *server) remember(key secret.Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const shortest = 4 // a shorter key could occur in any text
	for _, known := range s.secrets {
		if known == key.Reveal() {
			return
		}
	}
	if len(key.Reveal()) >= shortest {
		s.secrets = append(s.secrets, key.Reveal())
	}
}

// hide replaces the server's keys in a text.
func (s *server) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.secrets {
		text = strings.ReplaceAll(text, key, secret.Redacted)
	}
	return text
}

// timeout returns how long a call may take.
func (s *server) timeout() time.Duration {
	if s.config.Timeout > 0 {
		return s.config.Timeout
	}
	return time.Minute
}

// call calls a tool of the server.
func (s *server) call(ctx context.Context, name string, arguments map[string]any) (*sdk.CallToolResult, error) {
	s.mu.Lock()
	if s.isRetired() {
		s.mu.Unlock()
		return nil, protocol.ToolErrorf(protocol.ToolNotFound, "the MCP server %s was removed from config.org, or changed there: nothing was called", s.config.Name)
	}
	s.calls.Add(1)
	defer s.calls.Done()
	c, status := s.current, s.status
	s.mu.Unlock()
	if c == nil {
		return nil, s.notRunning(status)
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	result, err := c.session.CallTool(limited, &sdk.CallToolParams{Name: name, Arguments: arguments})
	_, refused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, protocol.ToolErrorf(protocol.ToolTimeout, "the MCP server %s did not answer within %s: it is not known whether anything happened", s.config.Name, s.timeout())
	case refused && !errors.Is(err, sdk.ErrConnectionClosed):
		return nil, protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s refused the call: %s", s.config.Name, text.PlainLine(s.hide(err.Error()), 1000))
	}
	notify(s.suspect)
	why := text.PlainLine(s.hide(c.why(err).Error()), 600)
	return nil, protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s was lost during the call, and it is not known whether anything happened: %s", s.config.Name, why)
}

// notRunning returns the error for a call while the server is not running.
func (s *server) notRunning(status protocol.MCPServer) error {
	err := protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s is not there yet", s.config.Name)
	if status.State == Failing {
		again := ""
		if at, parsed := time.Parse(time.RFC3339, status.Again); parsed == nil {
			again = fmt.Sprintf("; it is started again in %s", max(time.Until(at), time.Second).Round(time.Second))
		}
		err = protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s is not there: %s%s", s.config.Name, status.Fault, again)
	}
	err.Retryable = true
	return err
}
