package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
)

const (
	drainTime = time.Second // for handlers to finish when their peer has gone
	flushTime = time.Second // for a peer to take the last of what it is sent

	// callLimit bounds the requests to a peer that it has not answered. Those whose
	// callers have given up count, too.
	callLimit = 4096
)

var errTooManyCalls = errors.New("too many requests wait for the peer's answer")

// connection is one peer: the stream of its messages, the dispatcher of its requests, and our requests
// without a response.
type connection struct {
	*stream
	dispatcher *dispatcher

	callsMu  sync.Mutex
	calls    map[uint64]*pendingCall // nil once no more answers are read
	lastCall uint64
}

// newConnection takes ownership of c, which run closes. If codec is nil, the first bytes of the peer
// choose it.
func newConnection(c net.Conn, codec codec, schema schema, handle handler, logger *slog.Logger) *connection {
	s := newStream(c, codec, schema, logger)
	return &connection{stream: s, dispatcher: newDispatcher(handle, s.send, logger), calls: map[uint64]*pendingCall{}}
}

// run reads, handles and writes until the peer goes, ctx ends or ending is closed.
// Then what was received is finished, what is queued is written, each for a second
// at most, and the connection closed. It returns when no goroutine of the
// connection is left, and says why it ended.
func (c *connection) run(ctx context.Context, ending <-chan struct{}) (reason string) {
	handling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	written := begin(c.writeLoop)
	handled := begin(c.dispatcher.run)
	received := begin(func() { c.receive(handling) })

	reason = "it went"
	select {
	case <-received:
	case <-ending:
		reason = "closed"
	case <-ctx.Done():
		reason = "the kernel is stopping"
		cancel()
	}
	c.dispatcher.close()
	select {
	case <-handled:
	case <-time.After(drainTime):
		cancel()
		<-handled
	}
	c.stopReading()
	c.finish(written, flushTime)
	<-received
	switch err := c.writeFailure(); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		reason = fmt.Sprintf("it took nothing for %v", writeTimeout)
	case errors.Is(err, errQueueFull):
		reason = errQueueFull.Error()
	}
	return reason
}

// begin runs f on a new goroutine. The caller waits for ended.
func begin(f func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// receive dispatches messages until the stream ends. It waits for no handler.
func (c *connection) receive(handling context.Context) {
	defer c.abandonCalls()
	for {
		m, err := c.read(c.newResult)
		switch {
		case err != nil:
			c.logger.Debug("nothing more is read", "err", err)
			return
		case m.kind == response:
			c.answered(m)
		default:
			c.dispatcher.add(handling, m)
		}
	}
}

// pendingCall is a request without a response.
type pendingCall struct {
	number uint64
	method protocol.Method
	done   chan struct{} // closed when the answer is here, or will not come
	result any           // a pointer to the method's result type
	err    error
}

// call queues a request. wait waits for its response. After the end of the connection the error is
// jsonrpc2.ErrClosed.
func (c *connection) call(method string, params any) (*pendingCall, error) {
	row, known := c.schema[method]
	if !known || row.Result == nil {
		return nil, fmt.Errorf("send a request: there is no request %q", method)
	}
	if err := checkType("the params of "+method, params, row.Params); err != nil {
		return nil, fmt.Errorf("send a request: %w", err)
	}
	p, err := c.addCall(row.Method)
	if err != nil {
		return nil, err
	}
	if err := c.send(message{kind: request, id: numberID(p.number), method: method, params: params}); err != nil {
		c.takeCall(p.number)
		return nil, err
	}
	return p, nil
}

func (c *connection) addCall(method protocol.Method) (*pendingCall, error) {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	switch {
	case c.calls == nil:
		return nil, jsonrpc2.ErrClosed
	case len(c.calls) >= callLimit:
		return nil, errTooManyCalls
	}
	c.lastCall++
	p := &pendingCall{number: c.lastCall, method: method, done: make(chan struct{})}
	c.calls[p.number] = p
	return p, nil
}

// takeCall removes and returns the request of that number, or nil.
func (c *connection) takeCall(number uint64) *pendingCall {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	p := c.calls[number]
	delete(c.calls, number)
	return p
}

// newResult returns a new value for the result of the request of that id.
func (c *connection) newResult(of id) any {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	if p := c.calls[of.number()]; p != nil {
		return reflect.New(p.method.Result).Interface()
	}
	return nil
}

// answered hands a response to whoever waits for it.
func (c *connection) answered(m message) {
	p := c.takeCall(m.id.number())
	switch {
	case p == nil && m.err != nil:
		c.logger.Warn("the peer reports an error of ours", "err", m.err)
		return
	case p == nil:
		return
	case m.err != nil:
		p.err = &protocol.Error{Code: protocol.Code(m.err.Code), Message: m.err.Message}
	case m.fault != nil:
		p.err = protocol.Errorf(protocol.CodeInternal, "the answer cannot be read: %w", m.fault)
	default:
		p.result = m.result
	}
	close(p.done)
}

// abandonCalls ends the wait of every request: no response will come.
func (c *connection) abandonCalls() {
	c.callsMu.Lock()
	defer c.callsMu.Unlock()
	for _, p := range c.calls {
		p.err = ErrConnectionLost
		close(p.done)
	}
	c.calls = nil
}

// wait returns a pointer to the method's result type. The peer's error is a
// *protocol.Error.
func (p *pendingCall) wait(ctx context.Context) (any, error) {
	select {
	case <-p.done:
		return p.result, p.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", p.method.Name, ctx.Err())
	}
}
