// Package signaltest is a signal-cli daemon for tests: its line-delimited JSON-RPC over a socket, as its manual
// signal-cli-jsonrpc(5) describes it, with people, groups and messages in memory in place of Signal's servers. It is
// strict: it refuses with signal-cli's errors what signal-cli refuses, and fails the test where signal-cli would silently
// do something else than what was meant.
//
// Ordering: envelopes are reported in the order in which they are delivered; calls are answered in any order, as
// signal-cli does. Blocking: a client that reads nothing stops the reports, to others too. Ownership: the test's end
// stops the server and waits for its goroutines.
package signaltest

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Mode is when the daemon fetches messages from Signal's servers: its option --receive-mode.
type Mode string

// The modes.
const (
	OnStart      Mode = "on-start"      // always; what comes while nobody is connected is gone
	OnConnection Mode = "on-connection" // while somebody is connected
	Manual       Mode = "manual"        // while somebody has a subscription
)

// Account is somebody on Signal.
type Account struct{ Number, UUID string }

// Config configures a daemon.
type Config struct {
	Account Account   // of the option -a, and where it was started without, the first if there is one
	Others  []Account // where there are any, or Shared, it was started without -a and has all of them
	Shared  bool
	Mode    Mode // Manual if it is empty
	TCP     bool // it listens on TCP in place of a socket in the file system
	Old     bool // a signal-cli without subscriptions; its Mode is OnStart or OnConnection
}

// Server is a running daemon. Its methods may be called by many goroutines.
type Server struct {
	t       testing.TB
	config  Config
	address string
	working sync.WaitGroup
	done    chan struct{}

	reporting sync.Mutex // held while an envelope is on its way to the clients

	mutex   sync.Mutex
	changed chan struct{} // closed at every change
	away    bool
	ended   bool

	unlinked bool // the account cannot be used any more

	listener     net.Listener
	clients      map[*client]bool
	subscription int
	waiting      []delivery // at Signal's servers
	world        world
	injected     map[string][]Outcome
	calls        map[string]int
}

// Outcome is how a call ends in place of how it would end.
type Outcome struct {
	Error *Error // what is answered; nil: what would be
	Cut   bool   // the connection ends before the answer; what was asked for is done
	Hang  bool   // there is no answer
}

// Error is an error of JSON-RPC.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

type delivery struct {
	account  string
	envelope json.RawMessage
}

// client is a connection.
type client struct {
	server        *Server
	socket        net.Conn
	writing       sync.Mutex
	subscriptions map[int]string // the account of each
}

// Start starts a daemon that ends with the test.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	if c.Mode == "" {
		c.Mode = Manual
	}
	s := &Server{
		t: t, config: c, done: make(chan struct{}), changed: make(chan struct{}), away: true, clients: map[*client]bool{},
		injected: map[string][]Outcome{}, calls: map[string]int{},
	}
	s.world.init(c)
	if c.TCP {
		s.address = "127.0.0.1:0"
	} else {
		directory, err := os.MkdirTemp("", "signaltest") // the name of a socket has to be short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(directory) })
		s.address = filepath.Join(directory, "socket")
	}
	s.Return()
	s.working.Go(s.pump)
	t.Cleanup(func() {
		s.Vanish()
		s.change(func() { s.ended = true })
		close(s.done)
		s.working.Wait()
	})
	return s
}

// Address returns where the daemon listens.
func (s *Server) Address() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.address
}

// Vanish ends the daemon: all connections end, and nobody can connect until Return.
func (s *Server) Vanish() {
	s.change(func() {
		if s.away {
			return
		}
		s.away = true
		_ = s.listener.Close()
		for c := range s.clients {
			_ = c.socket.Close()
		}
		clear(s.clients)
	})
}

// Drop ends all connections, after what was reported to them is written.
func (s *Server) Drop() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.change(func() {
		for c := range s.clients {
			_ = c.socket.Close()
		}
		clear(s.clients)
	})
}

// Unlink ends the account: Signal does not know the device any more.
func (s *Server) Unlink() { s.change(func() { s.unlinked = true }) }

// Link takes Unlink back.
func (s *Server) Link() { s.change(func() { s.unlinked = false }) }

// Return starts the daemon again, at the same address. What Signal's servers kept is there.
func (s *Server) Return() {
	s.t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	network := "unix"
	if s.config.TCP {
		network = "tcp"
	}
	listener, err := net.Listen(network, s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.listener, s.address, s.away = listener, listener.Addr().String(), false
	s.working.Go(func() { s.accept(listener) })
	s.tell()
}

func (s *Server) accept(listener net.Listener) {
	for {
		socket, err := listener.Accept()
		if err != nil {
			return // it was closed
		}
		c := &client{server: s, socket: socket, subscriptions: map[int]string{}}
		s.change(func() {
			if s.away {
				_ = socket.Close()
			} else {
				s.clients[c] = true
			}
		})
		s.working.Go(c.serve)
	}
}

// change changes something that others may wait for.
func (s *Server) change(do func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	do()
	s.tell()
}

func (s *Server) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await waits until something holds, and fails the test after ten seconds. It is asked after each change.
func (s *Server) Await(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		s.mutex.Lock()
		changed := s.changed
		s.mutex.Unlock()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("it never came: %s", what)
		}
	}
}

