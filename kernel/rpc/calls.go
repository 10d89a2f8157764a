package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
)

// callLimit bounds the requests to a peer that it has not answered, also those
// nobody waits for any more.
const callLimit = 4096

var errTooManyCalls = errors.New("too many requests wait for the peer's answer")

// An outgoing request waits in the stream, which writes its params and reads its
// result by the method's types; the Conn knows only its id.
type outgoing struct {
	method protocol.Method
	params any
	result any // set before the Conn learns of the answer
}

// call sends a request by way of the Conn. The message is queued when it
// returns; wait waits for the answer.
func (s *stream) call(ctx context.Context, conn *jsonrpc2.Conn, method string, params any) (*pendingCall, error) {
	row, known := s.schema[method]
	if !known || row.Result == nil {
		return nil, fmt.Errorf("send a request: there is no request %q", method)
	}
	if err := checkType("the params of "+method, params, row.Params); err != nil {
		return nil, fmt.Errorf("send a request: %w", err)
	}
	o := &outgoing{method: row.Method, params: params}
	s.mu.Lock()
	if len(s.calls) >= callLimit {
		s.mu.Unlock()
		return nil, errTooManyCalls
	}
	s.lastCall++
	number := s.lastCall
	s.calls[numberID(number)] = o
	s.mu.Unlock()
	waiter, err := conn.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: number}))
	o.params = nil
	if err != nil {
		s.mu.Lock()
		delete(s.calls, numberID(number))
		s.mu.Unlock()
		return nil, err
	}
	return &pendingCall{id: numberID(number), outgoing: o, waiter: waiter}, nil
}

// A pendingCall is a request that was queued.
type pendingCall struct {
	id       id
	outgoing *outgoing
	waiter   jsonrpc2.Waiter
}

// wait returns a pointer to the method's result type, or the peer's error as a
// *protocol.Error.
func (p *pendingCall) wait(ctx context.Context) (any, error) {
	err := p.waiter.Wait(ctx, nil)
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return nil, ErrConnectionLost
	}
	if theirs, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return nil, &protocol.Error{Code: protocol.Code(theirs.Code), Message: theirs.Message}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.outgoing.method.Name, err)
	}
	return p.outgoing.result, nil
}

// pending finds the method of a request by its id, which a peer may have made a
// string.
func (s *stream) pending(of id) (protocol.Method, bool) {
	of.kind = idNumber
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.calls[of]; o != nil {
		return o.method, true
	}
	return protocol.Method{}, false
}

// WriteObject is called by the Conn to send the request that call prepared. It
// queues the message and does not wait for the peer.
func (s *stream) WriteObject(obj any) error {
	var envelope struct {
		ID jsonrpc2.ID `json:"id"`
	}
	b, err := json.Marshal(obj)
	if err == nil {
		err = json.Unmarshal(b, &envelope)
	}
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	key := numberID(envelope.ID.Num)
	s.mu.Lock()
	o := s.calls[key]
	s.mu.Unlock()
	if o == nil {
		return fmt.Errorf("write a request: number %s is not ours", key.text)
	}
	return s.send(message{kind: request, id: key, method: o.method.Name, params: o.params})
}
