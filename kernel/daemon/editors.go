package daemon

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// editors is the clients that are connected, and who of them sent what. It
// finds the Emacs that performs an action. The zero value is ready.
type editors struct {
	mu      sync.Mutex
	clients []*rpc.Client // the one a person used last is last
	senders []sender      // the latest is last
	emacs   string        // the version of the Emacs that came or was used last, "" if none said it
}

// emacsVersion is how an Emacs writes its version.
var emacsVersion = regexp.MustCompile(`^[0-9]{1,3}(\.[0-9]{1,4}){1,3}$`)

// Version is that of the Emacs that came or was used last, also after it has gone: a prompt
// that begins otherwise whenever nobody is there is no help to anyone.
func (e *editors) Version() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.emacs
}

// seen notes the version of a client. The caller holds the lock.
func (e *editors) seen(client *rpc.Client) {
	if told := client.Info().Emacs; emacsVersion.MatchString(told) {
		e.emacs = told
	}
}

// sender is who sent an event.
type sender struct {
	event  string
	client *rpc.Client
}

// senderLimit is how many events' senders are remembered. For an older event
// the Emacs that was used last acts.
const senderLimit = 1000

func (e *editors) add(client *rpc.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clients = append(e.clients, client)
	e.seen(client)
}

func (e *editors) remove(client *rpc.Client) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clients = slices.DeleteFunc(e.clients, func(c *rpc.Client) bool { return c == client })
	e.senders = slices.DeleteFunc(e.senders, func(s sender) bool { return s.client == client })
}

// notify tells every client.
func (e *editors) notify(method string, params any) {
	e.mu.Lock()
	clients := slices.Clone(e.clients)
	e.mu.Unlock()
	for _, c := range clients {
		c.Notify(method, params)
	}
}

// others tells every client but those that are told already.
func (e *editors) others(told func(client string) bool, method string, params any) {
	e.mu.Lock()
	clients := slices.Clone(e.clients)
	e.mu.Unlock()
	for _, c := range clients {
		if c.Capabilities().Notices && !told(c.ID()) {
			c.Notify(method, params)
		}
	}
}

// connected is who is connected, the one a person used last being the last.
func (e *editors) connected() []protocol.ClientStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []protocol.ClientStatus
	for _, c := range e.clients {
		info := c.Info()
		all = append(all, protocol.ClientStatus{Name: info.Name, ID: c.ID(), Version: info.Version})
	}
	return all
}

func (e *editors) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.clients)
}

// used notes that a person has just used the client to send an event.
func (e *editors) used(client *rpc.Client, event string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen(client)
	if i := slices.Index(e.clients, client); i >= 0 {
		e.clients = append(slices.Delete(e.clients, i, i+1), client)
	}
	if len(e.senders) == senderLimit {
		e.senders = slices.Delete(e.senders, 0, 1)
	}
	e.senders = append(e.senders, sender{event, client})
}

// choose finds the client for an act: the event's sender, else the Emacs that
// was used last, of those that perform such an action.
func (e *editors) choose(event, action string) *rpc.Client {
	return e.last(event, func(c protocol.Capabilities) bool { return c.CanPerform(action) })
}

// foremost finds the client to ask something for an event: its sender, else the one that was
// used last, of those that answer the method; nil for none.
func (e *editors) foremost(event, method string) *rpc.Client {
	return e.last(event, func(c protocol.Capabilities) bool { return c.CanAnswer(method) })
}

// last finds the event's sender, else the client that was used last, of those that fit; nil for none.
func (e *editors) last(event string, fits func(protocol.Capabilities) bool) *rpc.Client {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range slices.Backward(e.senders) {
		if s.event == event && fits(s.client.Capabilities()) {
			return s.client
		}
	}
	for _, c := range slices.Backward(e.clients) {
		if fits(c.Capabilities()) {
			return c
		}
	}
	return nil
}

// Perform implements [act.Editors].
func (e *editors) Perform(ctx context.Context, order protocol.Act) (string, protocol.Receipt, error) {
	name := order.Payload.Text("action")
	client := e.choose(order.Event, name)
	if client == nil {
		return "", protocol.Receipt{}, fmt.Errorf("no connected Emacs performs :%s: %w", name, kind.ErrNoPerformer)
	}
	receipt, err := client.Act(ctx, order)
	if errors.Is(err, rpc.ErrConnectionLost) {
		err = errors.Join(kind.ErrOutcomeUnknown, err)
	}
	return client.ID(), receipt, err
}

// checkPatience is how long an Emacs has to say whether it could make a change.
const checkPatience = 5 * time.Second

// errNoEditor is why a change of a text waits.
var errNoEditor = fmt.Errorf("no Emacs is connected that could make the change: open one, and decide then (%w)", kind.ErrNoPerformer)

// Check implements [act.Editors].
func (e *editors) Check(ctx context.Context, order protocol.Act) error {
	client := e.choose(order.Event, order.Payload.Text("action"))
	if client == nil {
		return errNoEditor
	}
	ctx, stop := context.WithTimeout(ctx, checkPatience)
	defer stop()
	if _, err := client.Act(ctx, order); protocol.ErrorCode(err) == protocol.CodeForbidden {
		return protocol.ToolErrorf(protocol.ToolRefused, "%s", describe.Visible(err.Error()))
	}
	return nil
}
