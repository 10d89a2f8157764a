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
	Starting protocol.Keyword = "starting" // it is started, or asked for the first time
	Ready    protocol.Keyword = "ready"    // its tools can be called
	Failing  protocol.Keyword = "failing"  // it is tried again
)

// The longest pause before a server is started again; and how long it must have been ready for
// the next pause to be the first again.
const (
	longestPause = 5 * time.Minute
	settledAfter = time.Minute
)

// server is one server, of which the goroutine of run takes care.
type server struct {
	servers  *Servers
	config   Server
	log      *slog.Logger
	changed  chan struct{} // holds a value when its tools may be others
	doubt    chan struct{} // holds a value when it may be gone
	failures int           // one after the other; run's

	mu      sync.Mutex
	status  protocol.MCPServer
	current *connection // nil when there is none
	offers  []offered   // its tools, as it told of them last
	secrets []string    // that it was given
}

// run keeps the server until ctx ends.
func (s *server) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		err := s.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > settledAfter {
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

// set changes the status.
func (s *server) set(change func(*protocol.MCPServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// look is the status.
func (s *server) look() protocol.MCPServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// serve starts the server, takes up its tools as often as they change, and returns when it is
// gone, with the reason.
func (s *server) serve(ctx context.Context) error {
	if s.failures == 0 {
		s.set(func(status *protocol.MCPServer) { status.State, status.Fault, status.Again = Starting, "", "" })
	}
	c, err := s.connect(ctx, s.mayHaveChanged)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.take(ctx, c); err != nil {
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
	s.log.Info("an MCP server is ready", "tools", s.look().Tools)
	defer func() {
		s.mu.Lock()
		s.current = nil
		s.mu.Unlock()
	}()
	return s.follow(ctx, c)
}

// quiet is how long the tools of a server must have been the same before they are asked for
// again: one that tells of changes all the time is not asked all the time.
const quiet = 200 * time.Millisecond

// follow takes up the tools whenever they change, until the server is gone.
func (s *server) follow(ctx context.Context, c *connection) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.done:
			return c.why(nil)
		case <-s.doubt:
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
		if err := s.take(ctx, c); err != nil {
			return err
		}
		s.log.Info("the tools of an MCP server were asked for again", "tools", s.look().Tools)
	}
}

// ask asks whether the server is there.
func (s *server) ask(ctx context.Context, c *connection) error {
	asked, cancel := context.WithTimeout(ctx, s.servers.config.patience())
	defer cancel()
	if err := c.session.Ping(asked, nil); err != nil {
		return c.why(err)
	}
	return nil
}

// mayHaveChanged is called when the server says that its tools are others now.
func (s *server) mayHaveChanged() { poke(s.changed) }

// poke puts a value into a channel that holds one, unless it does.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// What one server may tell of.
const (
	toolLimit   = 256
	schemaLimit = 64 << 10 // bytes of what it says of one tool
)

// take asks the server for its tools, and has them be those that there are.
func (s *server) take(ctx context.Context, c *connection) error {
	asked, cancel := context.WithTimeout(ctx, s.servers.config.patience())
	defer cancel()
	var all []*sdk.Tool
	more, cursors := "", map[string]bool{}
	for len(all) <= toolLimit && !cursors[more] {
		cursors[more] = true
		page, err := c.session.ListTools(asked, &sdk.ListToolsParams{Cursor: more})
		if err != nil {
			if asked.Err() != nil {
				return fmt.Errorf("it did not say within %s which tools it has", s.servers.config.patience())
			}
			return fmt.Errorf("ask which tools it has: %w", c.why(err))
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

// named are keys as they are given, with what stands between the name and the key.
func (s *server) named(ctx context.Context, secrets []Secret, between string) (all []string, err error) {
	for _, one := range secrets {
		key, err := one.Value(ctx)
		if err != nil {
			return nil, fmt.Errorf("the key for %s: %w", one.Name, err)
		}
		if strings.ContainsAny(key.Reveal(), "\r\n\x00") {
			return nil, fmt.Errorf("the key for %s has a line's end in it", one.Name)
		}
		s.remember(key)
		all = append(all, one.Name+between+one.Before+key.Reveal())
	}
	return all, nil
}

// remember notes a key that the server is given, so that it is shown nowhere.
func (s *server) remember(key secret.Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const shortest = 4 // what is shorter stands in any text
	for _, known := range s.secrets {
		if known == key.Reveal() {
			return
		}
	}
	if len(key.Reveal()) >= shortest {
		s.secrets = append(s.secrets, key.Reveal())
	}
}

// hide is a text without the keys that the server was given.
func (s *server) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.secrets {
		text = strings.ReplaceAll(text, key, secret.Redacted)
	}
	return text
}

// timeout is how long a call may take.
func (s *server) timeout() time.Duration {
	if s.config.Timeout > 0 {
		return s.config.Timeout
	}
	return time.Minute
}

// call has a tool of the server used.
func (s *server) call(ctx context.Context, name string, arguments map[string]any) (*sdk.CallToolResult, error) {
	s.mu.Lock()
	c, status := s.current, s.status
	s.mu.Unlock()
	if c == nil {
		return nil, s.absent(status)
	}
	asked, cancel := context.WithTimeout(ctx, s.timeout())
	defer cancel()
	result, err := c.session.CallTool(asked, &sdk.CallToolParams{Name: name, Arguments: arguments})
	_, refused := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case asked.Err() != nil:
		return nil, protocol.ToolErrorf(protocol.ToolTimeout, "the MCP server %s did not answer within %s: it is not known whether anything happened", s.config.Name, s.timeout())
	case refused && !errors.Is(err, sdk.ErrConnectionClosed):
		return nil, protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s refused the call: %s", s.config.Name, text.PlainLine(s.hide(err.Error()), 1000))
	}
	poke(s.doubt)
	why := text.PlainLine(s.hide(c.why(err).Error()), 600)
	return nil, protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s was lost while it was asked, and it is not known whether anything happened: %s", s.config.Name, why)
}

// absent is the error of a call of a server that is not there.
func (s *server) absent(status protocol.MCPServer) error {
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
