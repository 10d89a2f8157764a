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

// client is one conversation over its own connection. It is not safe for concurrent use.
type client struct {
	conn      *rpc.Conn
	session   string
	keepsFile bool
	acts      chan time.Time             // when an act came, one for each turn
	finished  chan protocol.TurnFinished // each turn's end
}

// connect attaches to a session of the running kernel. With keepsFile, the client reports like an Emacs
// that it saved the conversation's file, so that the kernel's time does not include the writing. Otherwise
// the kernel writes the file.
func (in *instance) connect(ctx context.Context, session string, keepsFile bool) (*client, error) {
	token, err := config.ReadToken(in.paths.Token)
	if err != nil {
		return nil, err
	}
	c := &client{session: session, keepsFile: keepsFile, acts: make(chan time.Time, 64), finished: make(chan protocol.TurnFinished, 64)}
	c.conn, err = rpc.Dial(ctx, rpc.DialConfig{Socket: in.paths.Socket, Token: rpc.Token(token), Codec: rpc.Plist,
		Client: protocol.ClientInfo{Name: "bench", Capabilities: protocol.Capabilities{KeepsFile: keepsFile, Streams: true}}, Handler: c.handle})
	if err != nil {
		return nil, err
	}
	err = c.conn.Call(ctx, protocol.MethodSessionLoad, protocol.SessionLoadParams{Session: session, Watch: !keepsFile}, nil)
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
		case c.acts <- time.Now():
		case <-ctx.Done():
		}
		return protocol.Receipt{Done: true, Saved: c.keepsFile}, nil
	case *protocol.TurnFinished:
		select {
		case c.finished <- *p:
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// ask sends a message and waits until its turn has ended. It returns the time from sending the event to
// receiving the act.
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
		case received := <-c.acts:
			return received.Sub(sent), nil
		case <-c.conn.Done():
			return 0, errors.New("the kernel has ended")
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the answer of a turn that has ended: %w", context.Cause(ctx))
		}
	case <-c.conn.Done():
		return 0, errors.New("the kernel has ended")
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
