package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// client is one conversation over a connection of its own. One goroutine uses
// it.
type client struct {
	conn     *rpc.Conn
	session  string
	keeper   bool
	acted    chan time.Time             // when an act came, one for each turn
	finished chan protocol.TurnFinished // each turn's end
}

// connect attaches to a session of the running kernel. A keeper says, as Emacs
// does, that it wrote the conversation's file, which is no time of the kernel's;
// without one the kernel writes it.
func (in *instance) connect(ctx context.Context, session string, keeper bool) (*client, error) {
	token, err := config.ReadToken(in.paths.Token)
	if err != nil {
		return nil, err
	}
	c := &client{session: session, keeper: keeper, acted: make(chan time.Time, 64), finished: make(chan protocol.TurnFinished, 64)}
	c.conn, err = rpc.Dial(ctx, rpc.DialConfig{Socket: in.paths.Socket, Token: rpc.Token(token), Codec: rpc.Plist,
		Client: protocol.ClientInfo{Name: "bench", Capabilities: protocol.Capabilities{KeepsFile: keeper, Streams: true}}, Handler: c.handle})
	if err != nil {
		return nil, err
	}
	err = c.conn.Call(ctx, protocol.MethodSessionLoad, protocol.SessionLoadParams{Session: session, Watch: !keeper}, nil)
	if err != nil {
		c.conn.Close()
		return nil, fmt.Errorf("load session %s: %w", session, err)
	}
	return c, nil
}

func (c *client) handle(ctx context.Context, r *rpc.Request) (any, error) {
	switch p := r.Params.(type) {
	case *protocol.Act:
		select {
		case c.acted <- time.Now():
		case <-ctx.Done():
		}
		return protocol.Receipt{Done: true, Saved: c.keeper}, nil
	case *protocol.TurnFinished:
		select {
		case c.finished <- *p:
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// ask has one turn and returns how long its act took from when the event was
// sent. It returns when the turn is finished.
func (c *client) ask(ctx context.Context, text string) (time.Duration, error) {
	sent := time.Now()
	err := c.conn.Call(ctx, protocol.MethodEvent, protocol.Object{
		{Key: "sensor", Value: protocol.Keyword(protocol.SensorChatMessage)},
		{Key: "session", Value: c.session}, {Key: "text", Value: text}}, nil)
	if err != nil {
		return 0, fmt.Errorf("send a message: %w", err)
	}
	select {
	case end := <-c.finished:
		if end.State != protocol.TurnAnswered {
			return 0, fmt.Errorf("the turn ended %s: %s", end.State, end.Notice)
		}
		select {
		case acted := <-c.acted:
			return acted.Sub(sent), nil
		case <-c.conn.Done():
			return 0, errors.New("the kernel is gone")
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the answer of a turn that has ended: %w", context.Cause(ctx))
		}
	case <-c.conn.Done():
		return 0, errors.New("the kernel is gone")
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
