// Package clients knows which clients are connected: which one a person used last, which one
// performs an action or answers a question of the kernel, and which ones receive a notice that
// belongs to no conversation. It decides by the capabilities that a client announced, and never by
// its name.
//
// All methods of [Clients] are safe for many goroutines. A method that asks a client blocks until
// the client has answered, its connection has ended, or the time is up. The other methods do not
// block.
package clients

import (
	"context"
	"regexp"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/protocol"
)

// Client is a connected client, as [org-agent/kernel/rpc.Client] implements it.
type Client interface {
	ID() string
	Info() protocol.ClientInfo
	// Notify queues a notification. Pending returns what waits for the client to read it.
	Notify(method string, params any)
	Pending() (messages, bytes int)
	// Act sends an act to the client and waits for its receipt.
	Act(ctx context.Context, act protocol.Act) (protocol.Receipt, error)
	// Ask sends a question to the client. The result has the type of the method's schema.
	Ask(ctx context.Context, method string, params any) (any, error)
}

// Clients are the connected clients, and which of them sent which event. The zero value is ready to
// use.
type Clients struct {
	// CheckTimeout is how long a client may take to say whether it could make a change. 0 means 5
	// s.
	CheckTimeout time.Duration
	// ReconcileTimeout is how long a client may take to reconnect after its connection ended during
	// an act. 0 means 5 s. A live client reconnects in a fraction of that.
	ReconcileTimeout time.Duration

	mu      sync.Mutex
	clients []Client // the one that a person used last stands last
	senders []sender // the latest stands last
	emacs   string   // the version of the Emacs that connected or was used last; "" if none announced one
}

// sender is the client that sent an event.
type sender struct {
	event  string
	client Client
}

// senderLimit is how many senders are remembered. For an older event, the client that was used last
// acts.
const senderLimit = 1000

// emacsVersion matches the version that an Emacs announces.
var emacsVersion = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,4}){1,3}$`)

// Add records that a client has connected.
func (c *Clients) Add(client Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients = append(c.clients, client)
	c.noteVersion(client)
}

// Remove records that a client's connection has ended.
func (c *Clients) Remove(client Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clients = slices.DeleteFunc(c.clients, func(other Client) bool { return other == client })
	c.senders = slices.DeleteFunc(c.senders, func(s sender) bool { return s.client == client })
}

// RecordUse records that a person has just used the client to send an event.
func (c *Clients) RecordUse(client Client, event string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteVersion(client)
	if i := slices.Index(c.clients, client); i >= 0 {
		c.clients = append(slices.Delete(c.clients, i, i+1), client)
	}
	if len(c.senders) == senderLimit {
		c.senders = slices.Delete(c.senders, 0, 1)
	}
	c.senders = append(c.senders, sender{event, client})
}

// noteVersion records the version of a client that is an Emacs. The caller holds the lock.
func (c *Clients) noteVersion(client Client) {
	if announced := client.Info().Emacs; emacsVersion.MatchString(announced) {
		c.emacs = announced
	}
}

// EmacsVersion returns the version of the Emacs that connected or was used last, even after it has
// disconnected. A prompt therefore does not change its beginning whenever no Emacs is connected.
func (c *Clients) EmacsVersion() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emacs
}

// NotifyAll notifies every client, including those that show only their own conversations. For
// example, a command line learns what a model saved from its message.
func (c *Clients) NotifyAll(method string, params any) {
	for _, client := range c.connected() {
		client.Notify(method, params)
	}
}

// NotifyOthers notifies every client that accepts notices, except those for which told returns true
// because they have the information already.
func (c *Clients) NotifyOthers(informed func(client string) bool, method string, params any) {
	for _, client := range c.connected() {
		if client.Info().Capabilities.Notices && !informed(client.ID()) {
			client.Notify(method, params)
		}
	}
}

// Count returns how many clients are connected.
func (c *Clients) Count() int { return len(c.connected()) }

// Statuses returns the connected clients. The one that a person used last stands last.
func (c *Clients) Statuses() []protocol.ClientStatus {
	var all []protocol.ClientStatus
	for _, client := range c.connected() {
		info := client.Info()
		all = append(all, protocol.ClientStatus{Name: info.Name, ID: client.ID(), Version: info.Version})
	}
	return all
}

// Pending returns what waits for clients to read it.
func (c *Clients) Pending() (messages, bytes int) {
	for _, client := range c.connected() {
		m, b := client.Pending()
		messages, bytes = messages+m, bytes+b
	}
	return messages, bytes
}

func (c *Clients) connected() []Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.clients)
}

// choose returns the sender of the event, or else the client that was used last, among those with
// suitable capabilities. It returns nil if there is none.
func (c *Clients) choose(event string, fit func(protocol.Capabilities) bool) Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range slices.Backward(c.senders) {
		if s.event == event && fit(s.client.Info().Capabilities) {
			return s.client
		}
	}
	for _, client := range slices.Backward(c.clients) {
		if fit(client.Info().Capabilities) {
			return client
		}
	}
	return nil
}
