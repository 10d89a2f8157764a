package rpc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
)

const (
	frameTimeout  = 30 * time.Second // from a frame's first byte to its last
	writeTimeout  = 5 * time.Second  // for a peer to take writeSize bytes
	writeSize     = 256 << 10        // bytes
	lingerTimeout = time.Second      // for a peer to read why it was cut off
	strangerLimit = 1 << 20          // bytes of a frame before initialize
	keptBody      = 64 << 10         // bytes of the body buffer kept between frames
	readerSize    = 16 << 10         // bytes
)

// stream carries the messages of one connection. One goroutine reads, one writes, and any goroutine
// may send.
type stream struct {
	net    net.Conn
	logger *slog.Logger
	schema schema
	out    *queue

	// Of the reading goroutine.
	reader *bufio.Reader
	body   []byte

	fatal atomic.Bool // the peer broke the framing

	mu       sync.Mutex // guards what follows
	codec    codec      // nil until the first bytes came
	limit    int        // bytes of a frame that is read
	stopped  bool       // no more is read
	writeErr error      // why nothing more can be written
}

// newStream starts no goroutine; see [stream.read] and [stream.writeLoop].
func newStream(c net.Conn, codec codec, schema schema, logger *slog.Logger) *stream {
	return &stream{
		net: c, codec: codec, schema: schema, logger: logger,
		out:    newQueue(),
		reader: bufio.NewReaderSize(c, readerSize),
		limit:  strangerLimit,
	}
}

// read returns the next message. It answers malformed ones itself, and a frame
// that cannot be one before it gives up with io.EOF.
func (s *stream) read(newResult func(id) any) (message, error) {
	for {
		m, err := s.next(newResult)
		if bad, ok := errors.AsType[*malformed](err); ok {
			s.logger.Info("malformed message", "err", bad)
			if err := s.send(errorReply(bad.id, bad.reply)); err != nil {
				return message{}, err
			}
			continue
		}
		if bad, ok := errors.AsType[*frameError](err); ok {
			s.logger.Info("connection cut off", "err", bad)
			s.fatal.Store(true)
			// A queue that takes nothing more has been closed: there is nobody to tell.
			_ = s.send(errorReply(nullID, bad.reply))
			return message{}, io.EOF
		}
		return m, err
	}
}

// next reads one frame and decodes it.
func (s *stream) next(newResult func(id) any) (message, error) {
	body, err := s.frame()
	if errors.Is(err, os.ErrDeadlineExceeded) && !s.isStopped() {
		err = frameErrorf(protocol.CodeParse, "a frame was not finished within %v", frameTimeout)
	}
	if err != nil {
		return message{}, err
	}
	m, err := s.codec.decode(body, newResult)
	m.size = len(body)
	return m, err
}

func (s *stream) frame() ([]byte, error) {
	if err := s.awaitFrame(); err != nil {
		return nil, err
	}
	if s.codec == nil {
		if err := s.sniff(); err != nil {
			return nil, err
		}
	}
	n, err := s.codec.readHeader(s.reader)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	limit := s.limit
	s.mu.Unlock()
	if n > limit {
		return nil, frameErrorf(protocol.CodeTooLarge, "a message of %d bytes is too large before initialize: the limit is %d", n, limit)
	}
	if cap(s.body) > keptBody {
		s.body = nil
	}
	s.body, err = readBody(s.reader, s.body, n)
	return s.body, err
}

// awaitFrame waits, for as long as it takes, for a frame to begin and then
// starts the clock. Blanks between frames are no part of one.
func (s *stream) awaitFrame() error {
	if err := s.setReadDeadline(time.Time{}); err != nil {
		return err
	}
	for {
		first, err := s.reader.Peek(1)
		if err != nil {
			return err
		}
		if s.codec == nil || !isBlank(first[0]) {
			return s.setReadDeadline(time.Now().Add(frameTimeout))
		}
		_, _ = s.reader.Discard(1) // it was peeked at
	}
}

// sniff chooses the codec by the first two bytes. It replies in JSON to a peer that begins with other
// bytes.
func (s *stream) sniff() error {
	first, err := s.reader.Peek(2)
	if err != nil {
		return unexpectedEnd(err)
	}
	var c codec = jsonCodec{schema: s.schema}
	known := true
	switch {
	case string(first) == "Co" || string(first) == "co":
	case isLowerHex(first[0]) && isLowerHex(first[1]):
		c = plistCodec{schema: s.schema}
	default:
		known = false
		err = frameErrorf(protocol.CodeParse, "this is neither Content-Length framed JSON nor a plist behind six hex digits: it begins with %q", first)
	}
	s.mu.Lock()
	s.codec = c
	s.mu.Unlock()
	if known {
		return nil
	}
	return err
}

// setReadDeadline is the connection's, unless reading has been stopped.
func (s *stream) setReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return net.ErrClosed
	}
	return s.net.SetReadDeadline(t)
}

func (s *stream) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// trust raises the frame limit to that of the protocol.
func (s *stream) trust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = protocol.FrameLimit
}

// stopReading ends a waiting read. Queued messages are still written until finish.
func (s *stream) stopReading() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	// A connection that takes no deadline has ended already, or ends in finish.
	_ = s.net.SetReadDeadline(time.Unix(1, 0))
}

// send queues a message. It never waits for the peer. The error is one of the message itself, or
// jsonrpc2.ErrClosed. If the queue is full, send ends the connection.
func (s *stream) send(m message) error {
	err := s.push(m)
	if errors.Is(err, errQueueFull) {
		s.fail(err)
		return jsonrpc2.ErrClosed
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

// writeLoop writes the queue until it is closed and empty, or a write times out.
func (s *stream) writeLoop() {
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

// writeFailure returns the error that ended writing, or nil.
func (s *stream) writeFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeErr
}

// finish lets the peer have what is queued, for as long as grace, closes the
// connection and waits for writeLoop, whose end written is. A read ends with it.
func (s *stream) finish(written <-chan struct{}, grace time.Duration) {
	s.out.close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-written:
		if s.fatal.Load() {
			s.linger()
		}
	case <-timer.C:
	}
	if err := s.net.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.logger.Info("connection not closed cleanly", "err", err)
	}
	<-written
}

// linger discards further bytes of the peer for a moment, because closing with unread bytes can
// discard the error reply.
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