// Connections returns how many clients there are, and how many subscriptions.
func (s *Server) Connections() (clients, subscriptions int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for c := range s.clients {
		subscriptions += len(c.subscriptions)
	}
	return len(s.clients), subscriptions
}

// Calls returns how often a method was called.
func (s *Server) Calls(method string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.calls[method]
}

// Inject says how the next calls of a method end.
func (s *Server) Inject(method string, outcomes ...Outcome) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.injected[method] = append(s.injected[method], outcomes...)
}

// Deliver has an envelope arrive at Signal's servers for the configured account. It is the JSON of an envelope.
func (s *Server) Deliver(envelope string) {
	s.t.Helper()
	s.DeliverTo(s.config.Account.Number, envelope)
}

// DeliverTo is Deliver for one of several accounts, or for another one than the daemon should have.
func (s *Server) DeliverTo(account, envelope string) {
	s.t.Helper()
	var check struct {
		Timestamp int64 `json:"timestamp"`
	}
	if err := json.Unmarshal([]byte(envelope), &check); err != nil || check.Timestamp == 0 {
		s.t.Fatalf("not an envelope: %v\n%s", err, envelope)
	}
	s.change(func() { s.waiting = append(s.waiting, delivery{account, json.RawMessage(envelope)}) })
}

// Raw writes a line to all clients as it is.
func (s *Server) Raw(line string) {
	s.mutex.Lock()
	clients := s.all()
	s.mutex.Unlock()
	for _, c := range clients {
		c.writeLine([]byte(line))
	}
}

func (s *Server) all() (clients []*client) {
	for c := range s.clients {
		clients = append(clients, c)
	}
	return clients
}

// Waiting returns how many envelopes are still at Signal's servers.
func (s *Server) Waiting() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.waiting)
}

// pump fetches envelopes and reports them.
func (s *Server) pump() {
	for {
		s.reporting.Lock()
		s.mutex.Lock()
		changed, ended := s.changed, s.ended
		next, to, fetched := s.fetch()
		s.mutex.Unlock()
		for _, one := range to {
			one.client.report(next, one.subscription)
		}
		s.reporting.Unlock()
		switch {
		case ended:
			return
		case !fetched:
			<-changed
		default:
			s.change(func() {})
		}
	}
}

// receiver is who gets a report, by a subscription or, where it is nil, without one.
type receiver struct {
	client       *client
	subscription *int
}

// fetch takes the next envelope from Signal's servers that the daemon fetches now.
func (s *Server) fetch() (next delivery, to []receiver, ok bool) {
	if s.away {
		return delivery{}, nil, false
	}
	for n, next := range s.waiting {
		if to := s.receivers(next.account); len(to) > 0 || s.config.Mode == OnStart {
			s.waiting = slices.Delete(s.waiting, n, n+1)
			return next, to, true
		}
	}
	return delivery{}, nil, false
}

// receivers returns who gets the envelopes of an account.
func (s *Server) receivers(of string) (to []receiver) {
	for c := range s.clients {
		if s.config.Mode != Manual {
			to = append(to, receiver{c, nil})
		}
		for number, account := range c.subscriptions {
			if account == "" || account == of {
				to = append(to, receiver{c, &number})
			}
		}
	}
	return to
}

// report writes a notification, wrapped where it is for a subscription.
func (c *client) report(d delivery, subscription *int) {
	body := map[string]any{"account": d.account, "envelope": d.envelope}
	if subscription != nil {
		body = map[string]any{"subscription": *subscription, "result": body}
	}
	c.write(map[string]any{"jsonrpc": "2.0", "method": "receive", "params": body})
}

func (c *client) write(object any) {
	line, err := json.Marshal(object)
	if err != nil {
		c.server.t.Errorf("signaltest: %v", err)
		return
	}
	c.writeLine(line)
}

func (c *client) writeLine(line []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.socket.Write(append(line, '\n')) // whoever went away reads nothing
}

// serve reads requests until the connection ends. Each is answered by itself.
func (c *client) serve() {
	s := c.server
	defer s.change(func() { delete(s.clients, c) })
	defer c.socket.Close()
	var answering sync.WaitGroup
	defer answering.Wait()
	lines := bufio.NewReader(c.socket)
	for {
		line, err := lines.ReadString('\n')
		if text := strings.TrimSpace(line); line != "" {
			answering.Go(func() { c.answer([]byte(text)) })
		}
		if err != nil {
			return
		}
	}
}
