package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

const (
	inboxLimit    = 4096     // messages of one peer that wait to be handled
	inboxBytes    = 64 << 20 // bytes of them
	releasedLimit = 256      // handlers of one peer that run beside each other
)

// Request is a request or a notification for a handler.
type Request struct {
	Client *Client // who sent it; nil for a client's own handler, to which the kernel sends
	Method string
	Params any // a pointer to the method's params type

	release func()
}

// Release lets the next request of this connection be handled while the handler of this one goes on.
// A handler that waits for anything but its own work should call it. Outside of a connection it does
// nothing.
func (r *Request) Release() {
	if r.release != nil {
		r.release()
	}
}

// call is one request or notification in the dispatcher.
type call struct {
	message
	// after runs once the reply is queued, before the next call is handled.
	after func()

	ctx       context.Context
	cancel    context.CancelFunc
	cancelled bool // by the peer; guarded by the dispatcher's mu
	release   func()

	passed chan struct{} // of a barrier, which is no message
}

// request returns the call as a Request of a client.
func (c *call) request(of *Client) *Request {
	return &Request{Client: of, Method: c.method, Params: c.params, release: c.release}
}

// handler handles a call. Middleware maps one handler to another.
type handler func(ctx context.Context, c *call) (result any, err error)

// dispatcher runs the calls of one peer in order. The next call starts when the handler of the last
// one has returned or released it.
type dispatcher struct {
	handle handler
	send   func(message) error
	logger *slog.Logger

	running sync.WaitGroup
	slots   chan struct{} // one for each handler that runs

	mu      sync.Mutex
	waiting []*call
	bytes   int          // of the waiting calls
	calls   map[id]*call // that were not answered yet, for cancellation
	closed  bool
	wake    chan struct{}
}

func newDispatcher(handle handler, send func(message) error, logger *slog.Logger) *dispatcher {
	return &dispatcher{
		handle: handle, send: send, logger: logger,
		slots: make(chan struct{}, releasedLimit),
		calls: map[id]*call{},
		wake:  make(chan struct{}, 1),
	}
}

// add queues a message and waits for no handler. The reading goroutine calls it. If the queue is full,
// the request is refused.
func (d *dispatcher) add(ctx context.Context, m message) {
	if m.method == protocol.MethodCancelRequest {
		d.cancelCall(m)
		return
	}
	c := &call{message: m}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return
	}
	if len(d.waiting) >= inboxLimit || d.bytes+m.size > inboxBytes {
		d.mu.Unlock()
		d.answer(c, nil, protocol.Errorf(protocol.CodeBusy, "too many messages wait on this connection: send it again later"))
		return
	}
	c.ctx, c.cancel = context.WithCancel(ctx)
	d.waiting = append(d.waiting, c)
	d.bytes += m.size
	if m.kind == request {
		d.calls[m.id] = c
	}
	d.poke()
	d.mu.Unlock()
}

// barrier returns a channel that is closed when all earlier calls have returned or released the next.
func (d *dispatcher) barrier() <-chan struct{} {
	c := &call{passed: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed && len(d.waiting) == 0 {
		close(c.passed)
		return c.passed
	}
	d.waiting = append(d.waiting, c)
	if !d.closed {
		d.poke()
	}
	return c.passed
}

// poke wakes run; mu is held, which keeps wake open.
func (d *dispatcher) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// cancelCall cancels the call that m names, unless it has its response. A waiting call gets its
// response when its turn comes.
func (d *dispatcher) cancelCall(m message) {
	if named, ok := m.params.(*id); ok {
		d.mu.Lock()
		if c := d.calls[*named]; c != nil {
			c.cancelled = true
			c.cancel()
		}
		d.mu.Unlock()
	}
	if m.kind == request {
		d.answer(&call{message: m}, protocol.Empty{}, nil)
	}
}

// run handles calls until close, and returns when all handlers have returned.
func (d *dispatcher) run() {
	defer d.running.Wait()
	for {
		c, ok := d.next()
		if !ok {
			return
		}
		if c.passed != nil {
			close(c.passed)
			continue
		}
		d.slots <- struct{}{}
		released := make(chan struct{})
		c.release = sync.OnceFunc(func() { close(released) })
		d.running.Go(func() {
			defer func() { <-d.slots }()
			defer c.release()
			d.serve(c)
		})
		<-released
	}
}

func (d *dispatcher) next() (*call, bool) {
	for {
		d.mu.Lock()
		if len(d.waiting) > 0 {
			c := d.waiting[0]
			d.waiting[0] = nil
			d.waiting = d.waiting[1:]
			d.bytes -= c.size
			d.mu.Unlock()
			return c, true
		}
		closed := d.closed
		d.mu.Unlock()
		if closed {
			return nil, false
		}
		<-d.wake
	}
}

// close ends the queue for new calls. Waiting calls are still handled.
func (d *dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		close(d.wake)
	}
}

// serve runs the handler of one call and sends the response.
func (d *dispatcher) serve(c *call) {
	defer c.cancel()
	var result any
	err := context.Cause(c.ctx)
	if err == nil {
		result, err = d.protect(c, func() (any, error) {
			return d.handle(c.ctx, c)
		})
	}
	d.mu.Lock()
	if d.calls[c.id] == c {
		delete(d.calls, c.id)
	}
	cancelled := c.cancelled
	d.mu.Unlock()
	if cancelled && errors.Is(err, context.Canceled) {
		err = protocol.Errorf(protocol.CodeCancelled, "cancelled")
	}
	d.answer(c, result, err)
	if c.after != nil {
		// A panic in it is logged, and there is nobody left to tell.
		_, _ = d.protect(c, func() (any, error) { c.after(); return nil, nil })
	}
}

// protect turns a panic in f into an error.
func (d *dispatcher) protect(c *call, f func() (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			d.logger.Error("handler panicked", "method", text.Clip(c.method, quoted), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, protocol.Errorf(protocol.CodeInternal, "an internal error in %s; the log has the details", text.Clip(c.method, quoted))
		}
	}()
	return f()
}

// answer sends the only response to a request. Errors of notifications are logged, because they have
// no response.
func (d *dispatcher) answer(c *call, result any, err error) {
	if c.kind != request {
		if err != nil && !errors.Is(err, context.Canceled) {
			d.logger.Warn("notification not handled", "method", text.Clip(c.method, quoted), "err", err)
		}
		return
	}
	m := message{kind: response, id: c.id, result: result}
	if err != nil {
		m = errorReply(c.id, d.replyError(c, err))
	}
	err = d.send(m)
	if err == nil || errors.Is(err, jsonrpc2.ErrClosed) {
		return
	}
	d.logger.Error("reply not sent", "method", text.Clip(c.method, quoted), "err", err)
	if err := d.send(errorReply(c.id, d.replyError(c, err))); err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		d.logger.Error("error reply not sent", "method", text.Clip(c.method, quoted), "err", err)
	}
}

// replyError returns the error as the peer may see it.
func (d *dispatcher) replyError(c *call, err error) *protocol.Error {
	if known, ok := errors.AsType[*protocol.Error](err); ok {
		return known
	}
	if errors.Is(err, context.Canceled) {
		return protocol.Errorf(protocol.CodeCancelled, "the kernel is closing this connection")
	}
	d.logger.Error("request failed", "method", text.Clip(c.method, quoted), "err", err)
	return protocol.Errorf(protocol.CodeInternal, "an internal error in %s; the log has the details", text.Clip(c.method, quoted))
}
