// Package mcp is the client and the server of the Model Context Protocol. As a client it makes the
// tools of other servers tools of the kernel. Such a server is a program that a person names in
// their settings, or a server of the web.
//
// [Servers] runs each server in a goroutine of its own. The goroutine starts the server, asks for
// its tools, and starts it again when it is gone, after longer and longer pauses. Nobody waits for
// a server: its tools exist as soon as it has listed them. What a server sends is not trusted. Its
// names are made ours, its descriptions are cut to a line, and its hints are shown and decide
// nothing. Its results are cut for the model, and kept whole. Sampling, elicitation and roots are
// refused.
//
// [Offer] is the other direction: it offers the kernel's tools to another program.
package mcp

import (
	"cmp"
	"context"
	"log/slog"
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
	Servers []Server
	// Environment returns a variable of the environment. A program gets a few of them.
	Environment func(string) string
	// Directory is the directory of the result store. It is made when it is needed.
	Directory string
	Version   string
	// Own returns the names of the kernel's own tools, which no server's tool gets; nil for none.
	Own    func() []string
	Logger *slog.Logger
	// Patience is how long a server has to answer when it is started; by default 30 s. Pause is
	// the first pause before it is started again; by default 1 s.
	Patience, Pause time.Duration
}

func (c Config) patience() time.Duration { return cmp.Or(c.Patience, 30*time.Second) }
func (c Config) pause() time.Duration    { return cmp.Or(c.Pause, time.Second) }

// Server is the configuration of one server: a program, or a server of the web.
type Server struct {
	Name string // as its tools' names begin
	// Command is the program and what it is called with, Directory where it runs, Variables are
	// its own, each NAME=VALUE.
	Command   []string
	Directory string
	Variables []string
	Secrets   []Secret // variables too
	// URL is that of a server of the web, Headers what it is sent. Old: it speaks as such servers
	// did before 2025.
	URL     string
	Headers []Secret
	Old     bool
	// Timeout is how long a call may take; by default a minute.
	Timeout time.Duration
}

// Secret is a key by the name under which it is given. Before is put before it.
type Secret struct {
	Name, Before string
	Value        func(ctx context.Context) (secret.Text, error)
}

// Servers runs servers. It is safe for many goroutines.
type Servers struct {
	config  Config
	servers []*server
	tools   atomic.Pointer[[]tool.Tool]
	naming  sync.Mutex // held while the tools get their names
	results resultStore
}

// New returns Servers. Run starts them.
func New(config Config) *Servers {
	h := &Servers{config: config, results: resultStore{directory: config.Directory}}
	for _, c := range config.Servers {
		h.servers = append(h.servers, &server{
			servers: h, config: c, log: config.Logger.With("server", c.Name), changed: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
			status: protocol.MCPServer{Name: c.Name, State: Starting, Address: address(c)},
		})
	}
	return h
}

// address returns the program or the URL of a server. Arguments are left out, as they may be secret.
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
	for _, s := range h.servers {
		work.Go(func() { s.run(ctx) })
	}
	work.Wait()
}

// Tools returns the tools of this moment, by name. The tools of a server that is gone stay, as it is
// started again. Calls of them fail meanwhile.
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
	for _, s := range h.servers {
		all = append(all, s.currentStatus())
	}
	return all
}

// publish names the tools of all servers, and replaces those of Tools by them.
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
	for _, s := range h.servers {
		all = append(all, s.name(owner)...)
	}
	slices.SortFunc(all, func(a, b tool.Tool) int { return strings.Compare(a.Name(), b.Name()) })
	h.tools.Store(&all)
}
