package rpc_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// A heldConn is a connection of which one operation goes on, whatever is done to
// the connection, until it is let go.
type heldConn struct {
	net.Conn
	holdRead, holdWrite atomic.Bool
	letGo               chan struct{}
}

func (c *heldConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && c.holdRead.Load() {
		<-c.letGo
	}
	return n, err
}

func (c *heldConn) Write(b []byte) (int, error) {
	if c.holdWrite.Load() {
		<-c.letGo
	}
	return c.Conn.Write(b)
}

// A heldListener goes on closing until it is let go.
type heldListener struct {
	connections chan net.Conn
	closed      chan struct{}
	close       sync.Once
	letGo       chan struct{}
}

func (l *heldListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *heldListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	<-l.letGo
	return nil
}

func (l *heldListener) Addr() net.Addr { return nil }

// Serve and Conn.Close wait for every goroutine of theirs, one at a time held back.
func TestClosingWaitsForEveryGoroutine(t *testing.T) {
	for _, held := range []string{"nothing", "the kernel's reader", "the kernel's writer", "the kernel's handler", "the listener",
		"the client's reader", "the client's writer", "the client's handler"} {
		t.Run(held, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				letGo := make(chan struct{})
				now := make(chan struct{})
				close(now)
				onlyIf := func(what string) chan struct{} {
					if held == what {
						return letGo
					}
					return now
				}
				near, far := net.Pipe()
				client, kernel := &heldConn{Conn: near, letGo: letGo}, &heldConn{Conn: far, letGo: letGo}
				listener := &heldListener{connections: make(chan net.Conn, 1), closed: make(chan struct{}), letGo: onlyIf("the listener")}
				listener.connections <- kernel
				who := newPresence()
				server := &rpc.Server{Token: testToken, Presence: who, Handler: handlerFunc(func(context.Context, *rpc.Request) (any, error) {
					<-onlyIf("the kernel's handler")
					return nil, nil
				})}
				ctx, stop := context.WithCancel(t.Context())
				var ended [2]error
				served := started(func() { ended[0] = server.Serve(ctx, listener) })
				c, err := rpc.Dial(t.Context(), rpc.DialConfig{Over: client, Token: testToken, Handler: func(context.Context, *rpc.Request) (any, error) {
					<-onlyIf("the client's handler")
					return nil, nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				client.holdRead.Store(held == "the client's reader")
				client.holdWrite.Store(held == "the client's writer")
				kernel.holdRead.Store(held == "the kernel's reader")
				kernel.holdWrite.Store(held == "the kernel's writer")
				// Each side writes and handles something.
				called := started(func() { ended[1] = c.Call(t.Context(), protocol.MethodStatus, nil, nil) })
				for _, client := range who.all() {
					client.Notify(protocol.MethodNotice, protocol.Notice{})
				}
				synctest.Wait()
				stop()
				closed := started(c.Close)
				time.Sleep(time.Minute) // more than anything is waited for
				synctest.Wait()
				waits := map[string]bool{"the kernel": !isClosed(served), "the client": !isClosed(closed)}
				for side, does := range waits {
					of := held == "the listener" && side == "the kernel" || len(held) > len(side) && held[:len(side)] == side
					if does != of {
						t.Errorf("with %s held back %s waits: %v", held, side, does)
					}
				}
				close(letGo)
				<-served
				<-closed
				<-called
				if err := ended[0]; err != nil {
					t.Error(err)
				}
				if err := ended[1]; err != nil && !errors.Is(err, rpc.ErrConnectionLost) {
					t.Error(err)
				}
			})
		})
	}
}

// started runs f on a goroutine and returns what is closed when it has ended.
func started(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
