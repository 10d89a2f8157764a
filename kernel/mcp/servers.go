// Package mcp is the client and the server of the Model Context Protocol. As a client it makes the
// tools of other servers tools of the kernel. Such a server is a program that a person names in
// their settings, or a web server.
//
// [Servers] runs each server in a goroutine of its own. The goroutine starts the server, asks for
// its tools, and starts it again when it has ended, after longer and longer pauses. Nobody waits
// for a server: its tools exist as soon as it has listed them. [Servers.Reload] replaces the servers
// while they run. What a server sends is not trusted.
// Its tools get names of the kernel, its descriptions are cut to a line, and its hints are shown
// and decide nothing. Its results are cut for the model, and stored whole. Sampling, elicitation
// and roots are refused.
//
// [Offer] is the other direction: it offers the kernel's tools to another program.
package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/secret"
	"org-agent/kernel/tool"
)

// Config configures Servers. Environment, Directory and Logger are required.
type Config struct {
	// Servers are those to begin with.
	Servers []Server
	// Environment returns a variable of the environment. A program gets a few of them.
	Environment func(string) string
	// Directory is the directory of the result store. It is made when it is needed.
	Directory string
	Version   string
	// Own returns the names of the kernel's own tools, which no tool of a server gets. nil: there
	// are none.
	Own    func() []string
	Logger *slog.Logger
	// StartTimeout is how long a server has to answer when it is started. Default: 30 s. Pause is the
	// first pause before it is started again. Default: 1 s.
	StartTimeout, Pause time.Duration
}

func (c Config) startTimeout() time.Duration { return cmp.Or(c.StartTimeout, 30*time.Second) }
func (c Config) pause() time.Duration        { return cmp.Or(c.Pause, time.Second) }

// Server is the configuration of one server: a program, or a web server.
type Server struct {
	Name string // the beginning of its tools' names
	// Command is the program with its arguments. It runs in Directory. Variables are added to its
	// environment, each NAME=VALUE.
	Command   []string
	Directory string
	Variables []string
	Secrets   []Secret // further variables
	// URL is the address of a web server, and Headers are sent to it. Old is true if it speaks the
	// transport of before 2025.
	URL     string
	Headers []Secret
	Old     bool
	// Timeout is how long a call may take. Default: a minute.
	Timeout time.Duration
}

// same reports whether two servers are started and asked in the same way.
func (s Server) same(other Server) bool {
	bare := func(s Server) Server {
		for _, secrets := range [...]*[]Secret{&s.Secrets, &s.Headers} {
			*secrets = slices.Clone(*secrets)
			for i := range *secrets {
				(*secrets)[i].Value = nil // functions cannot be compared; Source says what it returns
			}
		}
		return s
	}
	return reflect.DeepEqual(bare(s), bare(other))
}

// Secret is a key and the name under which it is given. Before is put before the key. Source says
// where the key is: a server with a key from another source is another server.
type Secret struct {
	Name, Before, Source string
	Value                func(ctx context.Context) (secret.Text, error)
}

// Servers runs servers. It is safe for many goroutines.
type Servers struct {
	config  Config
	tools   atomic.Pointer[[]tool.Tool]
	naming  sync.Mutex // held while the tools get their names
	results resultStore
	wake    chan struct{} // holds a value when there may be a server to start

	mu      sync.Mutex
	servers []*server // in the order of the settings
	leaving []*server // those that were removed and may not have ended
}

// New returns Servers. Run starts them.
func New(config Config) *Servers {
	h := &Servers{config: config, results: resultStore{directory: config.Directory}, wake: make(chan struct{}, 1)}
	h.Reload(config.Servers)
	return h
}

// Reload makes these the servers. A server that was there before in the same form goes on. The tools
// of all others of before are gone at once. Such a server ends when the calls that it answers have
// ended, and one that replaces it starts after it. Reload waits for nothing.
func (h *Servers) Reload(servers []Server) {
	h.mu.Lock()
	former := h.servers
	h.servers = make([]*server, 0, len(servers))
	h.leaving = slices.DeleteFunc(h.leaving, (*server).hasEnded)
	for _, s := range former {
		if !slices.ContainsFunc(servers, s.config.same) {
			s.retire()
			h.leaving = append(h.leaving, s)
		}
	}
	for _, c := range servers {
		if i := slices.IndexFunc(former, func(s *server) bool { return s.config.same(c) }); i >= 0 {
			h.servers = append(h.servers, former[i])
			continue
		}
		s := newServer(h, c)
		for _, other := range h.leaving {
			if other.config.Name == c.Name {
				s.former = append(s.former, other.ended)
			}
		}
		h.servers = append(h.servers, s)
	}
	h.mu.Unlock()
	h.publish()
	notify(h.wake)
}

// current returns the servers of this moment.
func (h *Servers) current() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.servers)
}

// unstarted returns the servers that were never started, and marks them as started.
func (h *Servers) unstarted() (all []*server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		if !s.started {
			s.started = true
			all = append(all, s)
		}
	}
	return all
}

// address returns the program or the URL of a server. Arguments are left out, because they may be
// secret.
func address(c Server) string {
	if c.URL != "" {
		return c.URL
	}
	return strings.Join(c.Command[:min(len(c.Command), 1)], "")
}

// Run keeps the servers running until ctx ends, and returns when nothing of them is left.
func (h *Servers) Run(ctx context.Context) {
	h.results.prune(time.Now())
	var work sync.WaitGroup
	defer work.Wait()
	for {
		for _, s := range h.unstarted() {
			work.Go(func() { s.run(ctx) })
		}
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		}
	}
}

// Tools returns the tools of this moment, by name. The tools of a server that has ended stay,
// because the server is started again. Calls of them fail meanwhile.
func (h *Servers) Tools() []tool.Tool {
	if h == nil {
		return nil
	}
	if all := h.tools.Load(); all != nil {
		return *all
	}
	return nil
}

// Statuses returns the status of each server, in the order of the settings.
func (h *Servers) Statuses() []protocol.MCPServer {
	if h == nil {
		return nil
	}
	var all []protocol.MCPServer
	for _, s := range h.current() {
		all = append(all, s.currentStatus())
	}
	return all
}

// publish names the tools of all servers, and makes them the result of Tools.
func (h *Servers) publish() {
	h.naming.Lock()
	defer h.naming.Unlock()
	owner := map[string]string{}
	if h.config.Own != nil {
		for _, name := range h.config.Own() {
			owner[tool.Spelled(name)] = "the kernel"
		}
	}
	var all []tool.Tool
	for _, s := range h.current() {
		all = append(all, s.name(owner)...)
	}
	slices.SortFunc(all, func(a, b tool.Tool) int { return strings.Compare(a.Name(), b.Name()) })
	h.tools.Store(&all)
}
