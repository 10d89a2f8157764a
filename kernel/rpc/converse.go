package rpc

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// converse reads and answers on a stream until the peer goes, ctx ends or the
// channel that begin returns is closed. Then what was received is finished, what
// is queued is written, each for a second at most, and the connection closed.
// It returns why it ended.
func converse(ctx context.Context, s *stream, handle handler, begin func(*jsonrpc2.Conn, *dispatcher) (ending <-chan struct{})) string {
	callCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d := newDispatcher(handle, s.send, s.logger)
	ready := make(chan struct{})
	conn := jsonrpc2.NewConn(context.WithoutCancel(ctx), s, receiver(func() {
		<-ready
		m := s.received
		s.received = message{}
		d.add(callCtx, m)
	}), jsonrpc2.SetLogger(log.New(logWriter{s.logger}, "", 0)))
	ending := begin(conn, d)
	close(ready)
	handled := make(chan struct{})
	go func() {
		defer close(handled)
		d.run()
	}()

	reason := "it went"
	select {
	case <-conn.DisconnectNotify():
	case <-ending:
		reason = "closed"
	case <-ctx.Done():
		reason = "the kernel is stopping"
		cancel()
	}
	d.close()
	select {
	case <-handled:
	case <-time.After(drainTime):
		cancel()
		<-handled
	}
	// It was closed already if the peer went.
	_ = conn.Close()
	s.finish(flushTime)
	switch err := s.writeFailure(); {
	case errors.Is(err, os.ErrDeadlineExceeded):
		reason = fmt.Sprintf("it took nothing for %v", writeTimeout)
	case errors.Is(err, errQueueFull):
		reason = errQueueFull.Error()
	}
	return reason
}

// receiver is called by the Conn on its reading goroutine for each request.
type receiver func()

func (r receiver) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) { r() }

// logWriter takes the lines the Conn logs, none of which a user can act on.
type logWriter struct{ logger *slog.Logger }

func (w logWriter) Write(line []byte) (int, error) {
	w.logger.Debug("jsonrpc2", "line", clip(string(line)))
	return len(line), nil
}

// isTemporary reports errors of accept that pass by themselves.
func isTemporary(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.EINTR, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
