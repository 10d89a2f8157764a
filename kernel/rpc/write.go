package rpc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"org-agent/kernel/protocol"
)

// send queues a message. It never waits for the peer: the errors are of the
// message itself, or errQueueClosed. A peer for which too much waits is cut off.
func (s *stream) send(m message) error {
	err := s.push(m)
	if errors.Is(err, errQueueFull) {
		s.fail(err)
		return errQueueClosed
	}
	return err
}

func (s *stream) push(m message) error {
	if m.method == protocol.MethodTurnDelta && m.kind == notification {
		switch d := m.params.(type) {
		case protocol.TurnDelta:
			return s.out.pushDelta(d)
		case *protocol.TurnDelta:
			return s.out.pushDelta(*d)
		}
	}
	frame, err := s.encode(nil, m)
	if err != nil {
		return err
	}
	return s.out.push(frame)
}

// encode appends the frame of a message.
func (s *stream) encode(dst []byte, m message) ([]byte, error) {
	s.mu.Lock()
	c := s.codec
	s.mu.Unlock()
	if c == nil {
		return dst, fmt.Errorf("send %s: the peer has not said how it spells messages", m.method)
	}
	body, err := c.appendMessage(nil, m)
	if err != nil {
		return dst, err
	}
	if len(body) > protocol.FrameLimit {
		return dst, protocol.Errorf(protocol.CodeTooLarge, "a message of %d bytes is too large: the limit is %d", len(body), protocol.FrameLimit)
	}
	return c.appendFrame(dst, body), nil
}

// writeLoop writes what is queued until the queue is closed and empty, or the
// peer does not take it in time.
func (s *stream) writeLoop() {
	defer close(s.wrote)
	var buf []byte
	for {
		batch := s.out.take()
		if len(batch) == 0 {
			return
		}
		buf = buf[:0]
		for _, e := range batch {
			buf = s.appendEntry(buf, e)
		}
		if err := s.write(buf); err != nil {
			s.fail(err)
			return
		}
		if cap(buf) > 2*batchSize {
			buf = nil
		}
	}
}

func (s *stream) appendEntry(dst []byte, e entry) []byte {
	if e.preview == nil {
		return append(dst, e.frame...)
	}
	out, err := s.encode(dst, e.preview.message())
	if err != nil { // merging stops long before the frame limit
		s.logger.Error("preview lost", "turn", e.preview.delta.Turn, "err", err)
		return dst
	}
	return out
}

// write gives the peer writeTimeout for each writeSize bytes.
func (s *stream) write(b []byte) error {
	for len(b) > 0 {
		if err := s.net.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		n, err := s.net.Write(b[:min(len(b), writeSize)])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// fail ends a connection that cannot be written to.
func (s *stream) fail(err error) {
	s.mu.Lock()
	if s.writeErr == nil {
		s.writeErr = err
	}
	s.mu.Unlock()
	s.out.close()
	// What closing it says is of no use to anyone: the connection is gone.
	_ = s.net.Close()
}

// writeFailure is why nothing more could be written, or nil.
func (s *stream) writeFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}

// finish lets the peer have what is queued, for as long as grace, closes the
// connection and waits for the writer. The reader ends with it.
func (s *stream) finish(grace time.Duration) {
	s.out.close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-s.wrote:
		if s.fatal.Load() {
			s.linger()
		}
	case <-timer.C:
	}
	if err := s.net.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.logger.Info("connection not closed cleanly", "err", err)
	}
	<-s.wrote
}

// linger reads away what a peer goes on sending, because closing with unread
// bytes can take from it the error it was just sent.
func (s *stream) linger() {
	if half, ok := s.net.(interface{ CloseWrite() error }); ok && half.CloseWrite() != nil {
		return
	}
	if s.net.SetReadDeadline(time.Now().Add(lingerTimeout)) != nil {
		return
	}
	// It ends by the deadline, the limit or the peer; all are fine.
	_, _ = io.Copy(io.Discard, io.LimitReader(s.net, 2*protocol.FrameLimit))
}
