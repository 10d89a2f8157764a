package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
)

// Errors of [Client.Act] beside the client's own, which is a *protocol.Error.
var (
	// ErrConnectionLost: the connection ended before the receipt came. Whether
	// the act was performed is unknown.
	ErrConnectionLost = errors.New("the connection was lost before the answer came")
	// ErrNotConnected: the client had gone already, and nothing was sent to it.
	ErrNotConnected = errors.New("the client is not connected any more")
)

// Client is one connection of a client from accept to close. All methods may be called from any
// goroutine at any time, also after the connection has ended.
type Client struct {
	id         string
	connection *connection
	done       chan struct{}

	mu     sync.Mutex
	info   protocol.ClientInfo
	known  bool          // it has shown the token
	reason string        // why the kernel closes the connection
	ending chan struct{} // closed by Close
}

// ID returns the id of the connection, which is unique in its server.
func (c *Client) ID() string { return c.id }

// Info returns what the client reported in initialize. It is zero before.
func (c *Client) Info() protocol.ClientInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// Introduced reports whether the client has shown the token.
func (c *Client) Introduced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known
}

// Pending returns what waits for the client to read it.
func (c *Client) Pending() (messages, bytes int) { return c.connection.out.pending() }

// Capabilities returns the capabilities that the client announced in initialize. They are zero before.
func (c *Client) Capabilities() protocol.Capabilities { return c.Info().Capabilities }

// Notify queues a notification. params has the method's params type or is a pointer to it. Notify
// never blocks. It does nothing after the connection has ended, and ends the connection of a client
// whose queue is full.
func (c *Client) Notify(method string, params any) {
	row, known := c.connection.schema[method]
	err := fmt.Errorf("there is no notification %q to a client", method)
	if known && !row.fromClient && row.Result == nil {
		err = checkType("the params of "+method, params, row.Params)
	}
	if err == nil {
		err = c.connection.send(message{kind: notification, method: method, params: params})
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		c.connection.logger.Error("notification not sent", "method", method, "err", err)
	}
}

// Act sends an action and waits for its receipt, as [Client.Deliver] does.
func (c *Client) Act(ctx context.Context, act protocol.Act) (protocol.Receipt, error) {
	return c.Deliver(act)(ctx)
}

// Deliver queues an action, in order with notifications and without blocking. The function that it
// returns waits for the receipt. A refusal of the client is a *protocol.Error. After
// [ErrConnectionLost] or the end of ctx it is unknown whether the action was performed. After
// [ErrNotConnected] it was not.
func (c *Client) Deliver(act protocol.Act) (receipt func(ctx context.Context) (protocol.Receipt, error)) {
	pending, err := c.connection.call(protocol.MethodAct, act)
	if errors.Is(err, errTooManyCalls) {
		c.Close("it does not answer what it is sent")
		err = jsonrpc2.ErrClosed
	}
	return func(ctx context.Context) (protocol.Receipt, error) {
		switch {
		case errors.Is(err, jsonrpc2.ErrClosed):
			return protocol.Receipt{}, ErrNotConnected
		case err != nil:
			return protocol.Receipt{}, fmt.Errorf("send act %s: %w", act.ID, err)
		}
		result, err := pending.wait(ctx)
		if err != nil {
			return protocol.Receipt{}, err
		}
		return *result.(*protocol.Receipt), nil // by the schema
	}
}

// Ask sends a request that is no act, and waits for its result: a pointer to the method's result type.
// The errors are those of [Client.Act]. A response after the end of ctx is dropped.
func (c *Client) Ask(ctx context.Context, method string, params any) (any, error) {
	pending, err := c.connection.call(method, params)
	switch {
	case errors.Is(err, jsonrpc2.ErrClosed):
		return nil, ErrNotConnected
	case err != nil:
		return nil, fmt.Errorf("ask for %s: %w", method, err)
	}
	return pending.wait(ctx)
}

// Close ends the connection after the queued messages are written, and logs the reason. It does not
// wait; see [Client.Done].
func (c *Client) Close(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason == "" {
		c.reason = reason
		close(c.ending)
	}
}

func (c *Client) closeReason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// Done is closed when the connection has ended and no handler of it runs.
func (c *Client) Done() <-chan struct{} { return c.done }

func (c *Client) welcome(info protocol.ClientInfo) {
	c.mu.Lock()
	c.info, c.known = info, true
	c.mu.Unlock()
	c.connection.trust()
}
