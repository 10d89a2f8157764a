// Package mcp has other people's tools look like ours, and ours like theirs. A server of the Model
// Context Protocol is a program that a person names in their settings, or a server of the web.
//
// [Servers] keeps them: each in a goroutine of its own, which starts it, asks for its tools, and
// starts it again when it is gone, after longer and longer pauses. None waits for another, and
// nobody waits for any: a tool is there when its server has told of it. What a server says is
// outside data and believed in nothing: its names are made ours, its descriptions are cut to a
// line, its hints are shown and count for nothing, its results are capped and the whole kept. A
// server may ask neither for words of the model (sampling) nor of the person (elicitation) nor
// what files there are (roots): it is told that there is no such thing.
//
// [Offer] is the other direction: it has another program use the kernel's tools.
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

// Config is what the servers are kept with. Environment, Directory and Logger are required.
type Config struct {
	Servers []Server
	// Environment is where the few variables that a program is given are taken from.
	Environment func(string) string
	// Directory is where what results hold is kept; it is made when there is something.
	Directory string
	Version   string
	// Own returns the names of the tools that nobody else's can have; nil for none.
	Own    func() []string
	Logger *slog.Logger
	// Patience is how long a server has to answer when it is started; by default 30 s. Pause is
	// the first pause before it is started again; by default 1 s.
	Patience, Pause time.Duration
}

func (c Config) patience() time.Duration { return cmp.Or(c.Patience, 30*time.Second) }
func (c Config) pause() time.Duration    { return cmp.Or(c.Pause, time.Second) }

// Server is one of them: a program, or a server of the web.
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

// Servers keeps servers. It is safe for many goroutines.
type Servers struct {
	config  Config
	servers []*server
	tools   atomic.Pointer[[]tool.Tool]
	naming  sync.Mutex // held while the tools get their names
	results resultStore
}

// New returns servers of which none runs.
func New(config Config) *Servers {
	h := &Servers{config: config, results: resultStore{directory: config.Directory}}
	for _, c := range config.Servers {
		h.servers = append(h.servers, &server{
			servers: h, config: c, log: config.Logger.With("server", c.Name), changed: make(chan struct{}, 1), doubt: make(chan struct{}, 1),
			status: protocol.MCPServer{Name: c.Name, State: Starting, Address: address(c)},
		})
	}
	return h
}

// address says where a server is, without what it is called with: that may be a secret.
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

// Tools are the tools that there are at this moment, by name. Those of a server that is gone stay:
// it comes back, and calls meanwhile say so.
func (h *Servers) Tools() []tool.Tool {
	if h == nil {
		return nil
	}
	if all := h.tools.Load(); all != nil {
		return *all
	}
	return nil
}

// Statuses says how each server is, in the order of the settings.
func (h *Servers) Statuses() []protocol.MCPServer {
	if h == nil {
		return nil
	}
	var all []protocol.MCPServer
	for _, s := range h.servers {
		all = append(all, s.look())
	}
	return all
}

// publish gives the tools of all servers their names, and makes them those that there are.
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
